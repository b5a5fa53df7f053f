"""What every window of the app has: its icon, its keys, its place on the screen, and what closing it means."""

from __future__ import annotations

import logging
from collections.abc import Callable

from PySide6.QtCore import QByteArray, QEvent, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QHideEvent, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QWidget

from meshdesk.desktop.actions import Actions
from meshdesk.desktop.geometry_file import GeometryFile
from meshdesk.desktop.icons import app_icon

log = logging.getLogger(__name__)


class DeskWindow(QWidget):
    """A top-level window. Closing hides it, for its content is kept; without a tray icon it is minimised instead.

    ``may_hide`` says whether there is a way back to a hidden window; set by the app for all windows.
    ``geometries`` remembers places; without one, a window opens where the system puts it.
    """

    may_hide: Callable[[], bool] = staticmethod(lambda: True)
    geometries: GeometryFile | None = None
    closed_to_tray: Callable[[], None] = staticmethod(lambda: None)
    """Called when a person closes a window that stays in the tray."""

    def __init__(self, name: str, title: str):
        super().__init__(None, Qt.WindowType.Window)
        self.name = name
        self.stays_reachable = False
        """Whether this window must not be lost where there is no tray: the dashboard."""
        self._for_good = False
        self._placed = False
        self.setObjectName(name)
        self.setProperty("role", "window")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.setWindowIcon(app_icon())
        for keys in (QKeySequence(Qt.Key.Key_Escape), QKeySequence(QKeySequence.StandardKey.Close), "Ctrl+W"):
            shortcut = QShortcut(QKeySequence(keys), self)
            shortcut.activated.connect(self.close)
            shortcut.activatedAmbiguously.connect(self.close)

    def set_actions(self, actions: Actions) -> None:
        """Let Ctrl+Q end the app from this window."""
        shortcut = QShortcut(QKeySequence("Ctrl+Q"), self)
        shortcut.activated.connect(actions.quit)

    def shown(self) -> None:
        """The window became visible: start timers, read what has changed. For subclasses."""

    def hidden(self) -> None:
        """The window is no longer visible: stop timers. For subclasses."""

    def show_and_raise(self) -> None:
        """Bring the window before the person, wherever it was."""
        self._place()
        if self.isMinimized():
            self.showNormal()
        self.show()
        self.raise_()
        self.activateWindow()

    def close_for_good(self) -> None:
        """The app ends, or the window is not needed again."""
        self._for_good = True
        self.close()
        self.deleteLater()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._place()
        self._visibility()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._remember()
        self._visibility()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.WindowStateChange:
            # A minimised window is as good as hidden: nobody sees what it paints.
            QTimer.singleShot(0, self, self._visibility)

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._for_good:
            event.accept()
            return
        if self.stays_reachable and not self.may_hide():
            event.ignore()
            self.showMinimized()
            return
        event.accept()
        if self.stays_reachable:
            self.closed_to_tray()

    _was_visible = False

    def _visibility(self) -> None:
        visible = self.isVisible() and not self.isMinimized()
        if visible == self._was_visible:
            return
        self._was_visible = visible
        if visible:
            self.shown()
        else:
            self.hidden()

    def _place(self) -> None:
        """Once: where it was last time, unless that screen is gone."""
        if self._placed or self.geometries is None:
            return
        self._placed = True
        kept = self.geometries.get(self.name)
        if kept is not None:
            # Qt itself moves a window back that would lie outside every screen.
            self.restoreGeometry(QByteArray.fromBase64(QByteArray(kept.encode())))

    def _remember(self) -> None:
        if self.geometries is not None and not self.isMinimized():
            kept = self.saveGeometry().toBase64().data()
            self.geometries.put(self.name, bytes(kept).decode())
