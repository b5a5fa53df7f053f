"""Nodes and registrations for the tests of the tracker."""

from __future__ import annotations

from typing import Any

from meshdesk.tracker.registration import ModelKey, NodeRecord

MODEL = "SmolLM2-135M-Instruct"
REVISION = "0123456789ab"
KEY = ModelKey(MODEL, REVISION, "bfloat16", 30)
SECRET = "s3cret-of-at-least-16"


class Clock:
    """A clock that only moves when told to."""

    def __init__(self, now: float = 1000.0):
        self.now = now

    def __call__(self) -> float:
        return self.now


def record(node_id: str, start: int, end: int, *, key: ModelKey = KEY, **fields: Any) -> NodeRecord:
    ways = {"endpoint": f"http://203.0.113.7:{7000 + start}", "relay_addr": None} | fields
    return NodeRecord(node_id, ways["endpoint"], ways["relay_addr"], key, start, end, 2048, "0.1")


def registration(node_id: str = "n1", start: int = 0, end: int = 30, **fields: Any) -> dict[str, Any]:
    """The body of ``POST /v1/nodes`` as a node sends it."""
    return {
        "node_id": node_id,
        "secret": SECRET,
        "endpoint": "http://203.0.113.7:7002",
        "relay_addr": None,
        "model": MODEL,
        "revision": REVISION,
        "start_layer": start,
        "end_layer": end,
        "num_layers": 30,
        "dtype": "bfloat16",
        "max_positions": 2048,
        "version": "0.1",
    } | fields
