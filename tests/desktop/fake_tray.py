"""A desktop's tray that exists in memory, and a membership whose status a test sets by hand."""

from __future__ import annotations

import weakref
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from meshdesk.desktop.tray import Tray
from meshdesk.desktop.tray_look import MenuEntry
from meshdesk.volunteer.status import Status
from tests.desktop.recorded_actions import RecordedActions


class FakeTrayIcon(QObject):
    """What QSystemTrayIcon is to ``Tray``; ``calls`` are the names of what was called, oldest first."""

    activated = Signal(QSystemTrayIcon.ActivationReason)
    messageClicked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.icon = QIcon()
        self.tooltip = ""
        self._menu: Callable[[], QMenu | None] = lambda: None
        self.visible = False
        self.messages: list[tuple[str, str]] = []
        self.calls: list[str] = []

    def setIcon(self, icon: QIcon) -> None:
        self.icon = icon
        self.calls.append("setIcon")

    def setToolTip(self, text: str) -> None:
        self.tooltip = text
        self.calls.append("setToolTip")

    def setContextMenu(self, menu: QMenu | None) -> None:
        # As Qt does, without keeping it alive.
        self._menu = weakref.ref(menu) if menu is not None else lambda: None

    @property
    def menu(self) -> QMenu | None:
        return self._menu()

    def show(self) -> None:
        self.visible = True
        self.calls.append("show")

    def hide(self) -> None:
        self.visible = False
        self.calls.append("hide")

    def showMessage(self, title: str, text: str, icon: QIcon, msecs: int) -> None:
        self.messages.append((title, text))


class FakeDesk:
    """One tray under test with all that is around it. ``there`` is whether the desktop has a tray."""

    def __init__(self, status: Status, now: float, *, there: bool = True) -> None:
        self.status = status
        self.now = now
        self.there = there
        self.actions = RecordedActions()
        self.icons: list[FakeTrayIcon] = []
        self.listeners: list[Callable[[], None]] = []
        self.tray = Tray(
            lambda: self.status,
            self.listen,
            self.actions,
            make_icon=self._make_icon,
            is_there=lambda: self.there,
            now=lambda: self.now,
        )

    @property
    def icon(self) -> FakeTrayIcon:
        assert self.icons, "the tray has no icon yet"
        return self.icons[-1]

    def listen(self, changed: Callable[[], None]) -> Callable[[], None]:
        self.listeners.append(changed)
        return lambda: self.listeners.remove(changed)

    def change(self, status: Status, *, after_s: float = 0.0) -> None:
        """Have the status change, so much later."""
        self.now += after_s
        self.status = status
        for listener in list(self.listeners):
            listener()

    def choose(self, *texts: str) -> None:
        """Choose an entry of the menu, by its text and those of the submenus before it."""
        menu = self.icon.menu
        assert menu is not None
        for text in texts[:-1]:
            menu = next(action for action in menu.actions() if action.text() == text).menu()
            assert isinstance(menu, QMenu)
        next(action for action in menu.actions() if action.text() == texts[-1]).trigger()

    def _make_icon(self) -> FakeTrayIcon:
        self.icons.append(FakeTrayIcon())
        return self.icons[-1]


Line = tuple[str, bool, "tuple[Line, ...]"]


def lines_of(menu: QMenu) -> tuple[Line, ...]:
    """What a menu shows: text, whether it can be chosen, and its submenu's lines."""
    lines: list[Line] = []
    for action in menu.actions():
        submenu = action.menu()
        below = lines_of(submenu) if isinstance(submenu, QMenu) else ()
        lines.append(("" if action.isSeparator() else action.text(), action.isEnabled(), below))
    return tuple(lines)


def lines_of_entries(entries: tuple[MenuEntry, ...]) -> tuple[Line, ...]:
    """What a menu of these entries should show."""
    return tuple((entry.text, entry.enabled, lines_of_entries(entry.entries)) for entry in entries)
