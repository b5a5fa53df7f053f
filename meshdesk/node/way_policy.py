"""Which way a seam takes: relay first, direct when the relay fails, back when it works again.

Pure rules without sockets. After a failure the relay is left alone for a back-off with full jitter, so a
dead relay costs one failed try and one warning per outage, not one per token.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from meshdesk.node.events import Way

FIRST_BACKOFF_S = 1.0
MAX_BACKOFF_S = 30.0


class WayPolicy:
    """The state of one seam's two ways. At least one of them exists."""

    def __init__(
        self,
        *,
        has_relay: bool,
        has_direct: bool,
        clock: Callable[[], float] = time.monotonic,
        uniform: Callable[[float, float], float] = random.uniform,
    ):
        if not has_relay and not has_direct:
            raise ValueError("a seam needs a relay or a direct way")
        self._has_relay = has_relay
        self._has_direct = has_direct
        self._clock = clock
        self._uniform = uniform
        self._failures = 0
        self._retry_at = 0.0
        self.relay_failure: str | None = None
        """Why the relay is not used now; None while it works or has not been tried."""

    def ways(self) -> tuple[Way, ...]:
        """The ways to try for the next request, best first."""
        direct = Way.DIRECT_AFTER_RELAY if self._has_relay else Way.DIRECT
        if not self._has_relay:
            return (direct,)
        if not self._has_direct:
            return (Way.RELAY,)
        if self.relay_failure is not None and self._clock() < self._retry_at:
            # The relay stays the last resort: a failing direct way must not hide a relay that is back.
            return (direct, Way.RELAY)
        return (Way.RELAY, direct)

    def relay_failed(self, reason: str) -> bool:
        """Note a failure of the relay; True if it is the first of this outage, which deserves the warning."""
        first = self.relay_failure is None
        self.relay_failure = reason
        ceiling = min(MAX_BACKOFF_S, FIRST_BACKOFF_S * 2.0**self._failures)
        self._failures = min(self._failures + 1, 16)
        self._retry_at = self._clock() + self._uniform(ceiling / 2, ceiling)
        return first

    def relay_worked(self) -> bool:
        """Note that the relay carried a request; True if that ends an outage."""
        ended = self.relay_failure is not None
        self.relay_failure = None
        self._failures = 0
        return ended
