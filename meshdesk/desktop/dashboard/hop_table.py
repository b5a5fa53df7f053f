"""The last tokens' hops as a table: sorted by any column, copied, exported. What the chart shows, in figures."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QModelIndex, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from meshdesk.desktop.background import Background
from meshdesk.desktop.dashboard.card import set_text
from meshdesk.desktop.dashboard.hop_table_model import COLUMNS, WAY_COLUMN, HopOrder, HopTableModel
from meshdesk.desktop.dashboard.way_style import way_text
from meshdesk.desktop.icons import ui_icon
from meshdesk.desktop.plurals import plurals
from meshdesk.desktop.theme import GRID
from meshdesk.node.events import Way
from meshdesk.volunteer.hop_history import HopHistory, HopRecord, to_csv

translate = QCoreApplication.translate
ROW_HEIGHT = 24
TIME_COLUMN = 0


class HopTable(QWidget):
    """Newest first until a person sorts otherwise. ``refresh`` takes in what is new."""

    def __init__(self, hops: HopHistory, background: Background):
        super().__init__()
        self._hops = hops
        self._background = background
        self._seen = -1
        self.model = HopTableModel()
        self.order = HopOrder()
        self.order.setSourceModel(self.model)
        self.view = QTableView()
        self.view.setModel(self.order)
        self.view.setAccessibleName(translate("HopTable", "Hops of the last tokens"))
        self.view.setSortingEnabled(True)
        self.view.sortByColumn(TIME_COLUMN, Qt.SortOrder.DescendingOrder)
        self.view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.view.setTabKeyNavigation(False)
        self.view.setShowGrid(False)
        self.view.verticalHeader().hide()
        self.view.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
        self.view.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.view.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.view.horizontalHeader().setHighlightSections(False)
        self._fit_ways()
        self.copy = QPushButton(translate("HopTable", "Cop&y"))
        self.copy.setIcon(ui_icon("copy"))
        self.copy.clicked.connect(self.copy_selection)
        self.export = QPushButton(translate("HopTable", "&Export CSV…"))
        self.export.setIcon(ui_icon("export"))
        self.export.clicked.connect(self.ask_where_to_export)
        self.said = QLabel()
        self.said.setProperty("role", "caption")
        shortcut = QShortcut(QKeySequence(QKeySequence.StandardKey.Copy), self.view)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.activated.connect(self.copy_selection)
        buttons = QHBoxLayout()
        buttons.setSpacing(GRID)
        buttons.addWidget(self.said, 1)
        buttons.addWidget(self.copy)
        buttons.addWidget(self.export)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        column.addWidget(self.view, 1)
        column.addLayout(buttons)

    def refresh(self) -> None:
        """Take in what is new; what is selected and looked at stays."""
        if self._hops.version == self._seen:
            return
        self._seen = self._hops.version
        self.model.take(self._hops.last_tokens())
        count = plurals().hops(len(self.model.records))
        set_text(self.said, count)

    def _fit_ways(self) -> None:
        """That a relay failed is said by the end of the longest text, which must not be cut off."""
        header, metrics = self.view.horizontalHeader(), self.view.fontMetrics()
        widest = max(metrics.horizontalAdvance(way_text(way)) for way in (*Way, None))
        header.setSectionResizeMode(WAY_COLUMN, QHeaderView.ResizeMode.Fixed)
        header.resizeSection(WAY_COLUMN, widest + 2 * GRID)

    def selected(self) -> list[HopRecord]:
        """The chosen records in the order they are shown; all of them if none is chosen."""
        rows = sorted(index.row() for index in self.view.selectionModel().selectedRows())
        if not rows:
            rows = list(range(self.order.rowCount(QModelIndex())))
        return [self.model.records[self.order.mapToSource(self.order.index(row, 0)).row()] for row in rows]

    def copy_selection(self) -> None:
        """Put the chosen rows on the clipboard, as a spreadsheet takes them."""
        lines = ["\t".join(column.head() for column in COLUMNS)]
        lines += ["\t".join(column.text(record) for column in COLUMNS) for record in self.selected()]
        QGuiApplication.clipboard().setText("\n".join(lines))
        self.said.setText(plurals().rows_copied(len(lines) - 1))

    def ask_where_to_export(self) -> None:
        """Let the person choose a file, then write it beside the loop."""
        dialog = QFileDialog(self, translate("HopTable", "Export hops"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilter(translate("HopTable", "Comma-separated values (*.csv)"))
        dialog.setDefaultSuffix("csv")
        dialog.selectFile(time.strftime("meshdesk-hops-%Y%m%d-%H%M%S.csv"))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda name: self.export_to(Path(name)))
        dialog.open()

    def export_to(self, path: Path) -> None:
        """Write all records to ``path``; what comes of it is said beside the buttons."""
        records = list(self._hops.records)
        self._background.start(self._write(path, records), "export hops", self._failed)

    async def _write(self, path: Path, records: list[HopRecord]) -> None:
        await asyncio.to_thread(_write_csv, path, records)
        self.said.setText(translate("HopTable", "Written to {file}").format(file=path.name))

    def _failed(self, error: Exception) -> None:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        self.said.setText(translate("HopTable", "It could not be written: {reason}").format(reason=reason))


def _write_csv(path: Path, records: list[HopRecord]) -> None:
    path.write_text(to_csv(records), encoding="utf-8", newline="")
