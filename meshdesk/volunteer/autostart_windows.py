"""Starting with Windows: a value of the person's Run key, and what the Task Manager says of it.

Windows never deletes the value when a person switches an app off there; it notes that elsewhere, as
bytes of which the first is odd for off.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Protocol

RUN = r"Software\Microsoft\Windows\CurrentVersion\Run"
APPROVED = r"Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run"
VALUE = "meshdesk"


class Registry(Protocol):
    """The person's own part of the registry. Raises OSError."""

    def read(self, key: str, value: str) -> str | bytes | None:
        """None if there is no such value."""

    def write(self, key: str, value: str, content: str) -> None: ...

    def delete(self, key: str, value: str) -> None:
        """Nothing happens if there is no such value."""


class RunKey:
    """The app's value of the Run key in ``registry``."""

    def __init__(self, registry: Registry):
        self._registry = registry

    def exists(self) -> bool:
        if not self._registry.read(RUN, VALUE):
            return False
        approved = self._registry.read(APPROVED, VALUE)
        return not (isinstance(approved, bytes) and approved and approved[0] & 1)

    def write(self, command: list[str]) -> None:
        self._registry.write(RUN, VALUE, subprocess.list2cmdline(command))
        # What was switched off in the Task Manager stays off until this note is gone.
        self._registry.delete(APPROVED, VALUE)

    def remove(self) -> None:
        self._registry.delete(RUN, VALUE)
        self._registry.delete(APPROVED, VALUE)


if sys.platform == "win32":
    import contextlib
    import winreg

    class WindowsRegistry:
        """HKEY_CURRENT_USER of this computer."""

        def read(self, key: str, value: str) -> str | bytes | None:
            try:
                with winreg.OpenKey(winreg.HKEY_CURRENT_USER, key) as opened:
                    content = winreg.QueryValueEx(opened, value)[0]
            except FileNotFoundError:
                return None
            return content if isinstance(content, str | bytes) else None

        def write(self, key: str, value: str, content: str) -> None:
            with winreg.CreateKeyEx(winreg.HKEY_CURRENT_USER, key, 0, winreg.KEY_SET_VALUE) as opened:
                winreg.SetValueEx(opened, value, 0, winreg.REG_SZ, content)

        def delete(self, key: str, value: str) -> None:
            with (
                contextlib.suppress(FileNotFoundError),
                winreg.OpenKey(winreg.HKEY_CURRENT_USER, key, 0, winreg.KEY_SET_VALUE) as opened,
            ):
                winreg.DeleteValue(opened, value)
