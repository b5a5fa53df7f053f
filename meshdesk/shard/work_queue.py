"""What waits for a child's compute thread: forwards in the order they came, and closings ahead of them."""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass, field

from meshdesk.shard.spec import ForwardWork

MAX_WAITING = 256


@dataclass(frozen=True, slots=True)
class Waiting:
    """A forward with the number its answer goes by, and when it came (``time.perf_counter`` seconds)."""

    number: int
    work: ForwardWork
    came_at: float = field(default_factory=time.perf_counter)


@dataclass(frozen=True, slots=True)
class Closing:
    """A session to forget, with the number the answer goes by."""

    number: int
    session: str


class WorkQueue:
    """Shared by the thread that reads orders and the one that computes."""

    def __init__(self, capacity: int = MAX_WAITING) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[Waiting] = deque()
        self._closing: deque[Closing] = deque()
        self._capacity = capacity

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, waiting: Waiting) -> bool:
        """Append a forward; False, and nothing is taken, if the queue is full."""
        with self._changed:
            if len(self._waiting) >= self._capacity:
                return False
            self._waiting.append(waiting)
            self._changed.notify()
            return True

    def cancel(self, number: int) -> bool:
        """Take back a forward that has not been taken yet; False if it is gone already."""
        with self._changed:
            for waiting in self._waiting:
                if waiting.number == number:
                    self._waiting.remove(waiting)
                    return True
            return False

    def close(self, closing: Closing) -> list[int]:
        """Ask for a session to be forgotten, and take back its waiting forwards: their numbers."""
        with self._changed:
            dropped = [waiting.number for waiting in self._waiting if waiting.work.session == closing.session]
            self._waiting = deque(item for item in self._waiting if item.work.session != closing.session)
            self._closing.append(closing)
            self._changed.notify()
            return dropped

    def take(self, timeout: float | None) -> Waiting | Closing | None:
        """The next thing to do, closings first; None if nothing came for ``timeout`` seconds."""
        with self._changed:
            if not self._closing and not self._waiting:
                self._changed.wait(timeout)
            if self._closing:
                return self._closing.popleft()
            return self._waiting.popleft() if self._waiting else None
