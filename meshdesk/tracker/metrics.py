"""``/metrics`` of a tracker."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

ChatOutcome = Literal["answered", "broken_off", "failed", "refused", "no_route", "busy", "hung_up"]
WayName = Literal["direct", "relay"]
_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class TrackerMetrics:
    """Prometheus metrics of one tracker in a registry of their own."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self._nodes = Gauge("meshdesk_tracker_nodes", "Nodes alive.", registry=registry)
        self._running = Gauge("meshdesk_tracker_chats_running", "Chats under way.", registry=registry)
        self._registrations = Counter("meshdesk_tracker_registrations", "Registrations taken.", registry=registry)
        self._expired = Counter("meshdesk_tracker_nodes_expired", "Nodes forgotten for silence.", registry=registry)
        self._chats = Counter("meshdesk_tracker_chats", "Chats ended.", ["outcome"], registry=registry)
        self._tries = Counter("meshdesk_tracker_head_tries", "Heads asked.", ["way", "result"], registry=registry)
        self._first = Histogram(
            "meshdesk_tracker_first_byte_seconds",
            "From a chat's arrival to its answer's first octet.",
            buckets=_SECONDS,
            registry=registry,
        )
        self._counted_registrations = 0
        self._counted_expired = 0

    def observe(self, *, nodes: Callable[[], float], running: Callable[[], float]) -> None:
        """Where the gauges read their values, at each scrape."""
        self._nodes.set_function(nodes)
        self._running.set_function(running)

    def count_registry(self, registrations: int, expired: int) -> None:
        """Take over the registry's totals, which never fall."""
        self._registrations.inc(registrations - self._counted_registrations)
        self._expired.inc(expired - self._counted_expired)
        self._counted_registrations, self._counted_expired = registrations, expired

    def chat_ended(self, outcome: ChatOutcome) -> None:
        self._chats.labels(outcome).inc()

    def head_asked(self, way: WayName, result: Literal["answered", "failed"]) -> None:
        self._tries.labels(way, result).inc()

    def first_byte(self, seconds: float) -> None:
        self._first.observe(seconds)

    def exposition(self) -> bytes:
        """The text that ``/metrics`` answers."""
        return generate_latest(self._registry)
