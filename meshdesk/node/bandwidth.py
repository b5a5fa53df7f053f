"""A cap on the octets a node sends and receives for the mesh: who exceeds it waits, nobody is refused."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

BURST_S = 0.25
"""What may pass at once, in seconds of the cap: a token's activations shall not wait for an idle line."""


class BandwidthCap:
    """A leaky bucket over all sessions. ``bytes_per_s`` 0 lets everything through."""

    def __init__(self, bytes_per_s: int, clock: Callable[[], float] = time.monotonic):
        self._bytes_per_s = bytes_per_s
        self._clock = clock
        self._free_at = 0.0

    def take(self, octets: int) -> float:
        """Book ``octets``; the seconds to wait before they may pass."""
        if self._bytes_per_s <= 0:
            return 0.0
        now = self._clock()
        self._free_at = max(self._free_at, now) + octets / self._bytes_per_s
        return max(0.0, self._free_at - now - BURST_S)

    async def wait(self, octets: int) -> None:
        """Book ``octets`` and wait until they may pass."""
        delay = self.take(octets)
        if delay > 0:
            await asyncio.sleep(delay)
