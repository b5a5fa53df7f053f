"""The app's tray alone, as a program: ``python -m tests.desktop.tray_program``. It says on its output what happens.

``ready``, ``icon X Y WIDTH HEIGHT`` once it is in a tray, ``entry X Y TEXT`` for each line of a menu that
opens, ``did ACTION`` for what was chosen. "Join mesh" makes the status that of a node reached by relay.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from PySide6.QtCore import QPoint, QRect, QTimer
from PySide6.QtWidgets import QApplication, QSystemTrayIcon

from meshdesk.desktop.theme import theme
from meshdesk.desktop.tray import Tray
from meshdesk.volunteer.status import Status
from tests.desktop import sample_status
from tests.desktop.recorded_actions import RecordedActions

STILL = 5
"""How many looks, 20 ms apart, must find the icon at one place."""


def say(text: str) -> None:
    print(text, flush=True)


class Membership(RecordedActions):
    """A status that goes from off to serving at the person's word."""

    def __init__(self) -> None:
        super().__init__()
        self.status: Status = sample_status.off()
        self.listeners: list[Callable[[], None]] = []

    def listen(self, changed: Callable[[], None]) -> Callable[[], None]:
        self.listeners.append(changed)
        return lambda: self.listeners.remove(changed)

    def join(self) -> None:
        say("did join")
        self.status = sample_status.serving_by_relay()
        for listener in list(self.listeners):
            listener()


class Reporter:
    """Says where icon and menu are, for who has only a mouse."""

    def __init__(self) -> None:
        self._icon: QSystemTrayIcon | None = None
        self._place = QRect()
        self._still = 0
        self._look = QTimer(interval=20)
        self._look.timeout.connect(self._say_icon)

    def make_icon(self) -> QSystemTrayIcon:
        self._icon = QSystemTrayIcon()
        self._look.start()
        return self._icon

    def _say_icon(self) -> None:
        assert self._icon is not None
        before, self._place = self._place, self._icon.geometry()
        # Before the tray has taken it in, the icon is in the screen's corner; then it is moved, perhaps twice.
        self._still = self._still + 1 if self._place == before else 0
        if self._place.topLeft() == QPoint(0, 0) or self._still < STILL:
            return
        self._look.stop()
        place = self._place
        menu = self._icon.contextMenu()
        menu.aboutToShow.connect(lambda: QTimer.singleShot(0, self._say_entries))
        say(f"icon {place.x()} {place.y()} {place.width()} {place.height()}")

    def _say_entries(self) -> None:
        assert self._icon is not None
        menu = self._icon.contextMenu()
        for action in menu.actions():
            point = menu.mapToGlobal(menu.actionGeometry(action).center())
            say(f"entry {point.x()} {point.y()} {action.text()}")
        say("menu is open")


def main() -> int:
    app = QApplication(sys.argv[:1])
    app.setQuitOnLastWindowClosed(False)
    theme().install(app)
    membership, reporter = Membership(), Reporter()
    tray = Tray(lambda: membership.status, membership.listen, membership, make_icon=reporter.make_icon)
    tray.start()
    say("ready" if tray.available else "ready, without a tray")
    return app.exec()


if __name__ == "__main__":
    sys.exit(main())
