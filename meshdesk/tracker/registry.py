"""Who is in the mesh: registered nodes, kept alive by heartbeats, forgotten when they fall silent.

Pure: the clock is injected, and silence is noticed whenever the registry is asked, so it needs no timer.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from meshdesk.tracker.config import TrackerConfig
from meshdesk.tracker.registration import NodeRecord
from meshdesk.tracker.tracker_errors import TrackerFull, UnknownNode, WrongSecret

ROUTE_KEY_BYTES = 32


@dataclass(slots=True)
class Registered:
    """One live node. ``route_key`` signs the routes of chats that it heads; ``load`` is what it last reported."""

    record: NodeRecord
    secret_hash: bytes = field(repr=False)
    route_key: bytes = field(repr=False)
    source: str
    registered_at: float
    seen_at: float
    load: int = 0


class Registry:
    """The live nodes, the longest silent first. Not thread-safe."""

    def __init__(
        self,
        config: TrackerConfig | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        make_key: Callable[[], bytes] = lambda: secrets.token_bytes(ROUTE_KEY_BYTES),
    ):
        self._config = config or TrackerConfig()
        self._clock = clock
        self._make_key = make_key
        self._nodes: OrderedDict[str, Registered] = OrderedDict()
        self._sources: Counter[str] = Counter()
        self._absent: OrderedDict[str, tuple[float, bytes]] = OrderedDict()
        """Secrets of silent nodes, so that nobody takes their id meanwhile: until when, and the hash."""
        self.registrations = 0
        self.expired = 0
        self.left = 0

    def register(self, record: NodeRecord, secret: str, source: str = "") -> Registered:
        """Take the node, or take its newer word. ``source`` is the address it came from.

        WrongSecret if the id is another node's; TrackerFull at a limit. A node that is still known keeps its
        route key, so that a chat on its way there is not refused because it registered again.
        """
        now = self._expire()
        digest = _digest(secret)
        node_id = record.node_id
        known = self._nodes.get(node_id)
        owner = known.secret_hash if known is not None else self._absent.get(node_id, (0.0, digest))[1]
        if not hmac.compare_digest(owner, digest):
            raise WrongSecret(f"The node id {node_id} belongs to another node.", hint="Choose another node id.")
        if known is None or known.source != source:
            self._check_room(source, new=known is None)
        if known is not None:
            self._count(known.source, -1)
            known.record, known.source, known.seen_at = record, source, now
        else:
            self._absent.pop(node_id, None)
            known = self._nodes[node_id] = Registered(record, digest, self._make_key(), source, now, now)
        self._count(source, 1)
        self._nodes.move_to_end(node_id)
        self.registrations += 1
        return known

    def heartbeat(self, node_id: str, secret: str, load: int = 0) -> Registered:
        """Note a sign of life; UnknownNode if it must register again, WrongSecret if it is not the node's."""
        now = self._expire()
        node = self._owned(node_id, secret)
        node.seen_at, node.load = now, load
        self._nodes.move_to_end(node_id)
        return node

    def leave(self, node_id: str, secret: str) -> None:
        """Forget the node, its claim to the id included. Raises as ``heartbeat`` does."""
        self._expire()
        self._remove(self._owned(node_id, secret))
        self.left += 1

    def owned(self, node_id: str, secret: str) -> Registered:
        """The live node whose secret this is. Raises as ``heartbeat`` does, and is no sign of life."""
        self._expire()
        return self._owned(node_id, secret)

    def get(self, node_id: str) -> Registered | None:
        self._expire()
        return self._nodes.get(node_id)

    def live(self) -> list[Registered]:
        """The nodes that are alive now, the longest silent first."""
        self._expire()
        return list(self._nodes.values())

    def silent_s(self, node: Registered) -> float:
        """Seconds since the node's last sign of life."""
        return max(0.0, self._clock() - node.seen_at)

    def age_s(self, node: Registered) -> float:
        """Seconds since the node joined."""
        return max(0.0, self._clock() - node.registered_at)

    def _owned(self, node_id: str, secret: str) -> Registered:
        node = self._nodes.get(node_id)
        if node is None:
            raise UnknownNode("No such node is registered here (any more).", hint="Register it again.")
        if not hmac.compare_digest(node.secret_hash, _digest(secret)):
            raise WrongSecret("This is not the node's secret.")
        return node

    def _check_room(self, source: str, *, new: bool) -> None:
        if new and len(self._nodes) >= self._config.max_nodes:
            raise TrackerFull(f"This tracker has {len(self._nodes)} nodes, which is as many as it takes.")
        if self._sources[source] >= self._config.max_nodes_per_address:
            raise TrackerFull("As many nodes as this tracker takes from one address are registered from yours.")

    def _remove(self, node: Registered) -> None:
        del self._nodes[node.record.node_id]
        self._count(node.source, -1)

    def _count(self, source: str, change: int) -> None:
        self._sources[source] += change
        if self._sources[source] <= 0:
            del self._sources[source]

    def _expire(self) -> float:
        now = self._clock()
        while self._nodes:
            node = next(iter(self._nodes.values()))
            if node.seen_at + self._config.expire_after_s > now:
                break
            self._remove(node)
            self.expired += 1
            self._absent[node.record.node_id] = (now + self._config.remember_secret_s, node.secret_hash)
        while self._absent:
            until, _ = next(iter(self._absent.values()))
            if until > now and len(self._absent) <= self._config.remember_secrets:
                break
            self._absent.popitem(last=False)
        return now


def _digest(secret: str) -> bytes:
    # Secrets are long and random, so a plain hash is no weaker than a slow one.
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
