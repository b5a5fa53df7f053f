"""What a node says about itself when it registers, read strictly. Unknown fields are ignored."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from meshdesk.protocol.routes import MAX_LAYERS, Hop
from meshdesk.tracker.endpoint_rules import check_endpoint, check_relay_addr
from meshdesk.tracker.tracker_errors import BadRegistration

MAX_MODEL_CHARS = 200
MAX_REVISION_CHARS = 90
MAX_NAME_CHARS = 32
MAX_LOAD = 1_000_000
_NODE_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SECRET = re.compile(r"[\x21-\x7e]{16,256}")
_DTYPE = re.compile(r"[a-z0-9_]{1,32}")


@dataclass(frozen=True, slots=True, order=True)
class ModelKey:
    """Nodes with equal keys may share a chat: one model, one revision, one dtype on the seam, one depth.

    The depth is part of it so that a node that lies about it finds itself alone, and harms nobody.
    """

    model: str
    revision: str
    dtype: str
    num_layers: int

    @property
    def model_at_revision(self) -> str:
        """The value of ``X-Meshnet-Model``."""
        return f"{self.model}@{self.revision}"


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """One node as it registered: layers ``[start_layer, end_layer)`` of a model, and how to reach it."""

    node_id: str
    endpoint: str | None
    relay_addr: str | None
    key: ModelKey
    start_layer: int
    end_layer: int
    max_positions: int
    version: str
    name: str = ""
    """What its owner calls it, for people; "" where they said nothing."""

    def as_hop(self) -> Hop:
        """The node as a downstream hop of a route."""
        return Hop(self.endpoint, self.start_layer, self.end_layer, self.relay_addr)


def parse_registration(fields: object, *, allow_loopback: bool) -> tuple[NodeRecord, str]:
    """The record and the secret of ``POST /v1/nodes``; BadRegistration or EndpointRefused if it cannot be taken."""
    if not isinstance(fields, dict):
        raise BadRegistration("The registration is not a JSON object.")
    node_id = _matching(fields, "node_id", _NODE_ID, "1 to 64 letters, digits, '-' or '_'")
    secret = _matching(fields, "secret", _SECRET, "16 to 256 printable ASCII characters without spaces")
    endpoint, relay_addr = _url(fields, "endpoint"), _url(fields, "relay_addr")
    if endpoint is None and relay_addr is None:
        raise BadRegistration(
            "The node names neither an endpoint nor a relay_addr, so nobody could reach it.",
            hint="Start it with a relay, or with an address that others can dial.",
        )
    if endpoint is not None:
        endpoint = check_endpoint(endpoint, allow_loopback=allow_loopback)
    if relay_addr is not None:
        relay_addr = check_relay_addr(relay_addr, allow_loopback=allow_loopback)
    num_layers = _whole(fields, "num_layers", 1, MAX_LAYERS)
    start_layer, end_layer = _whole(fields, "start_layer", 0, num_layers), _whole(fields, "end_layer", 0, num_layers)
    if start_layer >= end_layer:
        raise BadRegistration(f"The layers [{start_layer}, {end_layer}) are none.")
    key = ModelKey(
        _name(fields, "model", MAX_MODEL_CHARS),
        _name(fields, "revision", MAX_REVISION_CHARS),
        _matching(fields, "dtype", _DTYPE, "a name such as bfloat16"),
        num_layers,
    )
    max_positions = _whole(fields, "max_positions", 1, 2**31 - 1)
    version, name = _shown(fields, "version", 64), _shown(fields, "name", MAX_NAME_CHARS)
    record = NodeRecord(node_id, endpoint, relay_addr, key, start_layer, end_layer, max_positions, version, name)
    return record, secret


def parse_load(fields: object) -> int:
    """The chats under way that a heartbeat reports; 0 where it says nothing."""
    if fields is None:
        return 0
    if not isinstance(fields, dict):
        raise BadRegistration("The heartbeat is not a JSON object.")
    return 0 if fields.get("load") is None else _whole(fields, "load", 0, MAX_LOAD)


def _string(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    if value is None:
        raise BadRegistration(f"The registration has no {name}.")
    if not isinstance(value, str):
        raise BadRegistration(f"{name} must be a string.")
    return value


def _matching(fields: dict[str, Any], name: str, pattern: re.Pattern[str], expected: str) -> str:
    value = _string(fields, name)
    if not pattern.fullmatch(value):
        raise BadRegistration(f"{name} must be {expected}.")
    return value


def _name(fields: dict[str, Any], name: str, limit: int) -> str:
    value = _string(fields, name)
    # It travels in a header as id@revision, so neither half may hold the sign or anything a header loses.
    if not 0 < len(value) <= limit or "@" in value or not value.isprintable() or value.strip() != value:
        raise BadRegistration(f"{name} must be 1 to {limit} printable characters without '@'.")
    return value


def _url(fields: dict[str, Any], name: str) -> str | None:
    value = fields.get(name)
    if value is not None and not isinstance(value, str):
        raise BadRegistration(f"{name} must be a string or null.")
    return value


def _shown(fields: dict[str, Any], name: str, limit: int) -> str:
    """A text that only people read; "" where it is absent."""
    value = fields.get(name, "")
    if not isinstance(value, str) or len(value) > limit or not value.isprintable():
        raise BadRegistration(f"{name} must be a string of at most {limit} characters.")
    return value


def _whole(fields: dict[str, Any], name: str, low: int, high: int) -> int:
    value = fields.get(name)
    if value is None:
        raise BadRegistration(f"The registration has no {name}.")
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise BadRegistration(f"{name} must be a whole number from {low} to {high}.")
    return value
