"""The lines of the chart: hops' records thinned to columns, broken at pauses and where the way changes.

A line is kept in cells of five seconds. Only its newest cell changes, so whoever draws may keep the others.
Nothing here draws.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from meshdesk.desktop.dashboard.chart_scale import WINDOW_S
from meshdesk.node.events import Way
from meshdesk.volunteer.hop_history import HopHistory, HopRecord

CELL_S = 5.0
COLUMN_S = 0.1
"""Of the records within a column only the least and the greatest are kept: about a pixel of the chart."""
LEAST_PAUSE_S = 1.0
PAUSE_INTERVALS = 3.0
OUTLIER = 4.0
"""A value so many times the 90th percentile may leave the chart; an arrow stands for it."""


class Column:
    """The least and the greatest of the records of a tenth of a second."""

    __slots__ = ("high", "key", "low")

    def __init__(self, key: int, record: HopRecord):
        self.key = key
        self.low = self.high = record

    def take(self, record: HopRecord) -> bool:
        """Whether ``record`` changes what is kept."""
        if record.total_ms > self.high.total_ms:
            self.high = record
        elif record.total_ms < self.low.total_ms:
            self.low = record
        else:
            return False
        return True

    def points(self) -> tuple[HopRecord, ...]:
        if self.low is self.high:
            return (self.low,)
        return (self.low, self.high) if self.low.at <= self.high.at else (self.high, self.low)


@dataclass(slots=True)
class Run:
    """Points to be joined, which all went one way. The first may belong to the run before, to join up with it."""

    way: Way | None
    points: list[HopRecord]


@dataclass(slots=True, eq=False)
class Cell:
    """Five seconds of a line. ``version`` grows with every change."""

    number: int
    columns: list[Column] = field(default_factory=list)
    version: int = 0

    def points(self) -> Iterator[HopRecord]:
        for column in self.columns:
            yield from column.points()


class Line:
    """One hop's records, oldest first."""

    def __init__(self, layers: tuple[int, int]):
        self.layers = layers
        self.cells: list[Cell] = []
        self.last: HopRecord | None = None

    def add(self, record: HopRecord) -> None:
        number, key = math.floor(record.at / CELL_S), math.floor(record.at / COLUMN_S)
        cell = self._cell(number)
        if not cell.columns or cell.columns[-1].key < key:
            cell.columns.append(Column(key, record))
            cell.version += 1
        else:
            self._add_late(cell, key, record)
        if self.last is None or record.at >= self.last.at:
            self.last = record

    def forget_before(self, at: float) -> None:
        """Drop whole cells that ended before ``at``."""
        while self.cells and (self.cells[0].number + 1) * CELL_S < at:
            del self.cells[0]

    def points(self) -> Iterator[HopRecord]:
        for cell in self.cells:
            yield from cell.points()

    def before(self, cell: Cell) -> Cell | None:
        """The cell before ``cell`` in which there is anything."""
        index = self.cells.index(cell)
        return self.cells[index - 1] if index else None

    def _cell(self, number: int) -> Cell:
        if not self.cells or self.cells[-1].number < number:
            self.cells.append(Cell(number))
            return self.cells[-1]
        for cell in reversed(self.cells):
            if cell.number == number:
                return cell
        self.cells.append(Cell(number))
        self.cells.sort(key=lambda cell: cell.number)
        return self._cell(number)

    def _add_late(self, cell: Cell, key: int, record: HopRecord) -> None:
        for column in reversed(cell.columns):
            if column.key == key:
                cell.version += column.take(record)
                return
            if column.key < key:
                break
        cell.columns.append(Column(key, record))
        cell.columns.sort(key=lambda column: column.key)
        cell.version += 1


def pause_s(before: Cell | None, cell: Cell) -> float:
    """Seconds without a record that break the line in ``cell``, by how often records came there and just before."""
    times = [point.at for part in (before, cell) if part is not None for point in part.points()]
    between = [later - earlier for earlier, later in itertools.pairwise(times)]
    return max(LEAST_PAUSE_S, PAUSE_INTERVALS * statistics.median(between)) if between else LEAST_PAUSE_S


def runs(points: Iterable[HopRecord], before: HopRecord | None, pause: float) -> list[Run]:
    """``points``, oldest first, cut at pauses and where the way changes; ``before`` is what they may join up with."""
    found: list[Run] = []
    previous = before
    for point in points:
        joined = previous is not None and point.at - previous.at <= pause
        if found and joined and found[-1].way is point.way:
            found[-1].points.append(point)
        elif joined and previous is not None:
            found.append(Run(point.way, [previous, point]))
        else:
            found.append(Run(point.way, [point]))
        previous = point
    return found


class ChartLines:
    """All lines of the last minute, the prompts apart from them. Follows a history without reading it anew."""

    def __init__(self) -> None:
        self.lines: dict[tuple[int, int], Line] = {}
        self.prefills: list[HopRecord] = []
        self._last: HopRecord | None = None
        self._version: int | None = None

    def follow(self, history: HopHistory, now: float) -> bool:
        """Take in what is new and forget what is too old; whether there was anything."""
        if history.version == self._version:
            return self._forget(now - WINDOW_S)
        self._version = history.version
        new = self._newer(history)
        if new is None:
            self.lines.clear()
            self.prefills.clear()
            self._last = None
            new = history.since(now - WINDOW_S)
        for record in new:
            if record.tokens > 1:
                self.prefills.append(record)
            else:
                line = self.lines.get(record.line)
                if line is None:
                    line = self.lines[record.line] = Line(record.line)
                line.add(record)
        if new:
            self._last = new[-1]
        self._forget(now - WINDOW_S)
        return True

    def wanted_top(self, since: float) -> float:
        """Up to where the value axis should reach. Prompts do not count, nor single values far above the others."""
        highs = sorted(
            column.high.total_ms
            for line in self.lines.values()
            for cell in line.cells
            for column in cell.columns
            if column.high.at >= since
        )
        if not highs:
            return 0.0
        return min(highs[-1], OUTLIER * highs[min(len(highs) - 1, int(len(highs) * 0.9))])

    def newest_at(self) -> float | None:
        """When the last record came that is still kept."""
        return None if self._last is None else self._last.at

    def _newer(self, history: HopHistory) -> list[HopRecord] | None:
        """What came after the last record taken in; None where that one is no longer there."""
        if self._last is None:
            return None
        new: list[HopRecord] = []
        for record in reversed(history.since(self._last.at)):
            if record is self._last:
                new.reverse()
                return new
            new.append(record)
        return None

    def _forget(self, before: float) -> bool:
        """Drop what ended before ``before``; whether there was any."""
        gone = False
        for layers, line in list(self.lines.items()):
            line.forget_before(before)
            if line.last is None or line.last.at < before:
                del self.lines[layers]
                gone = True
        if self.prefills and self.prefills[0].at < before:
            self.prefills = [record for record in self.prefills if record.at >= before]
            gone = True
        return gone
