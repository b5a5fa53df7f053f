"""Starting with the computer: what the system really has, and the one switch for it.

Off until the person turns it on, and touched by nothing else: no start and no upgrade makes an entry anew.
What counts is the system's own record, which the person may change elsewhere; nothing is remembered here.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from meshdesk.protocol.errors import MeshdeskError
from meshdesk.volunteer.wording import QT_TRANSLATE_NOOP, Words

LAUNCHER_VARIABLE = "MESHDESK_LAUNCHER"
"""Set by an installed app's own starter to its path, which stays the same over upgrades."""
BACKGROUND = "--background"

_NOT_KNOWN = QT_TRANSLATE_NOOP("Autostart", "It is not known whether meshdesk starts with the computer ({reason}).")
_NOT_TAKEN = QT_TRANSLATE_NOOP("Autostart", "The system did not take the change ({reason}).")
_ELSEWHERE = QT_TRANSLATE_NOOP("Autostart", "Use your system's own settings for starting apps.")


class AutostartRefused(MeshdeskError):
    """The system did not take the change; it is as it was."""

    code = "autostart_refused"


class AutostartEntry(Protocol):
    """The place where one kind of system keeps what it starts. All calls block, and raise OSError."""

    def exists(self) -> bool:
        """Whether the system will start the app: an entry that is switched off does not count."""

    def write(self, command: list[str]) -> None: ...

    def remove(self) -> None: ...


class Autostart:
    """The switch. Both calls block for a moment; use them off the loop."""

    def __init__(self, entry: AutostartEntry | None = None, command: list[str] | None = None):
        self._entry = entry or entry_of_this_system()
        self._command = command

    def state(self) -> bool:
        """Whether the system starts the app when this person logs in. Raises AutostartRefused if it does not say."""
        try:
            return self._entry.exists()
        except OSError as error:
            raise _refused(_NOT_KNOWN, error) from error

    def set(self, on: bool) -> bool:
        """Turn it on or off; gives what the system has then. Raises AutostartRefused."""
        try:
            if on:
                self._entry.write(self._command or start_command())
            else:
                self._entry.remove()
            return self._entry.exists()
        except OSError as error:
            raise _refused(_NOT_TAKEN, error) from error


def start_command(environment: Mapping[str, str] = os.environ, interpreter: str = sys.executable) -> list[str]:
    """What starts the app in the tray: the installed starter, else the command ``meshdesk``, else this Python."""
    launcher = environment.get(LAUNCHER_VARIABLE, "")
    if launcher and Path(launcher).is_file():
        return [launcher, BACKGROUND]
    beside = Path(interpreter).parent
    command = shutil.which("meshdesk", path=str(beside))
    if command is not None and sys.platform != "win32":
        return [command, BACKGROUND]
    # The command would open a black window on Windows; this Python does not.
    windowless = beside / "pythonw.exe"
    return [str(windowless) if windowless.is_file() else interpreter, "-m", "meshdesk", BACKGROUND]


def entry_of_this_system() -> AutostartEntry:
    """Where this system keeps what it starts for this person."""
    if sys.platform == "win32":
        from meshdesk.volunteer.autostart_windows import RunKey, WindowsRegistry

        return RunKey(WindowsRegistry())
    if sys.platform == "darwin":
        from meshdesk.volunteer.autostart_macos import LaunchAgent

        return LaunchAgent(Path.home() / "Library" / "LaunchAgents")
    from meshdesk.volunteer.autostart_xdg import XdgAutostart, config_home

    return XdgAutostart(config_home())


def _refused(what: Words, error: OSError) -> AutostartRefused:
    return AutostartRefused(what.format(reason=error.strerror or str(error)), hint=_ELSEWHERE)
