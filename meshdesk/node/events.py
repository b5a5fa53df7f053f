"""What a node tells whoever listens: frozen records, and the bus that carries them.

The engine publishes, windows and logs subscribe. A subscriber that cannot keep up loses its oldest
events and is told how many, so a hidden or stuck window never holds up a token.
"""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeVar

from meshdesk.protocol.routes import Hop


class Way(StrEnum):
    """How an activation travelled."""

    LOCAL = "local"
    RELAY = "relay"
    DIRECT = "direct"
    DIRECT_AFTER_RELAY = "direct-after-relay"


class NodeState(StrEnum):
    """What the node is doing, as a volunteer would say it."""

    OFF = "off"
    STARTING = "starting"
    SERVING = "serving"
    ERROR = "error"
    STOPPING = "stopping"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Base of all events; ``at`` is Unix time in seconds."""

    at: float = field(default_factory=time.time)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeStateChanged(Event):
    state: NodeState
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardProgressed(Event):
    """The shard's child moved on: ``state`` as in ShardProcess, ``reason`` in words."""

    state: str
    reason: str = ""
    retry_in_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardLoadProgressed(Event):
    """How far the starting shard is; octets of weights."""

    phase: str
    bytes_done: int
    bytes_total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayConnected(Event):
    """The bridge is registered with ``relay``."""

    relay: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayLost(Event):
    """The bridge lost ``relay``; ``retry_in_s`` is None when it will not try again."""

    relay: str
    reason: str
    retry_in_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayMeasured(Event):
    """A round trip from the bridge to its relay and back."""

    relay: str
    ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayRequestServed(Event):
    """One request that came in by the relay, with its local answer's status."""

    method: str
    path: str
    status: int
    ms: float
    bytes_in: int
    bytes_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackerRegistered(Event):
    tracker: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackerLost(Event):
    tracker: str
    reason: str
    retry_in_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectProbed(Event):
    """The tracker tried to dial this node's endpoint. ``reachable`` None: it did not try; ``reason`` as it said."""

    endpoint: str
    reachable: bool | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatStarted(Event):
    """The head took a chat of ``prompt_tokens`` tokens over ``hops`` hops, itself included; ``route`` is downstream."""

    session: str
    prompt_tokens: int
    hops: int
    route: tuple[Hop, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatFinished(Event):
    """``finish_reason`` is stop, length, cancelled or error; ``error`` says why in the last case."""

    session: str
    tokens: int
    seconds: float
    finish_reason: str
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HopTimed(Event):
    """One activation went through one hop, as the head saw it.

    ``token_index`` counts generated tokens from 0 (the prefill that yields the first token is 0).
    ``total_ms`` is the hop as the head waited for it, ``compute_ms`` and ``queue_ms`` are what the
    node says it spent, and the rest is the network. Layers are half-open.
    """

    session: str
    token_index: int
    hop: int
    start_layer: int
    end_layer: int
    way: Way
    total_ms: float
    compute_ms: float
    queue_ms: float
    bytes_out: int
    bytes_in: int
    tokens: int = 1

    @property
    def network_ms(self) -> float:
        return max(0.0, self.total_ms - self.compute_ms - self.queue_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class HopFailed(Event):
    """A way of a hop failed; ``fallback`` says whether another way is tried for the same request."""

    session: str
    hop: int
    way: Way
    reason: str
    fallback: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HopWayChanged(Event):
    """A hop's activations now travel another way, and why."""

    session: str
    hop: int
    way: Way
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenSkipped(Event):
    """No way through: this token was not computed; the same position is tried again, up to a bound."""

    session: str
    position: int
    attempt: int
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionReplayed(Event):
    """A hop had lost part of the session's cache; the head sent ``tokens`` tokens again from ``position``."""

    session: str
    hop: int
    position: int
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardServed(Event):
    """The serving side's own view: this node computed one activation for somebody's session."""

    session: str
    position: int
    tokens: int
    compute_ms: float
    queue_ms: float
    bytes_in: int
    bytes_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardRefused(Event):
    session: str
    status: int
    code: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionClosed(Event):
    """The head said goodbye and this node freed the session's cache."""

    session: str


def to_json(event: Event) -> dict[str, Any]:
    """An event as JSON fields, its class name under ``event``."""
    return {"event": type(event).__name__, **dataclasses.asdict(event)}


E = TypeVar("E", bound=Event)


class Subscription:
    """One listener's bounded view of the bus; iterate it, or drain it with ``take``."""

    def __init__(self, capacity: int):
        self._events: deque[Event] = deque(maxlen=capacity)
        self._arrived = asyncio.Event()
        self.dropped = 0

    def _put(self, event: Event) -> None:
        if len(self._events) == self._events.maxlen:
            self.dropped += 1
        self._events.append(event)
        self._arrived.set()

    def take(self) -> list[Event]:
        """All that has come since the last call, oldest first, without waiting."""
        events = list(self._events)
        self._events.clear()
        self._arrived.clear()
        return events

    async def __aiter__(self) -> AsyncIterator[Event]:
        while True:
            await self._arrived.wait()
            for event in self.take():
                yield event

    async def wait_for(self, kind: type[E], where: Callable[[E], bool] = lambda _: True) -> E:
        """The next event of ``kind`` for which ``where`` holds; earlier ones are passed over."""
        async for event in self:
            if isinstance(event, kind) and where(event):
                return event
        raise AssertionError("unreachable: the iteration above only ends by cancellation")


class EventBus:
    """Hands each published event to every subscriber; publishing never waits and never fails."""

    def __init__(self) -> None:
        self._subscriptions: list[Subscription] = []

    def publish(self, event: Event) -> None:
        for subscription in self._subscriptions:
            subscription._put(event)

    @contextmanager
    def subscribe(self, capacity: int = 10_000) -> Iterator[Subscription]:
        """A subscription that lasts as long as the ``with`` block."""
        subscription = Subscription(capacity)
        self._subscriptions.append(subscription)
        try:
            yield subscription
        finally:
            self._subscriptions.remove(subscription)
