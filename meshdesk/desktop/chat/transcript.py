"""The chat as a list of turns that scrolls, and follows its end until the person scrolls up."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QPushButton, QScrollArea, QVBoxLayout, QWidget

from meshdesk.desktop.chat.conversation import MAX_TURNS, Turn
from meshdesk.desktop.chat.turn_view import TurnView
from meshdesk.desktop.icons import ui_icon
from meshdesk.desktop.theme import GRID, theme

NEAR_END_PX = 24


class Transcript(QScrollArea):
    """Holds the newest MAX_TURNS turns."""

    try_again = Signal(TurnView)
    new_chat = Signal()

    def __init__(self, parent: QWidget | None = None):
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(self.tr("The chat so far"))
        self._following = True
        self._turns: list[TurnView] = []
        page = QWidget()
        self._column = QVBoxLayout(page)
        # Room on the right, so that the bar does not lie on the text.
        self._column.setContentsMargins(0, 0, GRID, GRID)
        self._column.setSpacing(3 * GRID)
        self._column.addStretch(1)
        self.setWidget(page)
        self.newest = QPushButton(self.tr("Jump to newest"), self)
        self.newest.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.newest.clicked.connect(self.follow)
        self.newest.hide()
        bar = self.verticalScrollBar()
        bar.rangeChanged.connect(self._range_changed)
        bar.valueChanged.connect(self._scrolled)
        theme().changed.connect(self._draw_icons)
        self._draw_icons()

    @property
    def turns(self) -> list[TurnView]:
        """Oldest first."""
        return list(self._turns)

    def add(self, turn: Turn) -> TurnView:
        """A new turn at the end, scrolled to."""
        for earlier in self._turns:
            earlier.end_retries()
        view = TurnView(turn)
        view.try_again.connect(lambda: self.try_again.emit(view))
        view.new_chat.connect(self.new_chat)
        self._turns.append(view)
        self._column.insertWidget(self._column.count() - 1, view)
        while len(self._turns) > MAX_TURNS:
            self._remove(self._turns.pop(0))
        self.follow()
        return view

    def clear(self) -> None:
        while self._turns:
            self._remove(self._turns.pop())

    def follow(self) -> None:
        """Go to the end, and stay there while more comes."""
        self._following = True
        self.newest.hide()
        bar = self.verticalScrollBar()
        bar.setValue(bar.maximum())

    def page(self, direction: int) -> None:
        """Scroll by almost the height of the window."""
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + direction * (bar.pageStep() - 3 * GRID))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_newest()

    def _remove(self, view: TurnView) -> None:
        self._column.removeWidget(view)
        view.hide()
        view.deleteLater()

    def _range_changed(self, _: int, maximum: int) -> None:
        if self._following:
            self.verticalScrollBar().setValue(maximum)
        self._show_newest()

    def _scrolled(self, value: int) -> None:
        self._following = value >= self.verticalScrollBar().maximum() - NEAR_END_PX
        self._show_newest()

    def _show_newest(self) -> None:
        self.newest.setVisible(not self._following)
        self._place_newest()

    def _place_newest(self) -> None:
        self.newest.adjustSize()
        self.newest.move(
            (self.viewport().width() - self.newest.width()) // 2, self.height() - self.newest.height() - GRID
        )

    def _draw_icons(self) -> None:
        self.newest.setIcon(ui_icon("chevron-down"))
