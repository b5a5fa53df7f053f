"""The dashboard's head: the mark in its present state, one sentence, and what a person can do about it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QMenu, QPushButton, QVBoxLayout

from meshdesk.desktop.actions import Actions
from meshdesk.desktop.icons import TrayState, mark_pixmap, ui_icon
from meshdesk.desktop.sentences import headline, subline
from meshdesk.desktop.theme import GRID, theme
from meshdesk.desktop.tray_look import tray_look
from meshdesk.volunteer.status import PauseCause, Phase, Status

MARK_PX = 36
QUARTER_HOUR_S, HOUR_S = 900.0, 3600.0


class Header(QFrame):
    """One headline, a line under it, Pause, and ONE primary button for the next step."""

    def __init__(self, actions: Actions):
        super().__init__()
        self._actions = actions
        self._shown: tuple[TrayState, float | None] | None = None
        self._primary_does = actions.join
        self.mark = QLabel()
        self.mark.setFixedSize(MARK_PX, MARK_PX)
        self.headline = QLabel()
        self.headline.setProperty("role", "headline")
        self.headline.setWordWrap(True)
        self.subline = QLabel()
        self.subline.setProperty("role", "muted")
        self.subline.setWordWrap(True)
        for label in (self.headline, self.subline):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.pause = QPushButton(self.tr("&Pause"))
        self.pause.setIcon(ui_icon("pause"))
        self.pause.setMenu(self._pause_menu())
        self.primary = QPushButton()
        self.primary.clicked.connect(lambda: self._primary_does())
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self.headline)
        words.addWidget(self.subline)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2 * GRID)
        layout.addWidget(self.mark, 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(words, 1)
        layout.addWidget(self.pause, 0, Qt.AlignmentFlag.AlignVCenter)
        layout.addWidget(self.primary, 0, Qt.AlignmentFlag.AlignVCenter)
        theme().changed.connect(self._redraw_mark)

    def show_status(self, status: Status, now: float) -> None:
        """Say what is true now; only what is another is set."""
        _set_text(self.headline, headline(status))
        # What went wrong stands in the banner, with its remedy; twice would be once too often.
        error = status.phase is Phase.ERROR
        _set_text(self.subline, self.tr("This computer is not in the mesh.") if error else subline(status, now))
        self._show_buttons(status)
        look = tray_look(status, now)
        if self._shown != (look.icon, look.progress):
            self._shown = (look.icon, look.progress)
            self._redraw_mark()
        state = self.tr("State: {state}").format(state=headline(status))
        if self.mark.accessibleName() != state:
            self.mark.setAccessibleName(state)

    def _show_buttons(self, status: Status) -> None:
        self.pause.setVisible(status.phase in (Phase.SERVING, Phase.STARTING))
        own_pause = status.pause is not None and status.pause.cause is PauseCause.PERSON
        match status.phase:
            case Phase.OFF:
                text, does, primary = self.tr("&Join mesh"), self._actions.join, True
            case Phase.ERROR:
                text, does, primary = self.tr("&Try again"), self._actions.join, True
            case Phase.PAUSED if own_pause:
                text, does, primary = self.tr("&Resume"), self._actions.resume, True
            case Phase.LEAVING:
                text, does, primary = self.tr("&Leave now"), self._actions.leave, False
            case _:
                text, does, primary = self.tr("&Leave mesh"), self._actions.leave, False
        self._primary_does = does
        # While it starts, the bar in the middle of the window has the way out beside it.
        self.primary.setVisible(status.phase is not Phase.STARTING)
        if self.primary.text() != text:
            self.primary.setText(text)
            self.primary.setAccessibleName(text.replace("&", ""))
        role = "primary" if primary else ""
        if self.primary.property("role") != role:
            self.primary.setProperty("role", role)
            self.primary.style().unpolish(self.primary)
            self.primary.style().polish(self.primary)

    def _pause_menu(self) -> QMenu:
        menu = QMenu(self)
        for text, seconds in (
            (self.tr("For &15 minutes"), QUARTER_HOUR_S),
            (self.tr("For 1 &hour"), HOUR_S),
            (self.tr("&Until I resume"), None),
        ):
            action = QAction(text, menu)
            action.triggered.connect(lambda _=False, seconds=seconds: self._actions.pause(seconds))
            menu.addAction(action)
        return menu

    def _redraw_mark(self) -> None:
        if self._shown is not None:
            self.mark.setPixmap(mark_pixmap(MARK_PX, self.devicePixelRatioF(), *self._shown))


def _set_text(label: QLabel, text: str) -> None:
    if label.text() != text:
        label.setText(text)
