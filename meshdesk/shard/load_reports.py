"""How often a loading child speaks of its progress: a model has hundreds of tensors, a window needs a few looks."""

from __future__ import annotations

import time
from collections.abc import Callable

from meshdesk.shard.shard_events import Phase, ShardLoading

INTERVAL_S = 0.2
"""Least time between two reports of one phase; its first and its last always go out."""


class LoadReports:
    """Called with every step of a load, it passes on few of them. Safe to call from several threads in turn.

    ``clock`` is in seconds and only its differences matter.
    """

    def __init__(self, send: Callable[[ShardLoading], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._send = send
        self._clock = clock
        self._phase: Phase | None = None
        self._sent_at = 0.0

    def __call__(self, loading: ShardLoading) -> None:
        now = self._clock()
        last = 0 < loading.bytes_total <= loading.bytes_done
        if loading.phase == self._phase and not last and now - self._sent_at < INTERVAL_S:
            return
        self._phase = loading.phase
        self._sent_at = now
        self._send(loading)
