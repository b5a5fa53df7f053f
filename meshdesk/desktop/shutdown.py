"""The end of the app, in stages, whatever state it is in: nothing new, chats drained, node, records, log, icon.

Every stage has a deadline and its own faults: one that fails or hangs is logged and the next one runs all
the same. A person who asks a second time does not want to wait for chats.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

log = logging.getLogger(__name__)

MAX_DEPTH = 20
"""So many places say where a stage hangs."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of the end. ``deadline_s`` is how long it may take; ``skippable`` in a hurry."""

    name: str
    work: Callable[[], Awaitable[None]]
    deadline_s: float
    skippable: bool = False


class Shutdown:
    """Runs the stages in order, once. ``hurry`` may be called at any time, also before ``run``."""

    def __init__(self, stages: list[Stage]):
        self._stages = stages
        self._hurried = asyncio.Event()
        self.failed: list[str] = []
        """Names of the stages that failed or were too slow."""

    @property
    def hurried(self) -> bool:
        return self._hurried.is_set()

    def hurry(self) -> None:
        """Cut short what can be cut short: the session ends, or the person asked again."""
        self._hurried.set()

    async def run(self) -> int:
        """Go through all stages; 0 if every one did its work, else 1."""
        for stage in self._stages:
            await self._run(stage)
        return 1 if self.failed else 0

    async def _run(self, stage: Stage) -> None:
        if stage.skippable and self.hurried:
            return
        log.debug("ending: %s", stage.name)
        work = asyncio.ensure_future(stage.work())
        waits: set[asyncio.Future[Any]] = {work}
        hurried = asyncio.ensure_future(self._hurried.wait())
        if stage.skippable:
            waits.add(hurried)
        try:
            await asyncio.wait(waits, timeout=stage.deadline_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            hurried.cancel()
            late = not work.done()
            if late:
                where = awaiting(work)
                work.cancel()
            await asyncio.gather(work, hurried, return_exceptions=True)
        if late:
            if not (stage.skippable and self.hurried):
                self._failed(stage, f"it took more than {stage.deadline_s:g} s; it waited at {where}")
        elif not work.cancelled() and (error := work.exception()) is not None:
            self._failed(stage, str(error) or type(error).__name__, error)

    def _failed(self, stage: Stage, reason: str, error: BaseException | None = None) -> None:
        self.failed.append(stage.name)
        log.error("ending: %s: %s", stage.name, reason, exc_info=error)


def awaiting(task: asyncio.Future[Any]) -> str:
    """Where a task stands, from its own coroutine down to what it waits for: what a log of a hang has to say."""
    places: list[str] = []
    waited: asyncio.Future[Any] | None = task
    while isinstance(waited, asyncio.Task) and len(places) < MAX_DEPTH:
        inner: Any = waited.get_coro()
        while (frame := getattr(inner, "cr_frame", None)) is not None:
            places.append(f"{frame.f_code.co_qualname} ({Path(frame.f_code.co_filename).name}:{frame.f_lineno})")
            inner = inner.cr_await
        waited = getattr(waited, "_fut_waiter", None)
        # A gathering waits for the first of its tasks that is not done.
        children = getattr(waited, "_children", ())
        waited = next((child for child in children if not child.done()), waited)
    return " → ".join(places) or "its beginning"
