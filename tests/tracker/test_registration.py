from __future__ import annotations

from typing import Any

import pytest

from meshdesk.protocol.errors import ProtocolError
from meshdesk.protocol.routes import Hop
from meshdesk.tracker.registration import parse_load, parse_registration
from meshdesk.tracker.tracker_errors import BadRegistration
from tests.tracker.records import KEY, SECRET, registration


def test_a_registration_is_read() -> None:
    fields = registration("n1", 0, 15, relay_addr="wss://relay.example/rpc/n1", unheard_of=1)
    record, secret = parse_registration(fields, allow_loopback=False)
    assert secret == SECRET
    assert (record.node_id, record.key, record.max_positions, record.version) == ("n1", KEY, 2048, "0.1")
    assert record.as_hop() == Hop("http://203.0.113.7:7002", 0, 15, "wss://relay.example/rpc/n1")
    assert record.key.model_at_revision == "SmolLM2-135M-Instruct@0123456789ab"


def test_a_node_behind_nat_has_a_relay_address_only() -> None:
    fields = registration(endpoint=None, relay_addr="wss://relay.example/rpc/n1")
    assert parse_registration(fields, allow_loopback=False)[0].endpoint is None


def test_the_version_may_be_absent() -> None:
    fields = registration()
    del fields["version"]
    assert parse_registration(fields, allow_loopback=False)[0].version == ""


@pytest.mark.parametrize("fields", [None, [], "x", 1])
def test_what_is_no_object_is_refused(fields: object) -> None:
    with pytest.raises(BadRegistration, match="not a JSON object"):
        parse_registration(fields, allow_loopback=False)


@pytest.mark.parametrize("name", sorted(registration().keys() - {"endpoint", "relay_addr", "version"}))
@pytest.mark.parametrize("value", [None, [], "\x00"])
def test_each_field_is_needed_and_named(name: str, value: object) -> None:
    with pytest.raises(BadRegistration, match=name):
        parse_registration(registration() | {name: value}, allow_loopback=False)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"endpoint": None}, "neither an endpoint nor a relay_addr"),
        ({"endpoint": 5}, "endpoint must be a string"),
        ({"relay_addr": {}}, "relay_addr must be a string"),
        ({"endpoint": "http://127.0.0.1:1"}, "whoever dials it"),
        ({"relay_addr": "ws://localhost/rpc/x"}, "whoever dials it"),
        ({"secret": "short"}, "secret must be"),
        ({"secret": "with a space in it all"}, "secret must be"),
        ({"node_id": "a/b"}, "node_id must be"),
        ({"node_id": "a" * 65}, "node_id must be"),
        ({"model": "a@b"}, "model must be"),
        ({"model": " a"}, "model must be"),
        ({"model": "a" * 201}, "model must be"),
        ({"revision": "a\nb"}, "revision must be"),
        ({"dtype": "BF16"}, "dtype must be"),
        ({"num_layers": 0}, "num_layers must be"),
        ({"num_layers": 5000}, "num_layers must be"),
        ({"num_layers": True}, "num_layers must be"),
        ({"start_layer": 31}, "start_layer must be"),
        ({"end_layer": 31}, "end_layer must be"),
        ({"start_layer": 3, "end_layer": 3}, "are none"),
        ({"max_positions": 0}, "max_positions must be"),
        ({"version": 1}, "version must be"),
        ({"version": "a" * 65}, "version must be"),
        ({"version": "\n"}, "version must be"),
    ],
)
def test_what_is_refused(fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(ProtocolError, match=reason) as refused:
        parse_registration(registration() | fields, allow_loopback=False)
    assert SECRET not in str(refused.value)


def test_the_load_of_a_heartbeat() -> None:
    assert [parse_load(fields) for fields in (None, {}, {"load": None}, {"load": 0}, {"load": 7})] == [0, 0, 0, 0, 7]


@pytest.mark.parametrize("fields", [[], "x", {"load": -1}, {"load": "1"}, {"load": True}, {"load": 1.5}])
def test_a_load_that_is_none(fields: object) -> None:
    with pytest.raises(BadRegistration):
        parse_load(fields)
