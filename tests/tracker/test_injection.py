from __future__ import annotations

import json

import pytest

from meshdesk.protocol.headers import parse_session
from meshdesk.protocol.routes import RouteNotProven, parse_route, verify_route
from meshdesk.tracker.injection import PROOF_VALID_S, inject
from meshdesk.tracker.routing import Route
from tests.tracker.records import record

KEY = b"k" * 32
ADDR = "wss://relay.example/rpc/t"
ROUTE = Route((record("h", 0, 15), record("m", 15, 20), record("t", 20, 30, endpoint=None, relay_addr=ADDR)), 3.0)


def test_the_head_gets_the_hops_after_it() -> None:
    headers = inject(ROUTE, KEY, 1000.0, stream=True).headers
    assert json.loads(headers["X-Meshnet-Route"]) == [
        {"endpoint": "http://203.0.113.7:7015", "start_layer": 15, "end_layer": 20},
        {"start_layer": 20, "end_layer": 30, "relay_addr": ADDR},
    ]
    assert parse_route(headers["X-Meshnet-Route"]) == ROUTE.downstream()
    assert headers["X-Meshnet-Model"] == "SmolLM2-135M-Instruct@0123456789ab"
    assert headers["Accept"] == "text/event-stream"
    assert inject(ROUTE, KEY, 1000.0, stream=False).headers["Accept"] == "application/json"


def test_the_proof_holds_for_this_key_session_and_route_for_a_while() -> None:
    injection = inject(ROUTE, KEY, 1000.9, stream=True)
    session, route, proof = (injection.headers[f"X-Meshnet-{name}"] for name in ("Session", "Route", "Route-Proof"))
    verify_route(KEY, session, route, proof, 1000.0 + PROOF_VALID_S)
    for key, other_session, other_route, now in (
        (b"x" * 32, session, route, 1000.0),
        (KEY, "other", route, 1000.0),
        (KEY, session, "[]", 1000.0),
        (KEY, session, route, 1001.0 + PROOF_VALID_S),
    ):
        with pytest.raises(RouteNotProven):
            verify_route(key, other_session, other_route, proof, now)


def test_every_try_has_a_session_of_its_own() -> None:
    sessions = {inject(ROUTE, KEY, 1000.0, stream=True).session for _ in range(10)}
    assert len(sessions) == 10
    assert all(parse_session(session) for session in sessions)
    assert inject(ROUTE, KEY, 1000.0, stream=True, session="mine").headers["X-Meshnet-Session"] == "mine"
