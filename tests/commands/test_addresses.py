"""Addresses as people type them, and which one a node tells others."""

from __future__ import annotations

import asyncio
import socket
import sys

import pytest

from meshdesk.protocol.errors import UsageError
from meshdesk.volunteer.advertise import PortTaken, advertised, reserved_port
from meshdesk.volunteer.urls import address_towards, http_url, is_loopback, websocket_url

HERE = "http://127.0.0.1:7000"
FAR = "http://203.0.113.5:7000"
RELAY = "wss://relay.example"


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://203.0.113.5:7000", "http://203.0.113.5:7000"),
        ("https://mesh.example/", "https://mesh.example"),
        ("mesh.example:7000", "http://mesh.example:7000"),
        ("[::1]:7000", "http://[::1]:7000"),
        ("https://mesh.example/tracker/", "https://mesh.example/tracker"),
    ],
)
def test_an_http_address_is_put_into_one_form(text: str, url: str) -> None:
    assert http_url(text, "--tracker") == url


@pytest.mark.parametrize(
    "text", ["", "http://", "ws://a", "http://a:x", "http://a:99999", "http://u:p@a", "http://a:0"]
)
def test_what_is_no_http_address_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--tracker"):
        http_url(text, "--tracker")


@pytest.mark.parametrize(
    ("text", "url"),
    [("wss://relay.example", RELAY), ("https://relay.example/", RELAY), ("relay.example:9", "ws://relay.example:9")],
)
def test_a_relay_address_may_be_an_http_one(text: str, url: str) -> None:
    assert websocket_url(text, "--relay") == url


def test_loopback_is_known_by_name_and_number() -> None:
    assert all(map(is_loopback, [HERE, "http://localhost:1", "http://[::1]:1", "http://a.localhost"]))
    assert not any(map(is_loopback, [FAR, "http://mesh.example", "http://0.0.0.0:1"]))


@pytest.mark.parametrize(
    ("choice", "host", "tracker", "relay", "told"),
    [
        (None, "127.0.0.1", HERE, None, "http://127.0.0.1:7002"),
        (None, "127.0.0.1", HERE, RELAY, "http://127.0.0.1:7002"),
        (None, "127.0.0.1", FAR, RELAY, None),
        (None, "203.0.113.9", FAR, None, "http://203.0.113.9:7002"),
        (None, "2001:db8::9", FAR, None, "http://[2001:db8::9]:7002"),
        (None, "0.0.0.0", HERE, None, "http://127.0.0.1:7002"),
        (None, "127.0.0.1", None, None, None),
        ("none", "203.0.113.9", FAR, RELAY, None),
        ("http://home.example:7002/", "0.0.0.0", FAR, None, "http://home.example:7002"),
    ],
)
def test_a_node_tells_the_address_others_can_dial(
    choice: str | None, host: str, tracker: str | None, relay: str | None, told: str | None
) -> None:
    assert advertised(choice, host=host, port=7002, tracker_url=tracker, relay_url=relay) == told


@pytest.mark.parametrize(("choice", "tracker"), [(None, FAR), ("none", HERE)])
def test_a_node_nobody_could_reach_is_refused(choice: str | None, tracker: str) -> None:
    with pytest.raises(UsageError, match="Nobody else could reach"):
        advertised(choice, host="127.0.0.1", port=7002, tracker_url=tracker, relay_url=None)


def test_the_address_towards_a_network_is_this_computers() -> None:
    assert address_towards(HERE) == "127.0.0.1"
    assert address_towards("http://no-such-host.invalid:1") is None


async def test_a_reserved_port_is_this_programs_alone() -> None:
    with reserved_port("127.0.0.1", 0) as port:
        assert port > 0
        if sys.platform == "linux":
            with socket.socket() as other, pytest.raises(OSError):
                other.bind(("127.0.0.1", port))
        # What a node's server does: it may reuse addresses.
        server = await asyncio.start_server(lambda *_: None, "127.0.0.1", port, reuse_address=True)
        with pytest.raises(PortTaken, match=f"Port {port}"), reserved_port("127.0.0.1", port):
            pass
        server.close()
        await server.wait_closed()


def test_a_given_port_is_kept() -> None:
    with reserved_port("127.0.0.1", 0) as free:
        pass
    with reserved_port("127.0.0.1", free) as port:
        assert port == free


def test_an_address_of_another_computer_is_left_to_the_server_to_refuse() -> None:
    with reserved_port("203.0.113.77", 0) as port:
        assert port == 0
