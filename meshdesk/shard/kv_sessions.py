"""The KV caches of a shard's Route Sessions: found by id, rewound by position, bounded in octets.

The rules are here; the caches themselves are the library's ``DynamicCache`` behind a small protocol,
so nothing in this module needs torch. One thread owns an instance.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from meshdesk.shard.errors import KvBudgetFull, SessionBehind

SESSION_FLOOR_BYTES = 64 << 10
"""What a session costs at least: its objects, also while it holds a few tokens only."""

MAX_RETRY_AFTER_S = 30.0


class KvCache(Protocol):
    """What is needed of ``transformers.DynamicCache``."""

    @property
    def layers(self) -> Sequence[Any]: ...

    def crop(self, tokens_to_remove: int, /) -> None: ...


@dataclass(frozen=True, slots=True)
class KvCost:
    """Octets a session's cache takes: per token in unbounded layers, and per token and window in sliding ones."""

    bytes_per_token: int
    sliding: tuple[tuple[int, int], ...] = ()

    def nbytes(self, tokens: int, last: int) -> int:
        """Octets for ``tokens`` tokens, the ``last`` of which came in one forward that may yet be undone."""
        total = self.bytes_per_token * tokens
        for per_token, window in self.sliding:
            total += per_token * min(tokens, window - 1 + last)
        return max(total, SESSION_FLOOR_BYTES)

    @property
    def per_token(self) -> int:
        """Octets per token while every window still has room."""
        return self.bytes_per_token + sum(per_token for per_token, _ in self.sliding)


def measure_cost(cache: KvCache, tokens: int) -> KvCost:
    """The cost as it really is, from a cache that holds ``tokens`` tokens."""
    unbounded = 0
    windows: dict[int, int] = {}
    for layer in cache.layers:
        per_token = (layer.keys.nbytes + layer.values.nbytes) // tokens
        if layer.is_sliding:
            windows[layer.sliding_window] = windows.get(layer.sliding_window, 0) + per_token
        else:
            unbounded += per_token
    return KvCost(unbounded, tuple((per_token, window) for window, per_token in sorted(windows.items())))


@dataclass(slots=True)
class _Session:
    cache: Any
    used_at: float
    tokens: int = 0
    last: int = 0
    """Tokens of the newest forward: a full sliding window can be rewound by at most these."""
    cost: int = SESSION_FLOOR_BYTES


@dataclass(slots=True)
class KvSessions:
    """All sessions of one shard. ``clock`` is in seconds and only its differences matter."""

    new_cache: Callable[[], Any]
    cost: KvCost
    budget_bytes: int
    idle_seconds: float
    clock: Callable[[], float] = time.monotonic
    used_bytes: int = 0
    _sessions: dict[str, _Session] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._sessions)

    def have(self, session: str) -> int:
        """How many tokens of the session are held."""
        found = self._sessions.get(session)
        return found.tokens if found else 0

    def begin(self, session: str, position: int, tokens: int) -> Any:
        """The cache to run ``tokens`` more tokens on, holding exactly ``position`` tokens.

        Raises SessionBehind if it holds fewer, KvBudgetFull if there is no room; then nothing has
        changed but that an unrewindable session is gone. Follow up with ``commit`` or ``drop``.
        """
        self.expire()
        found = self._sessions.get(session)
        if found is not None and not self._can_rewind(found, position):
            self.drop(session)
            found = None
        have = found.tokens if found else 0
        if position > have:
            if found is not None:
                found.used_at = self.clock()
            raise SessionBehind(have)
        cost = self.cost.nbytes(position + tokens, tokens)
        others = self.used_bytes - (found.cost if found else 0)
        if others + cost > self.budget_bytes:
            raise self._full(cost)
        if found is None or position == 0:
            found = _Session(self.new_cache(), self.clock())
            self.drop(session)
            self._sessions[session] = found
        else:
            # With nothing to take back this still lets sliding windows forget what they kept for an undo.
            found.cache.crop(position - found.tokens)
            self.used_bytes -= found.cost
        found.tokens, found.last, found.cost = position, 0, cost
        found.used_at = self.clock()
        self.used_bytes += cost
        return found.cache

    def commit(self, session: str, tokens: int) -> None:
        """The forward that ``begin`` was called for has run: the cache now holds ``tokens`` more."""
        found = self._sessions[session]
        found.tokens += tokens
        found.last = tokens
        found.used_at = self.clock()

    def drop(self, session: str) -> bool:
        """Forget a session; False if there was none."""
        found = self._sessions.pop(session, None)
        if found is None:
            return False
        self.used_bytes -= found.cost
        return True

    def expire(self) -> list[str]:
        """Forget the sessions nobody used for ``idle_seconds``; their ids."""
        limit = self.clock() - self.idle_seconds
        # The order of the dict is that of creation, not of use, so all are looked at.
        gone = [session for session, found in self._sessions.items() if found.used_at <= limit]
        for session in gone:
            self.drop(session)
        return gone

    def next_expiry(self) -> float | None:
        """Seconds until the next session is due to be forgotten; None without sessions."""
        if not self._sessions:
            return None
        oldest = min(found.used_at for found in self._sessions.values())
        return max(0.0, oldest + self.idle_seconds - self.clock())

    def _can_rewind(self, found: _Session, position: int) -> bool:
        if position >= found.tokens or position == 0:
            return True
        windows = [window for _, window in self.cost.sliding]
        return found.tokens < min(windows, default=found.tokens + 1) or found.tokens - position <= found.last

    def _full(self, cost: int) -> KvBudgetFull:
        if cost > self.budget_bytes:
            return KvBudgetFull(
                f"The session needs {cost >> 20} MiB of KV cache, more than the {self.budget_bytes >> 20} MiB "
                "this node sets aside for all sessions.",
                hint="Use a shorter chat, or raise the node's KV budget.",
            )
        wait = self.next_expiry()
        return KvBudgetFull(
            f"The KV caches of {len(self)} sessions fill the {self.budget_bytes >> 20} MiB this node sets aside.",
            retry_after=min(MAX_RETRY_AFTER_S, max(1.0, wait if wait is not None else 1.0)),
        )
