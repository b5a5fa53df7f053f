"""What is known of a running node, gathered from its events: the changing half of a Status. Pure but for its clock."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace

from meshdesk.node.events import (
    ChatFinished,
    ChatStarted,
    DirectProbed,
    Event,
    HopTimed,
    HopWayChanged,
    RelayConnected,
    RelayLost,
    RelayMeasured,
    ShardLoadProgressed,
    ShardProgressed,
    TrackerLost,
    TrackerRegistered,
    Way,
)
from meshdesk.protocol.routes import Hop
from meshdesk.volunteer.given_totals import GivenTotals
from meshdesk.volunteer.hop_history import HopHistory
from meshdesk.volunteer.status import LinkFacts, LinkState, Progress, RouteStop
from meshdesk.volunteer.transfer_rate import TransferRate

SPEED_WINDOW_S = 5.0
_LOADING = {"importing": "loading", "reading": "loading", "warming": "warming"}


class NodeFacts:
    """Fed with every event of one node's life; ``clock`` is Unix time in seconds."""

    def __init__(
        self, hops: HopHistory, totals: GivenTotals, relay: str, tracker: str, clock: Callable[[], float] = time.time
    ):
        self._hops = hops
        self._totals = totals
        self._clock = clock
        now = clock()
        self.relay = _connecting(relay, now)
        self.tracker = _connecting(tracker, now)
        self.probe: DirectProbed | None = None
        self.progress: Progress | None = None
        self.shard_down = ""
        """Why the shard's process is gone for the moment; "" while it is there."""
        self.route: tuple[Hop, ...] = ()
        """The downstream hops of the newest chat that this node headed."""
        self.headed_at: float | None = None
        self._ways: dict[int, Way] = {}
        self._seams: dict[int, tuple[float, float]] = {}
        """Network and compute ms of each hop's last token."""
        self._rate = TransferRate()
        self._computed: deque[tuple[float, int]] = deque(maxlen=4096)

    def apply(self, event: Event) -> None:
        """Take one event in."""
        self._hops.apply(event)
        tokens = self._totals.apply(event)
        if tokens:
            self._computed.append((event.at, tokens))
        match event:
            case RelayConnected():
                self.relay = _connected(self.relay, event.at)
            case RelayLost(reason=reason):
                self.relay = _lost(self.relay, event.at, reason)
            case RelayMeasured(ms=ms):
                self.relay = replace(self.relay, latency_ms=ms)
            case TrackerRegistered():
                self.tracker = _connected(self.tracker, event.at)
            case TrackerLost(reason=reason):
                self.tracker = _lost(self.tracker, event.at, reason)
            case DirectProbed():
                self.probe = event
            case ShardLoadProgressed(phase=phase, bytes_done=done, bytes_total=total):
                self._rate.note(done)
                self.progress = Progress(
                    _LOADING.get(phase, "loading"), "", done, total, self._rate.per_s(), self._rate.seconds_left(total)
                )
            case ShardProgressed(state=state, reason=reason):
                self.shard_down = reason or state if state in ("restarting", "failed") else ""
            case ChatStarted(route=route):
                self.route = route
                self._seams.clear()
                self._ways = {
                    index: Way.RELAY if hop.relay_addr else Way.DIRECT for index, hop in enumerate(route, start=1)
                }
            case ChatFinished():
                self.headed_at = event.at
            case HopTimed(hop=hop, way=way):
                self.headed_at = event.at
                self._seams[hop] = (event.network_ms, event.compute_ms)
                self._ways[hop] = way
            case HopWayChanged(hop=hop, way=way):
                self._ways[hop] = way

    def tokens_per_s(self) -> float | None:
        """Tokens computed here a second, lately; None where there are none."""
        now = self._clock()
        while self._computed and now - self._computed[0][0] > SPEED_WINDOW_S:
            self._computed.popleft()
        if not self._computed:
            return None
        # From the first of them, so that a chat that has just begun is not averaged with the silence before it.
        seconds = max(1.0, now - self._computed[0][0])
        return sum(count for _, count in self._computed) / seconds

    def with_timings(self, route: tuple[RouteStop, ...]) -> tuple[RouteStop, ...]:
        """A headed chat's route with each seam's way and last times."""
        timed = []
        for index, stop in enumerate(route):
            network, compute = self._seams.get(index, (None, None))
            way = self._ways.get(index, stop.way) if index else None
            timed.append(replace(stop, way=way, latency_ms=network if index else None, compute_ms=compute))
        return tuple(timed)


def _connecting(address: str, now: float) -> LinkFacts:
    return LinkFacts(address, LinkState.CONNECTING, now) if address else LinkFacts()


def _connected(link: LinkFacts, at: float) -> LinkFacts:
    again = link.reconnects + (link.state is LinkState.LOST)
    since = link.since if link.state is LinkState.CONNECTED else at
    return replace(link, state=LinkState.CONNECTED, since=since, reconnects=again, reason="")


def _lost(link: LinkFacts, at: float, reason: str) -> LinkFacts:
    """One that never stood is still connecting: "lost" would be wrong, and its reason is what counts."""
    if link.state is LinkState.CONNECTED:
        return replace(link, state=LinkState.LOST, since=at, latency_ms=None, reason=reason)
    return replace(link, reason=reason)
