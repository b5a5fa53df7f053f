"""The app: the parts of a volunteer's computer and their windows, from the first icon to the last goodbye."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication

from meshdesk import __version__
from meshdesk.desktop.actions import Window
from meshdesk.desktop.background import Background
from meshdesk.desktop.first_look import read_first_look
from meshdesk.desktop.language import install_language
from meshdesk.desktop.session_end import EarlySignals, SessionEnd
from meshdesk.desktop.shutdown import Shutdown, Stage
from meshdesk.desktop.start import StartOptions, process_started_at
from meshdesk.desktop.theme import theme
from meshdesk.desktop.tray import Tray
from meshdesk.volunteer.identity import data_root
from meshdesk.volunteer.log_setup import LogStream
from meshdesk.volunteer.status import Phase, Status

if TYPE_CHECKING:
    from meshdesk.desktop.parts import Parts

log = logging.getLogger(__name__)

DRAIN_S = 30.0
STOP_S = 15.0
SAVE_S = 5.0


class App:
    """Everything of one run. ``Actions`` for the windows: each call returns at once.

    The icon is there before the parts that take time to load; what a person asks for until then is done
    as soon as they are.
    """

    def __init__(self, qt: QApplication, options: StartOptions, logs: LogStream, early: EarlySignals):
        self._qt = qt
        self._options = options
        self._logs = logs
        self._early = early
        self.parts: Parts | None = None
        """What stands behind the icon; None until it is up."""
        self._waiting: list[Callable[[], None]] = []
        self._listeners: list[Callable[[], None]] = []
        self._background = Background()
        self._quit = asyncio.Event()
        self._shutdown: Shutdown | None = None
        look = read_first_look(data_root() / "settings.json")
        install_language(look.language)
        theme().choose(look.theme)  # type: ignore[arg-type]
        theme().install(qt)
        self._tray = Tray(self.status, self.listen, self)

    def status(self) -> Status:
        """The membership's status; off until there is a membership."""
        return self.parts.membership.status if self.parts is not None else Status(since=time.time())

    def listen(self, changed: Callable[[], None]) -> Callable[[], None]:
        self._listeners.append(changed)
        return lambda: self._listeners.remove(changed)

    async def run(self) -> int:
        """Until the person quits. The process's exit code."""
        session_end = SessionEnd(self._qt, self._session_ends)
        self._tray.start()
        # The icon is drawn in this turn of the loop, before the imports below take their part of a second.
        await asyncio.sleep(0)
        from meshdesk.desktop.parts import Parts

        parts = Parts(self, self._background, self._tray, self._logs)
        self._shutdown = Shutdown(self._stages(parts, session_end))
        try:
            await parts.open(self._options)
            parts.membership.listen(self._changed)
            self.parts = parts
            took = time.time() - await asyncio.to_thread(process_started_at)
            log.info("meshdesk %s is up, %.2f s after its start", __version__, took)
            for action in self._waiting:
                action()
            self._waiting.clear()
            self._changed()
            if self._early.came:
                self.quit()
            await self._quit.wait()
        finally:
            code = await self._shutdown.run()
        return code

    def join(self) -> None:
        self._when_up(lambda parts: parts.join())

    def leave(self) -> None:
        self._when_up(lambda parts: parts.membership.leave())

    def pause(self, seconds: float | None) -> None:
        self._when_up(lambda parts: parts.membership.pause(seconds))

    def resume(self) -> None:
        self._when_up(lambda parts: parts.membership.resume())

    def show(self, window: Window, *, about: str = "") -> None:
        self._when_up(lambda parts: parts.windows.show(window, about))

    def quit(self) -> None:
        if self._quit.is_set() and self._shutdown is not None:
            self._shutdown.hurry()
        self._quit.set()

    def _when_up(self, action: Callable[[Parts], None]) -> None:
        if self._quit.is_set():
            return
        if self.parts is not None:
            action(self.parts)
        else:
            self._waiting.append(lambda: self._when_up(action))

    def _session_ends(self, hurry: bool) -> None:
        self.quit()
        if hurry and self._shutdown is not None:
            self._shutdown.hurry()

    def _changed(self) -> None:
        for listener in list(self._listeners):
            listener()

    def _stages(self, parts: Parts, session_end: SessionEnd) -> list[Stage]:
        """In this order: nothing new comes in, chats end, the node and its child go, what is known is kept."""

        async def stop_accepting() -> None:
            session_end.close()
            await parts.close_doors()

        async def drain() -> None:
            if self.parts is not None and parts.membership.status.phase in (Phase.SERVING, Phase.LEAVING):
                await parts.membership.leave_and_wait()

        async def remove_icon() -> None:
            parts.close_windows()
            self._tray.remove()

        return [
            Stage("closing the doors", stop_accepting, SAVE_S),
            Stage("waiting for chats", drain, DRAIN_S, skippable=True),
            Stage("stopping background work", self._background.close, SAVE_S),
            Stage("stopping the node", parts.close_engine, STOP_S),
            # A field that is still being edited is kept when its window closes, so the windows go first.
            Stage("removing windows and icon", remove_icon, SAVE_S),
            Stage("keeping settings and records", parts.save, SAVE_S),
        ]
