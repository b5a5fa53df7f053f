"""A meshdesk that does nothing but remember what it was told, served at the app's or a node's place."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from meshdesk.volunteer.control_places import Place
from meshdesk.volunteer.control_protocol import NotPossible
from meshdesk.volunteer.control_server import ControlServer
from meshdesk.volunteer.status import Phase, Status


class StandInControlled:
    """``told`` lists the calls; set ``refuses`` to have each of them refused with that sentence."""

    def __init__(self, status: Status | None = None) -> None:
        self.now = status or Status()
        self.told: list[Any] = []
        self.refuses = ""
        self.log_items: list[dict[str, Any]] = []
        self.hop_items: list[dict[str, Any]] = []
        self.findings: list[dict[str, Any]] = []
        self.changed = asyncio.Event()
        self.watch_ended = asyncio.Event()

    def status(self) -> dict[str, Any]:
        return self.now.to_fields()

    async def watch(self) -> AsyncIterator[dict[str, Any]]:
        try:
            while True:
                self.changed.clear()
                yield self.now.to_fields()
                await self.changed.wait()
        finally:
            self.watch_ended.set()

    async def join(self) -> None:
        self._tell("join")
        self.now = replace(self.now, phase=Phase.STARTING)

    async def leave(self) -> None:
        self._tell("leave")
        self.now = replace(self.now, phase=Phase.LEAVING)

    async def pause(self, seconds: float | None) -> None:
        self._tell(("pause", seconds))
        self.now = replace(self.now, phase=Phase.PAUSED)

    async def resume(self) -> None:
        self._tell("resume")

    async def quit(self) -> None:
        self._tell("quit")

    async def logs(self, follow: bool) -> AsyncIterator[dict[str, Any]]:
        for item in self.log_items:
            yield item
        if follow:
            await asyncio.Event().wait()

    async def hops(self, follow: bool) -> AsyncIterator[dict[str, Any]]:
        for item in self.hop_items:
            yield item
        if follow:
            await asyncio.Event().wait()

    async def doctor(self) -> list[dict[str, Any]]:
        return self.findings

    def show(self, window: str) -> None:
        self._tell(("show", window))

    def _tell(self, what: Any) -> None:
        if self.refuses:
            raise NotPossible(self.refuses)
        self.told.append(what)
        # Who watches is told in the loop's next turn, when the status has changed.
        self.changed.set()


@contextmanager
def served(place: Place, controlled: StandInControlled) -> Iterator[None]:
    """Serve in a thread of its own, so that a test may ask with plain blocking calls."""
    ready = threading.Event()
    failed: list[BaseException] = []
    stops: list[Callable[[], object]] = []

    async def serve() -> None:
        server = ControlServer(controlled, place)
        await server.start()
        stopped, loop = asyncio.Event(), asyncio.get_running_loop()
        stops.append(lambda: loop.call_soon_threadsafe(stopped.set))
        ready.set()
        try:
            await stopped.wait()
        finally:
            await server.close()

    def run() -> None:
        try:
            asyncio.run(serve())
        except BaseException as error:
            failed.append(error)
        finally:
            ready.set()

    thread = threading.Thread(target=run, name="served")
    thread.start()
    ready.wait(5)
    try:
        assert not failed, failed
        yield
    finally:
        for stop in stops:
            stop()
        thread.join(5)
    assert not failed, failed
