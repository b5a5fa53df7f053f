"""The switch for starting with the computer: it shows what the system has, not what was once chosen here."""

from __future__ import annotations

import asyncio
from typing import Any

from meshdesk.desktop.background import Background
from meshdesk.desktop.settings.failure_text import failure_text
from meshdesk.desktop.settings.setting_row import SettingRow
from meshdesk.volunteer.autostart import Autostart
from meshdesk.volunteer.settings_file import SettingsFile


class AutostartRow(SettingRow):
    """``reread`` whenever the person may have changed it elsewhere."""

    def __init__(self, file: SettingsFile, autostart: Autostart, background: Background):
        self._state = False
        self._work: asyncio.Task[Any] | None = None
        super().__init__("autostart", file)
        self._autostart = autostart
        self._background = background

    def value(self) -> bool:
        return self._state

    def reread(self) -> None:
        """Ask the system again, beside the loop; not while a change is under way."""
        if self._work is None or self._work.done():
            self._start(self._read())

    def stop(self) -> None:
        """Nobody looks any more. A change that is under way is still made."""
        if self._work is not None:
            self._work.cancel()

    def apply(self, value: Any) -> None:
        self._say("")
        self.control.setEnabled(False)
        if self._work is not None:
            self._work.cancel()
        self._start(self._set(bool(value)))

    def reset_to_default(self) -> None:
        self.apply(False)

    def _start(self, work: Any) -> None:
        self._work = self._background.start(work, "starting with the computer", self._failed)

    async def _read(self) -> None:
        self._take(await asyncio.to_thread(self._autostart.state))

    async def _set(self, on: bool) -> None:
        try:
            self._take(await asyncio.to_thread(self._autostart.set, on))
        finally:
            self.control.show_value(self._state)
            self._show_state()
        # Only a note of it, for reports; what counts is the system's own record.
        self._file.change(autostart=self._state)

    def _take(self, state: bool) -> None:
        self._state = state
        self._say("")
        self.control.show_value(state)
        self._show_state()

    def _failed(self, error: Exception) -> None:
        self._say(failure_text(error))
        self._show_state()
