"""``/metrics`` and ``/health`` of a relay, read from the hub's own counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from meshdesk import __version__
from meshdesk.relay.hub import Hub


class RelayMetrics(Collector):
    """A collector over ``hub``, in a registry of its own. It names no peer and no address."""

    def __init__(self, hub: Hub):
        self._hub = hub
        self._registry = CollectorRegistry()
        self._registry.register(self)
        self.slow_readers_cut = 0

    def collect(self) -> Iterator[Metric]:
        hub, counts = self._hub, self._hub.counts
        yield GaugeMetricFamily("meshdesk_relay_peers", "Registered peers.", value=hub.peers)
        yield GaugeMetricFamily("meshdesk_relay_requesters", "Requester sockets.", value=hub.requesters)
        yield GaugeMetricFamily("meshdesk_relay_in_flight", "Requests without an answer yet.", value=hub.in_flight)
        for name, text, value in (
            ("registrations", "Registrations taken.", counts.registrations),
            ("replaced", "Peers that registered again while their older socket stood.", counts.replaced),
            ("registrations_refused", "Registrations refused.", counts.refused_registrations),
            ("requests", "Requests passed on to peers.", counts.requests),
            ("responses", "Whole answers passed back.", counts.responses),
            ("stream_frames", "Frames of streamed answers passed back.", counts.stream_frames),
            ("cancelled", "Requests whose requester gave up.", counts.cancelled),
            ("stray_responses", "Answers nobody waited for.", counts.stray_responses),
            ("slow_readers_cut", "Sockets cut because they did not read.", self.slow_readers_cut),
        ):
            yield CounterMetricFamily(f"meshdesk_relay_{name}", text, value=value)
        failures = CounterMetricFamily("meshdesk_relay_failures", "The relay's own failures.", labels=["code"])
        for code, count in sorted(counts.failures.items()):
            failures.add_metric([code], count)
        yield failures

    def exposition(self) -> bytes:
        """The text that ``/metrics`` answers."""
        return generate_latest(self._registry)

    def health(self) -> dict[str, Any]:
        """What ``/health`` answers."""
        hub = self._hub
        return {
            "status": "ok",
            "version": __version__,
            "peers": hub.peers,
            "requesters": hub.requesters,
            "in_flight": hub.in_flight,
            "limits": hub.limits.shown(),
        }
