"""The bridge's rules without sockets."""

from __future__ import annotations

import json
from typing import Any

import pytest

from meshdesk.node.bridge import base_url
from meshdesk.node.bridge_protocol import (
    BridgeProtocol,
    GiveUp,
    Ready,
    Refused,
    Reply,
    Serve,
    answer_headers,
    is_allowed,
    is_text,
)
from meshdesk.node.identity import service_secret
from meshdesk.protocol.envelopes import (
    Body,
    Cancel,
    ErrorFrame,
    Registered,
    Request,
    Response,
    emit_cancel,
    emit_error,
    emit_registered,
    emit_request,
    parse_register,
)
from meshdesk.protocol.errors import UsageError


def request(request_id: str = "aa", method: str = "POST", path: str = "/forward", **fields: Any) -> bytes:
    asked = Request(request_id, method, path, fields.pop("headers", {}), fields.pop("body", Body()), **fields)
    return emit_request(asked, to_peer=True)


def refused(actions: list[Any], request_id: str, status: int, code: str) -> None:
    [action] = actions
    assert isinstance(action, Reply)
    fields = json.loads(action.frame)
    assert (fields["type"], fields["request_id"], fields["status"]) == ("relay-http-response", request_id, status)
    assert json.loads(fields["body"])["error"]["code"] == code
    # Only the relay's own failures carry the top-level error, so that a head can tell them apart.
    assert "error" not in fields


def test_it_registers_and_is_ready() -> None:
    bridge = BridgeProtocol("p", "s" * 16)
    assert parse_register(bridge.hello()).peer_id == "p"
    assert not bridge.ready
    assert bridge.receive(emit_registered(Registered("p", {}))) == [Ready()]
    assert bridge.ready


@pytest.mark.parametrize(("code", "fatal"), [("peer_id_taken", True), ("replaced", False), ("relay_full", False)])
def test_a_refusal_says_whether_to_try_again(code: str, fatal: bool) -> None:
    assert BridgeProtocol("p", "s" * 16).receive(emit_error(ErrorFrame(code, "Why."))) == [Refused(code, "Why.", fatal)]


def test_a_request_is_served_once_and_answered_once() -> None:
    bridge = BridgeProtocol("p", "s" * 16)
    headers = {"X-Meshnet-Shape": "1,1,4", "Content-Type": "a/b", "Authorization": "secret", "Host": "evil"}
    [serve] = bridge.receive(request(headers=headers, body=Body.of(b"\xff"), accept_stream=True))
    kept = {"X-Meshnet-Shape": "1,1,4", "Content-Type": "a/b"}
    assert serve == Serve("aa", "POST", "/forward", kept, b"\xff", True)
    refused(bridge.receive(request()), "aa", 400, "bad_request_id")
    frame = bridge.answer("aa", Response("aa", 200, {}, Body(text="x")))
    assert frame is not None
    assert json.loads(frame)["body"] == "x"
    assert bridge.answer("aa", Response("aa")) is None
    assert bridge.in_flight == 0


def test_a_stream_is_under_way_until_its_end() -> None:
    bridge = BridgeProtocol("p", "s" * 16)
    bridge.receive(request(accept_stream=True))
    for mark in ("start", "chunk", "end"):
        assert bridge.in_flight == 1
        assert bridge.answer("aa", Response("aa", stream=mark)) is not None
    assert bridge.in_flight == 0


def test_a_cancelled_request_is_given_up_and_not_answered() -> None:
    bridge = BridgeProtocol("p", "s" * 16)
    bridge.receive(request())
    cancel = emit_cancel(Cancel("aa"))
    assert bridge.receive(cancel) == [GiveUp("aa")]
    assert bridge.receive(cancel) == []
    assert bridge.answer("aa", Response("aa")) is None


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/metrics"),
        ("GET", "/forward"),
        ("POST", "/forward/../metrics"),
        ("POST", "/forward?x=1"),
        ("DELETE", "/sessions/"),
        ("DELETE", "/sessions/a/b"),
        ("DELETE", "/sessions/a?b"),
        ("POST", "http://evil/forward"),
        ("CONNECT", "/forward"),
    ],
)
def test_only_the_listed_paths_are_called(method: str, path: str) -> None:
    assert not is_allowed(method, path)
    if path.startswith("/"):
        refused(BridgeProtocol("p", "s" * 16).receive(request("aa", method, path)), "aa", 403, "not_allowed")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/forward"),
        ("POST", "/v1/chat/completions"),
        ("POST", "/v1/completions"),
        ("GET", "/health"),
        ("DELETE", "/sessions/a-_9"),
    ],
)
def test_the_listed_paths_are_called(method: str, path: str) -> None:
    assert is_allowed(method, path)


def test_too_many_at_once_are_a_429() -> None:
    bridge = BridgeProtocol("p", "s" * 16, max_in_flight=2)
    for name in ("aa", "bb"):
        bridge.receive(request(name))
    refused(bridge.receive(request("cc")), "cc", 429, "too_many")


def test_a_request_that_cannot_be_read_is_answered_where_it_has_an_id() -> None:
    bridge = BridgeProtocol("p", "s" * 16)
    refused(bridge.receive(request(body=Body(base64="A"))), "aa", 400, "bad_base64")
    assert bridge.in_flight == 0
    assert bridge.receive(b"{") == []
    assert bridge.receive(b'{"type": "later"}') == []


def test_headers_and_texts_that_travel_back() -> None:
    headers = {"Content-Type": "a/b", "X-Meshnet-Compute-Ms": "1", "Set-Cookie": "no", "Server": "no"}
    assert answer_headers(headers) == {"content-type": "a/b", "x-meshnet-compute-ms": "1"}
    assert is_text("application/json; charset=utf-8")
    assert is_text("text/event-stream")
    assert not is_text("application/octet-stream")
    assert not is_text("")


def test_a_relays_address_is_read_as_people_write_it() -> None:
    assert base_url(" wss://relay.example/ws ") == "wss://relay.example"
    assert base_url("https://relay.example/mesh/") == "wss://relay.example/mesh"
    assert base_url("http://127.0.0.1:80") == "ws://127.0.0.1:80"
    for wrong in ("relay.example", "ftp://relay.example", "wss://", "wss://a@b", "wss://a?b"):
        with pytest.raises(UsageError):
            base_url(wrong)


def test_each_service_gets_a_secret_of_its_own() -> None:
    secrets = {service_secret(identity, service) for identity in ("a", "b") for service in ("relay x", "tracker x")}
    assert len(secrets) == 4
    assert service_secret("a", "relay x") == service_secret("a", "relay x")
    assert all(16 <= len(secret) <= 256 for secret in secrets)
