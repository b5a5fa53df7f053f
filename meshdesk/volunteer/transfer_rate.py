"""How fast something that counts up goes, and how long it will take: smooth enough to read."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

WINDOW_S = 5.0
SETTLE_S = 0.5
"""Less time than this says nothing about a speed."""


class TransferRate:
    """Speed over the last WINDOW_S of ``note``d counts. A count that falls starts anew: another file or phase."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, window_s: float = WINDOW_S):
        self._clock = clock
        self._window_s = window_s
        self._seen: deque[tuple[float, int]] = deque()

    def note(self, count: int) -> None:
        now = self._clock()
        if self._seen and count < self._seen[-1][1]:
            self._seen.clear()
        self._seen.append((now, count))
        while len(self._seen) > 2 and now - self._seen[1][0] >= self._window_s:
            self._seen.popleft()

    def per_s(self) -> float | None:
        """Units a second; None while nobody can say."""
        if not self._seen:
            return None
        seconds = self._clock() - self._seen[0][0]
        if seconds < SETTLE_S:
            return None
        return (self._seen[-1][1] - self._seen[0][1]) / seconds

    def seconds_left(self, total: int) -> float | None:
        """Until ``total`` is reached at this speed; None while nobody can say."""
        speed = self.per_s()
        if not speed or not self._seen or total <= 0:
            return None
        return max(0.0, (total - self._seen[-1][1]) / speed)
