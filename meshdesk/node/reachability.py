"""Addresses that did not answer lately: asked once, then left alone for a while.

Nodes behind WSL2 or CGNAT may name an address that nobody can reach. Dialling it costs a whole
connect timeout, which must be paid once and not once per token.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

REMEMBER_S = 60.0
REMEMBER_RELAY_S = 10.0
"""A relay is public and somebody watches it, so a dead one is asked again sooner than a private address."""

MAX_ADDRESSES = 1024


class UnreachableAddresses:
    """Remembers failed dials for ``remember_s`` seconds, the newest ``MAX_ADDRESSES`` of them."""

    def __init__(self, remember_s: float = REMEMBER_S, clock: Callable[[], float] = time.monotonic):
        self._remember_s = remember_s
        self._clock = clock
        self._failed: OrderedDict[str, tuple[float, str]] = OrderedDict()

    def failed(self, address: str, reason: str) -> None:
        self._failed.pop(address, None)
        self._failed[address] = (self._clock() + self._remember_s, reason)
        while len(self._failed) > MAX_ADDRESSES:
            self._failed.popitem(last=False)

    def answered(self, address: str) -> None:
        self._failed.pop(address, None)

    def why(self, address: str) -> str | None:
        """Why ``address`` is not worth dialling now, or None if it may be dialled."""
        entry = self._failed.get(address)
        if entry is None:
            return None
        until, reason = entry
        if self._clock() >= until:
            del self._failed[address]
            return None
        return reason
