"""The demo's table: one row a hop with its last time, its usual time and its bad time, and the way it went."""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from rich.table import Table

from meshdesk.volunteer.layers import show_layers

KEPT = 5_000


@dataclass
class _Row:
    layers: tuple[int, int]
    way: str = ""
    last_ms: float = 0.0
    total_ms: deque[float] = field(default_factory=lambda: deque(maxlen=KEPT))
    network_ms: deque[float] = field(default_factory=lambda: deque(maxlen=KEPT))


class HopTable:
    """Collects hop timings, as HopTimed events or as the hops beside an answer, and draws them.

    The prompt takes far longer than a token of the answer, so it shows as the last time only, and not in
    the percentiles. One thread may draw while another adds.
    """

    def __init__(self) -> None:
        self._rows: dict[int, _Row] = {}
        self._lock = threading.Lock()

    def add(self, hop: dict[str, Any]) -> None:
        """One hop of one token; fields as in HopTimed."""
        total = float(hop["total_ms"])
        with self._lock:
            row = self._rows.setdefault(int(hop["hop"]), _Row((int(hop["start_layer"]), int(hop["end_layer"]))))
            row.way = str(hop["way"])
            row.last_ms = total
            if int(hop["token_index"]) > 0:
                row.total_ms.append(total)
                row.network_ms.append(max(0.0, total - float(hop["compute_ms"]) - float(hop["queue_ms"])))

    def draw(self) -> Table:
        table = Table(title="hops, milliseconds a token", title_justify="left")
        for name in ("hop", "layers"):
            table.add_column(name)
        for name in ("last", "p50", "p95", "network p50"):
            table.add_column(name, justify="right", min_width=6)
        table.add_column("way")
        with self._lock:
            for number, row in sorted(self._rows.items()):
                table.add_row(
                    "head" if number == 0 else str(number),
                    show_layers(*row.layers),
                    f"{row.last_ms:.1f}",
                    _shown(row.total_ms, 50),
                    _shown(row.total_ms, 95),
                    _shown(row.network_ms, 50),
                    row.way,
                )
        return table


def _shown(values: deque[float], percent: float) -> str:
    return f"{percentile(values, percent):.1f}" if values else "–"


def percentile(values: Iterable[float], percent: float) -> float:
    """The smallest value that at least ``percent`` % of ``values`` do not exceed; at least one value."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]
