"""Notices within two seconds that this computer slept, moved to another network, or had its clock set.

Connections that stood before are often dead then without a word from the network; whoever holds them
should dial anew and not wait for a timeout.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from meshdesk.volunteer.network import AddressKind, is_virtual, kind_of

log = logging.getLogger(__name__)

TICK_S = 1.5
GAP_S = 8.0
"""A tick so much too late is a sleep: a busy loop is late by less."""
JUMP_S = 3.0
"""So far from the other clocks, the wall clock was set; slewing by a time service is slower."""


class Change(StrEnum):
    """What happened to this computer."""

    ADDRESS = "address-changed"
    RESUMED = "resumed"
    CLOCK = "clock-jumped"


@dataclass(frozen=True, slots=True)
class Moment:
    """The clocks at one moment, seconds. ``boot`` counts sleep too; None where the system has no such clock."""

    monotonic: float
    wall: float
    boot: float | None = None


def read_clocks() -> Moment:
    boot = time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else None
    return Moment(time.monotonic(), time.time(), boot)


def what_happened(before: Moment, now: Moment, expected_s: float) -> Change | None:
    """Judge the clocks over a wait that should have taken ``expected_s``; pure."""
    ran = now.monotonic - before.monotonic
    if ran > expected_s + GAP_S:
        return Change.RESUMED
    if before.boot is not None and now.boot is not None and (now.boot - before.boot) - ran > JUMP_S:
        return Change.RESUMED
    apart = (now.wall - before.wall) - ran
    if abs(apart) <= JUMP_S:
        return None
    # Without a clock that counts sleep, a wall clock far ahead is a sleep more often than a hand at the clock.
    return Change.RESUMED if before.boot is None and apart > GAP_S else Change.CLOCK


def outward_addresses() -> frozenset[str]:
    """This computer's addresses by which others could be dialled, each with its interface. Blocks shortly."""
    import socket

    import psutil

    return frozenset(
        f"{interface} {entry.address}"
        for interface, entries in psutil.net_if_addrs().items()
        for entry in entries
        if entry.family in (socket.AF_INET, socket.AF_INET6) and _outward(interface, entry.address)
    )


@functools.lru_cache(maxsize=256)
def _outward(interface: str, address: str) -> bool:
    """Remembered, since taking an address apart costs more than all the rest of a look."""
    kind = kind_of(address)
    return not is_virtual(interface) and kind not in (AddressKind.LOOPBACK, AddressKind.LINK_LOCAL)


class AddressWatch:
    """Calls ``on_change`` on the loop with each Change, between ``start`` and ``close``.

    Clocks and addresses are injected for tests; ``addresses`` is called in a thread.
    """

    def __init__(
        self,
        on_change: Callable[[Change], None],
        *,
        clocks: Callable[[], Moment] = read_clocks,
        addresses: Callable[[], frozenset[str]] = outward_addresses,
        tick_s: float = TICK_S,
    ):
        self._on_change = on_change
        self._clocks = clocks
        self._addresses = addresses
        self._tick_s = tick_s
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._watch(self._clocks()), name="address watch")

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    async def _watch(self, before: Moment) -> None:
        addresses = await self._look()
        while True:
            await asyncio.sleep(self._tick_s)
            # From one reading to the next without a gap: a computer may fall asleep during a look as well.
            moment = self._clocks()
            change = what_happened(before, moment, self._tick_s)
            before = moment
            now = await self._look()
            if change is None and now is not None and addresses is not None and now != addresses:
                change = Change.ADDRESS
            addresses = now if now is not None else addresses
            if change is not None:
                self._tell(change)

    async def _look(self) -> frozenset[str] | None:
        """The addresses; None where they cannot be told just now."""
        import psutil

        try:
            return await asyncio.to_thread(self._addresses)
        except (OSError, ValueError, psutil.Error) as error:
            log.debug("the addresses cannot be looked at: %s", error)
            return None

    def _tell(self, change: Change) -> None:
        log.info("this computer: %s", change)
        try:
            self._on_change(change)
        except Exception:
            log.exception("what follows from %s failed", change)
