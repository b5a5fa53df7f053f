"""The one row above the log: level, source, search, follow, pause, and the rest in a menu."""

from __future__ import annotations

import logging

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QMenu, QToolButton, QWidget

from meshdesk.desktop.icons import ui_icon
from meshdesk.desktop.logs.log_filter import LogFilter, Search
from meshdesk.desktop.logs.search_field import SearchField
from meshdesk.desktop.theme import GRID

MAX_LOGGERS = 200
ROOMY_PX = 720
_LOGGER = "logger: "


class LogToolbar(QWidget):
    """Says what is wanted; does nothing itself."""

    filter_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.level = QComboBox()
        self.level.setAccessibleName(self.tr("Level"))
        for text, level in (
            (self.tr("All levels"), 0),
            (self.tr("Info and above"), logging.INFO),
            (self.tr("Warnings and errors"), logging.WARNING),
            (self.tr("Errors only"), logging.ERROR),
        ):
            self.level.addItem(text, level)
        self.source = QComboBox()
        self.source.setAccessibleName(self.tr("Source"))
        # A long logger's name, or another language, must not push the search out of the window.
        for box in (self.level, self.source):
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(4)
            box.setMinimumWidth(112)
            box.setMaximumWidth(168)
            box.view().setAccessibleName(box.accessibleName())
            box.view().setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self._origins = (
            (self.tr("All sources"), ""),
            (self.tr("App"), "app"),
            (self.tr("Engine"), "engine"),
            (self.tr("Shard's process"), "child"),
            (self.tr("Qt"), "qt"),
            (self.tr("Faults"), "fault"),
        )
        self._loggers: list[str] = []
        self._fill_sources()

        self.search = SearchField()
        self.follow = self._toggle("follow", self.tr("Follow the newest line"))
        self.follow.setChecked(True)
        self.pause = self._toggle("pause", self.tr("Hold the view still"))
        self.copy = QToolButton()
        self.copy.setIcon(ui_icon("copy"))
        self.copy.setToolTip(self.tr("Copy the selected lines (Ctrl+C)"))
        self.copy.setAccessibleName(self.copy.toolTip())
        self.copy_selected = QAction(self.tr("Copy selected"), self)
        self.copy_all = QAction(self.tr("Copy all shown"), self)
        self.wrap = QAction(self.tr("Wrap long lines"), self)
        self.wrap.setCheckable(True)
        self.export = QAction(self.tr("Save shown lines…"), self)
        self.export.setShortcut(QKeySequence("Ctrl+S"))
        self.clear = QAction(self.tr("Clear view"), self)
        self.clear.setToolTip(self.tr("The files keep everything"))
        self.folder = QAction(self.tr("Open folder"), self)
        self.diagnostics = QAction(self.tr("Export diagnostics…"), self)
        self.more = self._menu_button()

        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID // 2)
        row.addWidget(self.level, 1)
        row.addWidget(self.source, 1)
        row.addWidget(self.search, 3)
        for button in (self.follow, self.pause, self.copy, self.more):
            row.addWidget(button)

        self.level.currentIndexChanged.connect(lambda _row: self.filter_changed.emit())
        self.source.currentIndexChanged.connect(lambda _row: self.filter_changed.emit())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # The menu has it too.
        self.copy.setVisible(self.width() >= ROOMY_PX)

    def chosen_filter(self) -> LogFilter:
        """What is to be shown."""
        source: str = self.source.currentData() or ""
        logger = source.removeprefix(_LOGGER) if source.startswith(_LOGGER) else ""
        origin = "" if logger else source
        only = self.search.search if self.search.only.isChecked() and not self.search.search.problem else Search()
        return LogFilter(self.level.currentData() or 0, origin, logger, only)

    def offer_loggers(self, loggers: list[str]) -> None:
        """Let the person choose among ``loggers`` too; the choice stays."""
        if loggers[:MAX_LOGGERS] == self._loggers or self.source.view().isVisible():
            return
        chosen = self.source.currentData()
        self._loggers = loggers[:MAX_LOGGERS]
        blocked = self.source.blockSignals(True)
        self._fill_sources()
        self.source.setCurrentIndex(max(0, self.source.findData(chosen)))
        self.source.blockSignals(blocked)

    def _fill_sources(self) -> None:
        self.source.clear()
        for text, data in self._origins:
            self.source.addItem(text, data)
        if self._loggers:
            self.source.insertSeparator(self.source.count())
        for logger in self._loggers:
            self.source.addItem(logger, _LOGGER + logger)

    def _toggle(self, icon: str, tip: str) -> QToolButton:
        button = QToolButton()
        button.setIcon(ui_icon(icon))
        button.setCheckable(True)
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        return button

    def _menu_button(self) -> QToolButton:
        button = QToolButton()
        button.setText("⋯")
        button.setToolTip(self.tr("More"))
        button.setAccessibleName(self.tr("More"))
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        # The arrow of the style would stand on the dots.
        button.setStyleSheet("QToolButton::menu-indicator { image: none; width: 0; }")
        menu = QMenu(button)
        menu.addActions([self.copy_selected, self.copy_all, self.export])
        menu.addSeparator()
        menu.addActions([self.wrap, self.clear])
        menu.addSeparator()
        menu.addActions([self.folder, self.diagnostics])
        button.setMenu(menu)
        return button
