"""``X-Meshnet-Route``: the downstream hops of a chat, and the proof that the tracker chose them.

The tracker injects the route, the head follows it. A head that followed anybody's route would dial
whatever a stranger names, so a head that is registered with a tracker asks for the tracker's proof.
"""

from __future__ import annotations

import hashlib
import hmac
import itertools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from meshdesk.protocol.errors import ProtocolError

MAX_HOPS = 64
MAX_LAYERS = 4096
MAX_URL_CHARS = 2048
_PROOF = re.compile(r"([0-9]{1,12})\.([0-9a-f]{64})")


class BadRoute(ProtocolError):
    """The route header is malformed or does not join up."""

    code = "bad_route"


class RouteNotProven(ProtocolError):
    """The route does not come from the tracker that this node serves."""

    code = "route_not_proven"
    status = 403


@dataclass(frozen=True, slots=True)
class Hop:
    """One downstream node of a route: layers ``[start_layer, end_layer)`` and how to reach it.

    ``endpoint`` is its HTTP base URL, ``relay_addr`` its ``ws(s)://RELAY/rpc/PEER``; at least one is there.
    """

    endpoint: str | None
    start_layer: int
    end_layer: int
    relay_addr: str | None = None

    def __post_init__(self) -> None:
        for name, value in (("start_layer", self.start_layer), ("end_layer", self.end_layer)):
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_LAYERS:
                raise BadRoute(f"A hop's {name} must be a whole number up to {MAX_LAYERS}.")
        if self.start_layer >= self.end_layer:
            raise BadRoute(f"A hop's layers {self.start_layer} to {self.end_layer} are empty.")
        if self.endpoint is None and self.relay_addr is None:
            raise BadRoute("A hop has neither an endpoint nor a relay address.")
        _check_url("endpoint", self.endpoint, ("http", "https"))
        _check_url("relay_addr", self.relay_addr, ("ws", "wss"))


def encode_route(hops: Sequence[Hop]) -> str:
    """The header value: a JSON list; ``relay_addr`` is absent for nodes without a relay."""
    listed = []
    for hop in hops:
        fields: dict[str, Any] = {}
        if hop.endpoint is not None:
            fields["endpoint"] = hop.endpoint
        fields["start_layer"] = hop.start_layer
        fields["end_layer"] = hop.end_layer
        if hop.relay_addr is not None:
            fields["relay_addr"] = hop.relay_addr
        listed.append(fields)
    return json.dumps(listed, separators=(",", ":"))


def parse_route(header: str, num_layers: int | None = None) -> tuple[Hop, ...]:
    """Read the header strictly: unknown fields ignored, hops in order and joining without a gap.

    The ADR's own example names no ``end_layer``; a hop without one ends where the next begins, the last at
    ``num_layers``.
    """
    try:
        listed = json.loads(header)
    except (ValueError, RecursionError):
        raise BadRoute("The route is not JSON.") from None
    if not isinstance(listed, list):
        raise BadRoute("The route is not a JSON list.")
    if len(listed) > MAX_HOPS:
        raise BadRoute(f"The route has {len(listed)} hops; {MAX_HOPS} is the most.")
    ends = [fields.get("start_layer") if isinstance(fields, dict) else None for fields in listed[1:]] + [num_layers]
    hops = tuple(_parse_hop(fields, end) for fields, end in zip(listed, ends, strict=False))
    for before, after in itertools.pairwise(hops):
        if before.end_layer != after.start_layer:
            raise BadRoute(f"The route has a gap: layer {before.end_layer} does not meet layer {after.start_layer}.")
    return hops


def sign_route(key: bytes, session: str, route: str, expires: int) -> str:
    """``X-Meshnet-Route-Proof``: ``EXPIRES.HMAC``; ``expires`` in Unix seconds, ``key`` from registration."""
    return f"{expires}.{_digest(key, session, route, expires)}"


def verify_route(key: bytes, session: str, route: str, proof: str, now: float) -> None:
    """Raise RouteNotProven unless ``proof`` was made with ``key`` for this session and route and still holds."""
    match = _PROOF.fullmatch(proof)
    if match is None:
        raise RouteNotProven("The route proof is missing or malformed.")
    expires = int(match[1])
    if not hmac.compare_digest(match[2], _digest(key, session, route, expires)):
        raise RouteNotProven("The route proof was not made by this node's tracker.")
    if now > expires:
        raise RouteNotProven("The route proof has expired.", hint="Check that this computer's clock is right.")


def _digest(key: bytes, session: str, route: str, expires: int) -> str:
    message = "\n".join(("meshdesk/route/v1", session, str(expires), route))
    return hmac.new(key, message.encode("utf-8"), hashlib.sha256).hexdigest()


def _parse_hop(fields: object, default_end: object) -> Hop:
    if not isinstance(fields, dict):
        raise BadRoute("A hop of the route is not a JSON object.")
    for name in ("endpoint", "relay_addr"):
        if not isinstance(fields.get(name), (str, type(None))):
            raise BadRoute(f"A hop's {name} must be a string.")
    start_layer, end_layer = fields.get("start_layer"), fields.get("end_layer", default_end)
    for name, value in (("start_layer", start_layer), ("end_layer", end_layer)):
        if value is None:
            raise BadRoute(f"A hop has no {name}.")
    return Hop(fields.get("endpoint"), start_layer, end_layer, fields.get("relay_addr"))  # type: ignore[arg-type]


def _check_url(name: str, url: str | None, schemes: tuple[str, ...]) -> None:
    if url is None:
        return
    if len(url) > MAX_URL_CHARS or not url.isprintable() or " " in url:
        raise BadRoute(f"A hop's {name} is too long or holds characters no URL has.")
    try:
        parts = urlsplit(url)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        raise BadRoute(f"A hop's {name} is not a URL.") from None
    if parts.scheme not in schemes or not host:
        raise BadRoute(f"A hop's {name} must be a URL that starts with {' or '.join(s + '://' for s in schemes)}.")
    if parts.username is not None or parts.password is not None:
        raise BadRoute(f"A hop's {name} must not hold a user name or password.")
