"""Run one role until it is told to stop or fails: signals, the deadline of the stop, and the exit code."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any

from meshdesk.commands.output import Output
from meshdesk.protocol.errors import MeshdeskError

log = logging.getLogger(__name__)

STOP_S = 12.0
"""How long a role may take to stop before it is ended all the same."""
EXIT_FORCED = 70


def run_role(
    role: str,
    serve: Callable[[Output], Coroutine[Any, Any, None]],
    *,
    json_lines: bool,
) -> None:
    """Run ``serve`` until it ends or a signal stops it, which is a success. Raises what it fails with."""
    output = Output(role, json_lines)
    try:
        asyncio.run(run_until_stopped(serve(output)))
    except MeshdeskError as error:
        output.failed(error)
        raise
    finally:
        output.close()


async def run_until_stopped(work: Coroutine[Any, Any, None]) -> signal.Signals | None:
    """Run ``work``; SIGINT or SIGTERM cancels it, and it then has STOP_S to clean up. A second one ends at once.

    Gives the signal that stopped it, or None if it ended by itself; raises what it raises.
    """
    loop = asyncio.get_running_loop()
    task = loop.create_task(work, name="role")
    stopped_by: list[signal.Signals] = []

    def stop(number: signal.Signals) -> None:
        if stopped_by:
            os._exit(128 + number)
        stopped_by.append(number)
        task.cancel()
        loop.call_later(STOP_S, _give_up)

    with _signals(loop, stop):
        try:
            await task
        except asyncio.CancelledError:
            if not stopped_by:
                raise
    return stopped_by[0] if stopped_by else None


async def run_until_interrupted(work: Coroutine[Any, Any, None]) -> bool:
    """Run ``work``; every Ctrl-C cancels it once more. True if that ended it; raises what it raises.

    The handler runs in the loop, between two steps, and not between two bytecodes of whatever runs just then.
    """
    loop = asyncio.get_running_loop()
    task = loop.create_task(work, name="interruptible")
    interrupted = False

    def stop(_: signal.Signals) -> None:
        nonlocal interrupted
        interrupted = True
        task.cancel()

    with _signals(loop, stop, (signal.SIGINT,)):
        try:
            await task
        except asyncio.CancelledError:
            if not interrupted:
                raise
            return True
    return False


@contextlib.contextmanager
def _signals(
    loop: asyncio.AbstractEventLoop,
    stop: Callable[[signal.Signals], None],
    numbers: Sequence[signal.Signals] = (signal.SIGINT, signal.SIGTERM),
) -> Iterator[None]:
    try:
        for number in numbers:
            loop.add_signal_handler(number, stop, number)
    except NotImplementedError:
        # Windows: the handler runs between two bytecodes of the main thread, so it only wakes the loop.
        before = [
            signal.signal(number, lambda n, _: loop.call_soon_threadsafe(stop, signal.Signals(n))) for number in numbers
        ]
        try:
            yield
        finally:
            for number, handler in zip(numbers, before, strict=True):
                signal.signal(number, handler)
        return
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


def _give_up() -> None:
    log.error("stopping took more than %.0f s; ending now", STOP_S)
    os._exit(EXIT_FORCED)
