"""How the benchmarks show their figures: one plain table, medians with their spread."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Sequence


def spread(values: Sequence[float], form: str) -> str:
    """``median (min–max)``, each by the format string ``form``."""
    low, middle, high = min(values), statistics.median(values), max(values)
    return f"{form.format(middle)} ({form.format(low)}–{form.format(high)})"


def print_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print ``rows`` under ``heads`` as a Markdown table, with the machine's cores in the line after it."""
    widths = [max(len(row[column]) for row in [heads, *rows]) for column in range(len(heads))]
    for row in [heads, ["-" * width for width in widths], *rows]:
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |")
    print(f"\n{os.cpu_count()} cores, {platform.machine()}, CPython {platform.python_version()}")
