"""The lines of the log window as a table: its own copy of the ring, and an index of those that are shown."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from meshdesk.desktop.logs.log_filter import LogFilter, search_text
from meshdesk.volunteer.log_records import MAX_LINES, LogLine, gap_line

Index = QModelIndex | QPersistentModelIndex

TIME, LEVEL, SOURCE, MESSAGE = range(4)
FOLDED_A_TICK = 10_000
_NOWHERE = QModelIndex()


class LogModel(QAbstractTableModel):
    """The newest lines, of which those that pass the filter are rows.

    Beyond ``capacity`` the oldest go, a twentieth of it at a time; one line in front says how many are gone.
    """

    counts_changed = Signal()
    """How many lines there are, or are shown, has changed."""
    rows_went = Signal(int)
    """So many rows went from the front because there was no more room."""

    def __init__(self, parent: QObject | None = None, capacity: int = MAX_LINES) -> None:
        super().__init__(parent)
        self._capacity = capacity
        self._lines: list[LogLine] = []
        # Of the first lines, as many as have been folded so far; a search completes it.
        self._folded: list[str] = []
        self._shown: list[int] | None = None
        self._filter = LogFilter()
        self._loggers: dict[str, None] = {}
        self._after = 0

    # What is in it

    @property
    def lines(self) -> Sequence[LogLine]:
        """All lines, shown or not, oldest first."""
        return self._lines

    @property
    def total(self) -> int:
        return len(self._lines)

    @property
    def shown(self) -> int:
        """How many rows there are."""
        return len(self._lines) if self._shown is None else len(self._shown)

    @property
    def last_number(self) -> int:
        """The number of the newest line here; 0 if there is none."""
        return self._lines[-1].number if self._lines else 0

    @property
    def loggers(self) -> list[str]:
        """The loggers seen so far, in alphabetical order."""
        return sorted(self._loggers)

    def line_at(self, row: int) -> LogLine:
        """The line in ``row``."""
        return self._lines[row if self._shown is None else self._shown[row]]

    def shown_lines(self) -> list[LogLine]:
        """The line of each row, in order."""
        lines = self._lines
        return lines[:] if self._shown is None else [lines[index] for index in self._shown]

    def folded_rows(self) -> list[str]:
        """The search text of each row, in order."""
        folded = self._all_folded()
        return folded if self._shown is None else [folded[index] for index in self._shown]

    def folded_at(self, row: int) -> str:
        """The search text of one row."""
        index = row if self._shown is None else self._shown[row]
        return self._folded[index] if index < len(self._folded) else search_text(self._lines[index])

    def row_of(self, number: int) -> int | None:
        """The row of the line with that number; None if it is not shown."""
        lines, shown = self._lines, self._shown
        if shown is None:
            row = bisect_left(lines, number, key=lambda line: line.number)
        else:
            row = bisect_left(shown, number, key=lambda index: lines[index].number)
        return row if row < self.shown and self.line_at(row).number == number else None

    # What changes it

    def load(self, lines: Sequence[LogLine], after: int = 0) -> None:
        """Take ``lines`` instead of those that are here; lines up to number ``after`` are left out on purpose."""
        self.beginResetModel()
        self._after = after
        self._lines = list(lines)
        self._folded = []
        self._loggers |= dict.fromkeys(line.logger for line in lines)
        self._rescan()
        self.endResetModel()
        self.counts_changed.emit()

    def extend(self, lines: Sequence[LogLine]) -> None:
        """Add ``lines`` behind those that are here."""
        if not lines:
            return
        start = len(self._lines)
        self._loggers |= dict.fromkeys(line.logger for line in lines)
        if self._filter.only.active:
            self._all_folded()
        new = self._new_rows(lines, start)
        count = len(lines) if new is None else len(new)
        if count:
            self.beginInsertRows(QModelIndex(), self.shown, self.shown + count - 1)
        self._lines.extend(lines)
        if self._shown is not None and new is not None:
            self._shown.extend(new)
        if count:
            self.endInsertRows()
        if len(self._lines) > self._capacity + self._capacity // 20:
            self._trim()
        self.counts_changed.emit()

    def set_filter(self, chosen: LogFilter) -> bool:
        """Show what passes ``chosen``; False if that is what it does already."""
        if chosen == self._filter:
            return False
        self.beginResetModel()
        self._filter = chosen
        self._rescan()
        self.endResetModel()
        self.counts_changed.emit()
        return True

    def fold_some(self) -> None:
        """Get ready for a search, a bounded piece at a time."""
        start = len(self._folded)
        if start < len(self._lines):
            self._folded.extend(map(search_text, self._lines[start : start + FOLDED_A_TICK]))

    def _new_rows(self, lines: Sequence[LogLine], start: int) -> list[int] | None:
        if self._shown is None:
            return None
        folded = list(map(search_text, lines)) if self._filter.only.active else []
        self._folded.extend(folded)
        found = self._filter.scan(lines, folded)
        return [start + index for index in (range(len(lines)) if found is None else found)]

    def _rescan(self) -> None:
        folded = self._all_folded() if self._filter.only.active else []
        self._shown = self._filter.scan(self._lines, folded)

    def _all_folded(self) -> list[str]:
        start = len(self._folded)
        if start < len(self._lines):
            self._folded.extend(map(search_text, self._lines[start:]))
        return self._folded

    def _trim(self) -> None:
        count = len(self._lines) - self._capacity
        gone = self._lines[count - 1]
        rows = count if self._shown is None else bisect_left(self._shown, count)
        if rows:
            self.beginRemoveRows(QModelIndex(), 0, rows - 1)
        del self._lines[:count]
        del self._folded[:count]
        if self._shown is not None:
            self._shown = [index - count for index in self._shown[rows:]]
        if rows:
            self.endRemoveRows()
            self.rows_went.emit(rows)
        self._lead_with_gap(gone)

    def _lead_with_gap(self, gone: LogLine) -> None:
        """Put the line in front that says how many went, as the numbers tell; an earlier one went with them."""
        gap = gap_line(gone.number, gone.number - self._after, gone.at)
        passes = self._shown is None or self._filter.passes(gap, search_text(gap))
        if passes:
            self.beginInsertRows(QModelIndex(), 0, 0)
        self._lines.insert(0, gap)
        if self._folded:
            self._folded.insert(0, search_text(gap))
        if self._shown is not None:
            self._shown = [0] * passes + [index + 1 for index in self._shown]
        if passes:
            self.endInsertRows()
            self.rows_went.emit(-1)

    # What Qt asks for

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else self.shown

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else MESSAGE + 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        line = self.line_at(index.row())
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self.cell_text(line, index.column())
        if role == Qt.ItemDataRole.ToolTipRole and index.column() == SOURCE:
            return line.logger
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal or role != Qt.ItemDataRole.DisplayRole:
            return None
        return (self.tr("Time"), self.tr("Level"), self.tr("Source"), self.tr("Message"))[section]

    def cell_text(self, line: LogLine, column: int) -> str:
        """What stands in one cell of ``line``."""
        if column == TIME:
            return time_text(line.at)
        if column == LEVEL:
            return line.level_name.capitalize()
        if column == SOURCE:
            return source_text(line)
        if line.is_gap:
            dropped = int(line.message.partition(" ")[0].replace(",", ""))
            return self.tr("%n line(s) dropped", "", dropped)
        return line.message


def time_text(at: float) -> str:
    """Local time to the millisecond: ``14:02:11.023``. Much faster than by way of Qt's dates."""
    milliseconds = int(at * 1000)
    return f"{time.strftime('%H:%M:%S', time.localtime(milliseconds // 1000))}.{milliseconds % 1000:03}"


def source_text(line: LogLine) -> str:
    """Where a line comes from, short: ``engine relay_hop``."""
    name = line.logger.rpartition(".")[2] if line.logger.startswith("meshdesk.") else line.logger
    return line.origin if name in ("", line.origin) else f"{line.origin} {name}"
