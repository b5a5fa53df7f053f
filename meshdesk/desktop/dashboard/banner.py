"""What needs to be said above everything else: a problem with its one remedy, an outage, a rule's pause."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout

from meshdesk.desktop.actions import Actions, Window
from meshdesk.desktop.amounts import ago_text
from meshdesk.desktop.dashboard.card import set_text, show_text
from meshdesk.desktop.icons import ui_icon
from meshdesk.desktop.theme import GRID, PADDING, Token, theme
from meshdesk.volunteer.status import LinkState, PauseCause, Phase, Remedy, Status

translate = QCoreApplication.translate
ICON_PX = 20


class Banner(QFrame):
    """Hidden while there is nothing to say. An outage is no error: neutral, and nothing to be done."""

    def __init__(self, actions: Actions):
        super().__init__()
        self._actions = actions
        self._notice = ""
        self._kind = ""
        self._does: Callable[[], None] = lambda: None
        self.setProperty("role", "banner")
        self._sign = QLabel()
        self.what = QLabel()
        self.what.setProperty("role", "title")
        self.meaning = QLabel()
        for label in (self.what, self.meaning):
            label.setWordWrap(True)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.button = QPushButton()
        self.button.clicked.connect(lambda: self._does())
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self.what)
        words.addWidget(self.meaning)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(PADDING, GRID, PADDING, GRID)
        layout.setSpacing(PADDING)
        layout.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(words, 1)
        layout.addWidget(self.button, 0, Qt.AlignmentFlag.AlignVCenter)
        theme().changed.connect(self._draw_sign)
        self.hide()

    def set_notice(self, text: str) -> None:
        """Something about the app itself, such as a settings file that was set aside; "" for nothing."""
        self._notice = text

    def show_status(self, status: Status, now: float) -> None:
        """Say what is worst, or nothing."""
        if status.phase is Phase.ERROR and status.problem is not None:
            # The header has Try again already; a second button of that name would only ask which one to press.
            remedy = {
                Remedy.SETTINGS: (translate("Banner", "Open settings"), self._open_settings),
                Remedy.LOGS: (translate("Banner", "Open the log"), self._open_logs),
            }.get(status.problem.remedy)
            self._say("error", status.problem.message, status.problem.hint, remedy)
        elif status.reconnecting_since is not None:
            self._say_outage(status, now)
        elif status.phase is Phase.PAUSED and status.pause is not None and status.pause.cause is not PauseCause.PERSON:
            setting = status.pause.setting
            self._say(
                "",
                translate("Banner", "A setting of yours has paused this computer"),
                translate("Banner", "It goes on by itself when the reason has passed."),
                (
                    translate("Banner", "Change the setting"),
                    lambda: self._actions.show(Window.SETTINGS, about=setting),
                ),
            )
        elif self._notice:
            self._say("", translate("Banner", "Settings"), self._notice, None)
        else:
            self.setVisible(False)

    def _say_outage(self, status: Status, now: float) -> None:
        lost = [
            (translate("Banner", "the relay"), status.relay),
            (translate("Banner", "the tracker"), status.tracker),
        ]
        named = [(name, link) for name, link in lost if link.state is LinkState.LOST]
        if named:
            reason = named[0][1].reason
            what = translate("Banner", "Lost {what} {time}").format(
                what=named[0][0], time=ago_text(status.reconnecting_since, now)
            )
        else:
            reason = status.relay.reason or status.tracker.reason
            what = translate("Banner", "Not connected yet")
        meaning = translate("Banner", "meshdesk keeps trying; there is nothing you need to do.")
        self._say("neutral", what, f"{meaning} ({reason})" if reason else meaning, None)

    def _say(self, kind: str, what: str, meaning: str, remedy: tuple[str, Callable[[], None]] | None) -> None:
        set_text(self.what, what)
        show_text(self.meaning, meaning)
        self.button.setVisible(remedy is not None)
        if remedy is not None:
            self.button.setText(remedy[0])
            self.button.setAccessibleName(remedy[0])
            self._does = remedy[1]
        if kind != self._kind or self.property("kind") is None:
            self._kind = kind
            self.setProperty("kind", kind)
            self.style().unpolish(self)
            self.style().polish(self)
            self._draw_sign()
        self.setAccessibleName(f"{what}. {meaning}")
        self.setVisible(True)

    def _draw_sign(self) -> None:
        name, token = {"error": ("error", Token.ERROR), "neutral": ("info", Token.RELAY)}.get(
            self._kind, ("pause", Token.FALLBACK)
        )
        self._sign.setPixmap(ui_icon(name, token).pixmap(ICON_PX, ICON_PX))

    def _open_settings(self) -> None:
        self._actions.show(Window.SETTINGS)

    def _open_logs(self) -> None:
        self._actions.show(Window.LOGS)
