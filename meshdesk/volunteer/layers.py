"""Layer ranges: half-open in the program, ``0-14`` with both ends for people."""

from __future__ import annotations

import re

from meshdesk.protocol.errors import UsageError

_RANGE = re.compile(r"\s*(\d{1,5})\s*(?:[-–]\s*(\d{1,5})\s*)?")


def parse_layers(text: str) -> tuple[int | None, int | None]:
    """``0-14`` or ``7`` as a half-open range, ``all`` as (None, None); UsageError for anything else."""
    if text.strip().lower() == "all":
        return None, None
    found = _RANGE.fullmatch(text)
    if found is None:
        raise UsageError(f"--layers {text!r} is not a range of layers.", hint="Write it like 0-14, or all.")
    first = int(found[1])
    last = first if found[2] is None else int(found[2])
    if last < first:
        raise UsageError(f"--layers {text!r} ends before it begins.", hint=f"Did you mean {last}-{first}?")
    return first, last + 1


def show_layers(start_layer: int, end_layer: int) -> str:
    """A half-open range as people read it, ``0–14``."""
    return str(start_layer) if end_layer - start_layer == 1 else f"{start_layer}–{end_layer - 1}"


def split_evenly(num_layers: int, parts: int) -> list[tuple[int, int]]:
    """``parts`` half-open ranges that cover all layers, the larger ones first; UsageError if there are too many."""
    if not 1 <= parts <= num_layers:
        raise UsageError(
            f"A model of {num_layers} layers cannot be split over {parts} nodes.",
            hint=f"Choose --nodes between 1 and {num_layers}.",
        )
    size, larger = divmod(num_layers, parts)
    ranges, start = [], 0
    for part in range(parts):
        end = start + size + (part < larger)
        ranges.append((start, end))
        start = end
    return ranges
