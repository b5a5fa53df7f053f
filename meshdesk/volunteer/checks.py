"""The doctor: every check, begun at once and told in a fixed order as each is done."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from dataclasses import dataclass

from meshdesk.volunteer.computer_checks import (
    check_disk,
    check_engine,
    check_gpu,
    check_memory,
    check_model,
    check_packages,
    check_python,
    check_qt,
    check_torch,
)
from meshdesk.volunteer.connection_checks import (
    check_clock,
    check_direct,
    check_network,
    check_port,
    check_proxy,
    check_relay,
    check_tracker,
    check_wsl,
)
from meshdesk.volunteer.finding import Finding, Verdict
from meshdesk.volunteer.network import gather_network
from meshdesk.volunteer.status import DirectFacts
from meshdesk.volunteer.wording import QT_TRANSLATE_NOOP

__all__ = ["Examined", "Finding", "Verdict", "check_computer", "check_connection", "check_everything"]


@dataclass(frozen=True, slots=True)
class Examined:
    """What to look at: base URLs, None where there is none; ``direct`` None where no node runs to know of it.

    ``host`` and ``port`` are for direct hops; ``port_is_ours``: the running node listens there.
    """

    tracker_url: str | None = None
    relay_url: str | None = None
    host: str = "0.0.0.0"
    port: int = 0
    port_is_ours: bool = False
    direct: DirectFacts | None = None


async def check_everything(
    tracker_url: str | None = None,
    relay_url: str | None = None,
    *,
    host: str = "0.0.0.0",
    port: int = 0,
    port_is_ours: bool = False,
    direct: DirectFacts | None = None,
    connection_first: bool = False,
) -> AsyncGenerator[Finding, None]:
    """All findings, of the computer and of its connection; at worst about a minute, for a torch that hangs."""
    examined = Examined(tracker_url, relay_url, host, port, port_is_ours, direct)
    groups = [check_computer(), check_connection(examined)]
    if connection_first:
        groups.reverse()
    for group in groups:
        async with contextlib.aclosing(group) as findings:
            async for finding in findings:
                yield finding


async def check_computer() -> AsyncGenerator[Finding, None]:
    """Programs, model, memory, disk and graphics cards."""
    in_threads = (
        check_python,
        check_packages,
        check_qt,
        check_engine,
        check_model,
        check_memory,
        check_disk,
        check_gpu,
    )
    work: list[Awaitable[Iterable[Finding | None]]] = [_in_thread(check) for check in in_threads]
    # Torch last: it takes seconds, and all else need not wait for it.
    work.append(_one(check_torch()))
    async with contextlib.aclosing(_as_they_come(work)) as findings:
        async for finding in findings:
            yield finding


async def check_connection(examined: Examined) -> AsyncGenerator[Finding, None]:
    """Tracker, relay, clock, addresses, WSL, proxy, port, and how peers reach this computer."""
    work: list[Awaitable[Iterable[Finding | None]]] = []
    if examined.tracker_url is not None:
        work.append(_tracker_and_clock(examined.tracker_url))
    if examined.relay_url is not None:
        work.append(_one(check_relay(examined.relay_url)))
    work.append(_one(check_port(examined.host, examined.port, ours=examined.port_is_ours)))
    work.append(_network(examined))
    async with contextlib.aclosing(_as_they_come(work)) as findings:
        async for finding in findings:
            yield finding


async def _as_they_come(work: list[Awaitable[Iterable[Finding | None]]]) -> AsyncGenerator[Finding, None]:
    """Run all of ``work`` at once; its findings in its order, each as soon as those before it are told."""
    tasks = [asyncio.ensure_future(each) for each in work]
    try:
        for task in tasks:
            try:
                found = await task
            except Exception as error:
                # One check that fails must not hide what the others found.
                found = [_failed(error)]
            for finding in found:
                if finding is not None:
                    yield finding
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _tracker_and_clock(url: str) -> Iterable[Finding | None]:
    tracker, skew_s = await check_tracker(url)
    return tracker, check_clock(skew_s)


async def _network(examined: Examined) -> Iterable[Finding | None]:
    facts = await gather_network(examined.tracker_url)
    has_relay = examined.relay_url is not None
    return (
        check_network(facts),
        check_wsl(facts),
        check_proxy(facts),
        check_direct(facts, examined.direct, has_relay=has_relay),
    )


async def _in_thread(check: Callable[[], Finding]) -> Iterable[Finding | None]:
    return (await asyncio.to_thread(check),)


async def _one(check: Awaitable[Finding]) -> Iterable[Finding | None]:
    return (await check,)


def _failed(error: Exception) -> Finding:
    found = QT_TRANSLATE_NOOP("Checks", "a check failed: {reason}").format(reason=f"{type(error).__name__}: {error}")
    return Finding(QT_TRANSLATE_NOOP("Checks", "doctor"), Verdict.WARNING, found)
