"""The one doorway from windows to work that takes time: every task has an owner, and no fault is lost."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

log = logging.getLogger(__name__)


class Background:
    """Runs coroutines for windows on the app's loop until ``close``.

    What a task raises goes to ``on_error`` of its start, else to the log: a fault in one window must not
    end another, nor vanish.
    """

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closed = False

    def start(
        self, work: Coroutine[Any, Any, Any], name: str, on_error: Callable[[Exception], None] | None = None
    ) -> asyncio.Task[Any] | None:
        """Run ``work``; None, and it is not run, once closed. Cancel the task to give it up."""
        if self._closed:
            work.close()
            return None
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(lambda done: self._ended(done, on_error))
        return task

    def _ended(self, task: asyncio.Task[Any], on_error: Callable[[Exception], None] | None) -> None:
        self._tasks.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            return
        if on_error is not None and isinstance(error, Exception):
            on_error(error)
        else:
            log.error("%s failed", task.get_name(), exc_info=error)
        # Its frames hold windows, which must end in this thread; a worker thread may let go of the error last.
        error.__traceback__ = None

    async def close(self) -> None:
        """Cancel what runs and wait for it; nothing can be started any more."""
        self._closed = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
