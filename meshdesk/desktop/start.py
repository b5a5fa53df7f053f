"""From ``meshdesk`` without a command to the running app: what is refused, who is first, and the loop."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Any

from meshdesk.protocol.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from PySide6.QtWidgets import QApplication

    from meshdesk.desktop.session_end import EarlySignals
    from meshdesk.volunteer.log_setup import LogStream

ORGANISATION = "meshdesk"
_BROKEN_BINDING = (6, 12)


@dataclass(frozen=True, slots=True)
class StartOptions:
    """``practice`` goes straight to a mesh on this computer; ``background`` shows the tray icon only."""

    practice: bool = False
    background: bool = False


class NoDesktop(UsageError):
    """The desktop app cannot run here; the headless node can."""

    code = "no_desktop"


def start_desktop(options: StartOptions) -> int:
    """Run the app until the person quits; the process's exit code. Raises NoDesktop, AlreadyRunning.

    If the app runs already, its window is raised and this ends with 0.
    """
    _check_binding(sys.version_info[:2])
    _check_screen()
    from meshdesk.volunteer.single_instance import SingleInstance

    with SingleInstance() as first:
        if not first.is_first:
            first.raise_the_other()
            return 0
        return _run(options)


def _run(options: StartOptions) -> int:
    from meshdesk.desktop.event_loop import run_app
    from meshdesk.desktop.logs.qt_messages import QtMessages
    from meshdesk.desktop.session_end import EarlySignals
    from meshdesk.volunteer.identity import data_root
    from meshdesk.volunteer.log_setup import LogStream

    early = EarlySignals()
    logs = LogStream.install(data_root() / "logs")
    messages = QtMessages()
    try:
        return run_app(*_application(options, logs, early))
    finally:
        messages.close()
        logs.close()


def _application(
    options: StartOptions, logs: LogStream, early: EarlySignals
) -> tuple[QApplication, Callable[[], Coroutine[Any, Any, int]]]:
    """Qt's application and the main coroutine on it."""
    from PySide6.QtWidgets import QApplication

    from meshdesk.desktop.app import App

    # Qt reads its own options from here; ours are not its business.
    qt = QApplication(sys.argv[:1])
    qt.setApplicationName("meshdesk")
    qt.setApplicationDisplayName("meshdesk")
    qt.setOrganizationName(ORGANISATION)
    qt.setDesktopFileName("meshdesk")
    return qt, App(qt, options, logs, early).run


def _check_binding(python: tuple[int, ...]) -> None:
    """Refuse the pair that aborts after some thousand calls, with what to do, before it does."""
    try:
        version = metadata.version("PySide6-Essentials")
        metadata.version("qasync")
    except metadata.PackageNotFoundError:
        raise NoDesktop(
            "The window's parts are not installed.",
            hint="pip install 'meshdesk[desktop]', or run a node without a window: meshdesk node --help",
        ) from None
    parts = tuple(int(part) for part in version.split(".")[:2])
    if python < (3, 12) and parts >= _BROKEN_BINDING:
        raise NoDesktop(
            f"PySide6 {version} does not work with Python {python[0]}.{python[1]}: it ends programs without a word.",
            hint="pip install 'PySide6-Essentials<6.12', or use Python 3.12.",
        )


def _check_screen() -> None:
    """On Linux Qt aborts the process where there is no screen; say so instead."""
    if sys.platform != "linux" or os.environ.get("QT_QPA_PLATFORM"):
        return
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise NoDesktop(
            "There is no screen to show a window on.", hint="Run a node without one: meshdesk node --tracker ADDRESS"
        )


def process_started_at() -> float:
    """When this process began, Unix seconds."""
    import psutil

    try:
        return float(psutil.Process().create_time())
    except psutil.Error:
        return time.time()
