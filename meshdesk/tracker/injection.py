"""What the tracker tells a head about one chat: its route, its session, its model, and the proof of it. Pure."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from meshdesk.protocol.headers import MODEL, ROUTE, ROUTE_PROOF, SESSION
from meshdesk.protocol.routes import encode_route, sign_route
from meshdesk.tracker.routing import Route

PROOF_VALID_S = 300
"""Heads check the expiry by their own clock, and home computers' clocks are off."""


@dataclass(frozen=True, slots=True)
class Injection:
    """The session of one try, and the headers that the head gets with the client's body."""

    session: str
    headers: dict[str, str]


def inject(route: Route, route_key: bytes, now: float, *, stream: bool, session: str | None = None) -> Injection:
    """Headers for ``route``'s head. ``route_key`` is the head's own, ``now`` Unix seconds.

    Every try gets a session of its own, so that two heads never write into one KV cache.
    """
    session = session or secrets.token_hex(16)
    listed = encode_route(route.downstream())
    headers = {
        "Content-Type": "application/json",
        "Accept": "text/event-stream" if stream else "application/json",
        ROUTE: listed,
        SESSION: session,
        MODEL: route.key.model_at_revision,
        ROUTE_PROOF: sign_route(route_key, session, listed, int(now) + PROOF_VALID_S),
    }
    return Injection(session, headers)
