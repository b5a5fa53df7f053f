"""What failed lately and is better left alone for a while: endpoints nobody answers at, nodes that failed a chat."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

MAX_REMEMBERED = 4096


class Avoided:
    """Remembers names for ``seconds`` each, with the reason; the newest ``MAX_REMEMBERED`` of them."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic):
        self._seconds = seconds
        self._clock = clock
        self._entries: OrderedDict[str, tuple[float, str]] = OrderedDict()

    def add(self, name: str, reason: str) -> None:
        self._entries[name] = (self._clock() + self._seconds, reason)
        self._entries.move_to_end(name)
        if len(self._entries) > MAX_REMEMBERED:
            self._entries.popitem(last=False)

    def forgive(self, name: str) -> None:
        """It works, or it came back: use it as any other."""
        self._entries.pop(name, None)

    def why(self, name: str) -> str | None:
        """Why ``name`` is to be avoided now, or None."""
        entry = self._entries.get(name)
        if entry is None:
            return None
        until, reason = entry
        if until <= self._clock():
            del self._entries[name]
            return None
        return reason
