"""What a shard process tells its owner while it lives: frozen records, handed to one callback."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["stopped", "starting", "ready", "restarting", "failed"]
Phase = Literal["importing", "reading", "warming", "ready"]


@dataclass(frozen=True, slots=True)
class ShardStateChanged:
    """The shard's process went into ``state``; ``retry_in_s`` is set while it waits to start again."""

    state: State
    reason: str = ""
    retry_in_s: float | None = None


@dataclass(frozen=True, slots=True)
class ShardLoading:
    """How far a starting child is. ``bytes_done`` of ``bytes_total`` octets of weights are mapped or read."""

    phase: Phase
    bytes_done: int = 0
    bytes_total: int = 0


ShardEvent = ShardStateChanged | ShardLoading
