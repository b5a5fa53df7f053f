"""The last tokens' hops as a table's rows: numbers sort as numbers, and a row keeps its record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QCoreApplication,
    QModelIndex,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
)

from meshdesk.desktop.amounts import clock_text, ms_text, size_text
from meshdesk.desktop.dashboard.way_style import way_style, way_text
from meshdesk.desktop.theme import theme
from meshdesk.volunteer.hop_history import HopRecord
from meshdesk.volunteer.layers import show_layers

translate = QCoreApplication.translate
SORT_ROLE = Qt.ItemDataRole.UserRole
Index = QModelIndex | QPersistentModelIndex
UNKNOWN_SORTS_AS = -1.0
_ROOT = QModelIndex()


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its head, a record's text, and what it sorts by."""

    head: Callable[[], str]
    text: Callable[[HopRecord], str]
    key: Callable[[HopRecord], Any]
    figure: bool = True


def _network(record: HopRecord) -> float:
    return UNKNOWN_SORTS_AS if record.network_ms is None else record.network_ms


COLUMNS = (
    Column(lambda: translate("HopTable", "Time"), lambda r: clock_text(r.at), lambda r: r.at, figure=False),
    Column(lambda: translate("HopTable", "Token"), lambda r: str(r.token_index), lambda r: r.token_index),
    Column(
        lambda: translate("HopTable", "Layers"),
        lambda r: show_layers(r.start_layer, r.end_layer),
        lambda r: (r.start_layer, r.end_layer),
        figure=False,
    ),
    Column(
        lambda: translate("HopTable", "Way"),
        lambda r: way_text(r.way, served=r.served),
        lambda r: way_text(r.way, served=r.served),
        figure=False,
    ),
    Column(lambda: translate("HopTable", "Total ms"), lambda r: ms_text(r.total_ms, unit=False), lambda r: r.total_ms),
    Column(lambda: translate("HopTable", "Network"), lambda r: ms_text(r.network_ms, unit=False), _network),
    Column(
        lambda: translate("HopTable", "Compute"), lambda r: ms_text(r.compute_ms, unit=False), lambda r: r.compute_ms
    ),
    Column(lambda: translate("HopTable", "Queue"), lambda r: ms_text(r.queue_ms, unit=False), lambda r: r.queue_ms),
    Column(lambda: translate("HopTable", "Sent"), lambda r: size_text(r.bytes_out), lambda r: r.bytes_out),
    Column(lambda: translate("HopTable", "Received"), lambda r: size_text(r.bytes_in), lambda r: r.bytes_in),
)
WAY_COLUMN = 3


class HopTableModel(QAbstractTableModel):
    """Rows in the order of time. ``take`` appends what is new and drops what is gone; the rest keep their rows."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[HopRecord] = []

    def take(self, records: Sequence[HopRecord]) -> None:
        """Become ``records``: usually the same ones with some more at the end and some fewer at the beginning."""
        if not records or not self.records:
            self._reset(records)
            return
        first = records[0]
        gone = next((row for row, record in enumerate(self.records) if record is first), None)
        if gone is None:
            self._reset(records)
            return
        if gone:
            self.beginRemoveRows(QModelIndex(), 0, gone - 1)
            del self.records[:gone]
            self.endRemoveRows()
        kept = len(self.records)
        if kept > len(records) or self.records[-1] is not records[kept - 1]:
            self._reset(records)
        elif kept < len(records):
            self.beginInsertRows(QModelIndex(), kept, len(records) - 1)
            self.records.extend(records[kept:])
            self.endInsertRows()

    def _reset(self, records: Sequence[HopRecord]) -> None:
        if not records and not self.records:
            return
        self.beginResetModel()
        self.records = list(records)
        self.endResetModel()

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self.records)

    def columnCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is Qt.Orientation.Horizontal:
            if role == Qt.ItemDataRole.DisplayRole:
                return COLUMNS[section].head()
            if role == Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(COLUMNS[section])
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        record, column = self.records[index.row()], COLUMNS[index.column()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return column.text(record)
            case Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(column)
            case Qt.ItemDataRole.ForegroundRole if index.column() == WAY_COLUMN:
                return theme().color(way_style(record.way, served=record.served).token)
            case _ if role == SORT_ROLE:
                return column.key(record)
        return None


class HopOrder(QSortFilterProxyModel):
    """Sorts by what a column means, not by its text. A few thousand rows, so Python may compare them."""

    def lessThan(self, left: Index, right: Index) -> bool:
        model = self.sourceModel()
        assert isinstance(model, HopTableModel)
        key = COLUMNS[left.column()].key
        return bool(key(model.records[left.row()]) < key(model.records[right.row()]))


def _alignment(column: Column) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column.figure else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
