"""The icon in the tray: it shows ``tray_look`` of the present status, and asks for what is chosen from its menu.

The desktop's tray may come after the app, or never; the icon is made when there is one.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from meshdesk.desktop.actions import Actions, Window
from meshdesk.desktop.icons import tray_icon
from meshdesk.desktop.theme import theme
from meshdesk.desktop.tray_look import HOUR_S, QUARTER_HOUR_S, Choice, MenuEntry, TrayLook, tray_look
from meshdesk.volunteer.status import Status

log = logging.getLogger(__name__)

POLL_MS = 250
POLL_FOR_S = 30.0
LATE_POLL_MS = 5000
REDRAW_S = 1.0
"""Figures that change faster are shown once a second; a new state is shown at once."""
MESSAGE_MS = 8000

_WINDOWS = {
    Choice.DASHBOARD: Window.DASHBOARD,
    Choice.CHAT: Window.CHAT,
    Choice.LOGS: Window.LOGS,
    Choice.SETTINGS: Window.SETTINGS,
    Choice.CHANGE_SETTING: Window.SETTINGS,
    Choice.CONNECTION: Window.CONNECTION,
    Choice.DIAGNOSTICS: Window.DIAGNOSTICS,
    Choice.ABOUT: Window.ABOUT,
}


class Tray(QObject):
    """From ``start`` to ``remove``. ``make_icon``, ``is_there`` and ``now`` stand in for the desktop and the clock."""

    appeared = Signal()
    """The icon is in the tray; comes once."""

    def __init__(
        self,
        status: Callable[[], Status],
        listen: Callable[[Callable[[], None]], Callable[[], None]],
        actions: Actions,
        *,
        make_icon: Callable[[], Any] = QSystemTrayIcon,
        is_there: Callable[[], bool] = QSystemTrayIcon.isSystemTrayAvailable,
        now: Callable[[], float] = time.time,
    ):
        super().__init__()
        self._status = status
        self._listen = listen
        self._actions = actions
        self._make_icon = make_icon
        self._is_there = is_there
        self._now = now
        self._icon: Any = None
        self._menu: TrayMenu | None = None
        self._look: TrayLook | None = None
        self._drawn_at = float("-inf")
        self._started_at = 0.0
        self._unlisten: Callable[[], None] = lambda: None
        self._poll = QTimer(self, interval=POLL_MS)
        self._poll.timeout.connect(self._look_for_tray)
        self._redraw = QTimer(self, singleShot=True)
        self._redraw.timeout.connect(self.refresh)

    @property
    def available(self) -> bool:
        """Whether the icon is in a tray now, so that a person can find a hidden window again."""
        return self._icon is not None and self._is_there()

    @property
    def waits_to_redraw(self) -> bool:
        """Whether figures have changed that are shown with the next redraw, within REDRAW_S."""
        return self._redraw.isActive()

    def start(self) -> None:
        """Show the icon now, or as soon as the desktop has a tray."""
        self._started_at = time.monotonic()
        self._look_for_tray()
        if self._icon is None:
            log.info("there is no tray yet")
            self._poll.start()

    def refresh(self) -> None:
        """Show what is true now. Also after a change of language."""
        if self._icon is not None:
            self._redraw.stop()
            self._draw(tray_look(self._status(), self._now()))

    def message(self, title: str, text: str) -> bool:
        """Tell the person something by the system's notifications; whether that was possible."""
        if not self.available:
            return False
        assert self._look is not None
        self._icon.showMessage(title, text, tray_icon(self._look.icon, self._look.progress), MESSAGE_MS)
        return True

    def remove(self) -> None:
        """Take the icon away; before the app quits, else some desktops keep a dead one."""
        self._unlisten()
        self._unlisten = lambda: None
        self._poll.stop()
        self._redraw.stop()
        if self._icon is None or self._menu is None:
            return
        theme().changed.disconnect(self._recolour)
        self._icon.hide()
        self._icon.setContextMenu(None)
        # With its last reference the icon is gone from the tray, whatever becomes of the loop.
        self._icon = None
        self._menu.deleteLater()
        self._menu = None

    def _look_for_tray(self) -> None:
        if not self._is_there():
            if time.monotonic() - self._started_at > POLL_FOR_S:
                self._poll.setInterval(LATE_POLL_MS)
            return
        self._poll.stop()
        self._icon = self._make_icon()
        self._menu = TrayMenu(self._chosen)
        self._icon.setContextMenu(self._menu)
        self._icon.activated.connect(self._clicked)
        self._icon.messageClicked.connect(self._message_clicked)
        theme().changed.connect(self._recolour)
        self._unlisten = self._listen(self._changed)
        self.refresh()
        self._icon.show()
        self.appeared.emit()

    def _changed(self) -> None:
        look, shown = tray_look(self._status(), self._now()), self._look
        if look == shown:
            self._redraw.stop()
            return
        if shown is not None and look.icon is shown.icon and look.entries[1:] == shown.entries[1:]:
            wait = REDRAW_S - (self._now() - self._drawn_at)
            if 0 < wait <= REDRAW_S:
                if not self._redraw.isActive():
                    self._redraw.start(round(wait * 1000) + 1)
                return
        self._redraw.stop()
        self._draw(look)

    def _draw(self, look: TrayLook) -> None:
        shown, self._look = self._look, look
        self._drawn_at = self._now()
        assert self._menu is not None
        if shown is None or (look.icon, look.progress) != (shown.icon, shown.progress):
            self._icon.setIcon(tray_icon(look.icon, look.progress))
        if shown is None or look.tooltip != shown.tooltip:
            self._icon.setToolTip(look.tooltip)
        if shown is None or look.entries != shown.entries:
            self._menu.show_entries(look.entries)

    def _recolour(self) -> None:
        """The task bar may have changed its colour with the theme."""
        if self._icon is not None and self._look is not None:
            self._icon.setIcon(tray_icon(self._look.icon, self._look.progress))

    def _clicked(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        # On macOS a click opens the menu, by itself.
        if reason is QSystemTrayIcon.ActivationReason.Trigger and sys.platform != "darwin":
            self._actions.show(Window.DASHBOARD)

    def _message_clicked(self) -> None:
        self._actions.show(Window.DASHBOARD)

    def _chosen(self, entry: MenuEntry) -> None:
        match entry.choice:
            case Choice.JOIN:
                self._actions.join()
            case Choice.LEAVE:
                self._actions.leave()
            case Choice.RESUME:
                self._actions.resume()
            case Choice.PAUSE_15_MIN:
                self._actions.pause(QUARTER_HOUR_S)
            case Choice.PAUSE_1_HOUR:
                self._actions.pause(HOUR_S)
            case Choice.PAUSE:
                self._actions.pause(None)
            case Choice.QUIT:
                self._actions.quit()
            case Choice() as choice:
                self._actions.show(_WINDOWS[choice], about=entry.about)
            case None:
                pass


class TrayMenu(QMenu):
    """A menu made of entries. Where only their words changed it is not rebuilt, for it may be open."""

    def __init__(self, chosen: Callable[[MenuEntry], None]):
        super().__init__()
        self._tell_chosen = chosen
        self._entries: tuple[MenuEntry, ...] = ()
        self._submenus: list[TrayMenu] = []

    def show_entries(self, entries: tuple[MenuEntry, ...]) -> None:
        """Show these and no others."""
        if _shape(entries) != _shape(self._entries):
            self._rebuild(entries)
        self._entries = entries
        submenus = iter(self._submenus)
        for action, entry in zip(self.actions(), entries, strict=True):
            action.setEnabled(entry.enabled)
            if entry.text:
                action.setText(entry.text)
            if entry.entries:
                next(submenus).show_entries(entry.entries)

    def _rebuild(self, entries: tuple[MenuEntry, ...]) -> None:
        self.clear()
        for submenu in self._submenus:
            submenu.deleteLater()
        self._submenus.clear()
        for position, entry in enumerate(entries):
            if entry.entries:
                submenu = TrayMenu(self._tell_chosen)
                self._submenus.append(submenu)
                action = self.addMenu(submenu)
            elif entry.text:
                action = QAction(self)
                self.addAction(action)
                action.triggered.connect(lambda _checked=False, position=position: self._choose(position))
            else:
                action = self.addSeparator()
            # macOS would move what is called About or Settings elsewhere.
            action.setMenuRole(QAction.MenuRole.NoRole)

    def _choose(self, position: int) -> None:
        self._tell_chosen(self._entries[position])


def _shape(entries: tuple[MenuEntry, ...]) -> tuple[object, ...]:
    """Which kind of line stands where."""
    return tuple((bool(entry.text), entry.choice, _shape(entry.entries)) for entry in entries)
