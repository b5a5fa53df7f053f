"""The other ways a person or a system ends the app: signals, log-off, and the quit event of macOS.

All of them must come to the app's own quit. Qt's default would stop the event loop under running tasks.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QSessionManager
from PySide6.QtWidgets import QApplication


class EarlySignals:
    """Notes the signals that come before there is a loop to take them; raised in the middle of Qt they get lost."""

    def __init__(self) -> None:
        self.came = False
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, self._note)

    def _note(self, _: int, __: FrameType | None) -> None:
        self.came = True


class SessionEnd(QObject):
    """Calls ``quit_app(hurry)`` for each; ``hurry`` is True where the system does not wait. Undone by ``close``."""

    def __init__(self, app: QApplication, quit_app: Callable[[bool], None]):
        super().__init__()
        self._app = app
        self._quit_app = quit_app
        app.installEventFilter(self)
        app.commitDataRequest.connect(self._session_ends)
        self._signals: list[signal.Signals] = []
        if sys.platform != "win32":
            loop = asyncio.get_running_loop()
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                loop.add_signal_handler(number, quit_app, False)
                self._signals.append(number)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Takes the application's quit event for itself."""
        if watched is self._app and event.type() == QEvent.Type.Quit:
            self._quit_app(False)
            return True
        return False

    def close(self) -> None:
        self._app.removeEventFilter(self)
        self._app.commitDataRequest.disconnect(self._session_ends)
        loop = asyncio.get_running_loop()
        for number in self._signals:
            loop.remove_signal_handler(number)

    def _session_ends(self, manager: QSessionManager) -> None:
        # The system restores what it wants to restore by autostart; Qt's own restart would start a second one.
        manager.setRestartHint(QSessionManager.RestartHint.RestartNever)
        self._quit_app(True)
