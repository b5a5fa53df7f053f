"""RelayHop through a real relay, with a peer that answers by hand."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve

from meshdesk.node.hop import HopAnswer, HopRequest, HopUnavailable
from meshdesk.node.reachability import UnreachableAddresses
from meshdesk.node.relay_hop import RelayHop
from meshdesk.relay.server import RelayServer
from tests.node.local_server import swallowing_port
from tests.relay.conftest import Bare, Ends
from tests.relay.conftest import ends as ends  # the fixture

FORWARD = HopRequest("POST", "/forward", {"X-Meshnet-Shape": "1,1,4"}, b"\xff\x00", deadline_s=20)


def hop_to(relay: RelayServer, peer_id: str = "peer-1") -> RelayHop:
    return RelayHop(f"{relay.url}/rpc/{peer_id}", UnreachableAddresses())


async def answer(peer: Bare, **fields: Any) -> dict[str, Any]:
    """Take one request at the peer and answer it."""
    asked = await peer.receive()
    await peer.send(type="relay-http-response", request_id=asked["request_id"], **{"status": 200, **fields})
    return asked


async def asked_and_answered(hop: RelayHop, peer: Bare, **fields: Any) -> tuple[dict[str, Any], HopAnswer]:
    asked, got = await asyncio.gather(answer(peer, **fields), hop.request(FORWARD))
    return asked, got


async def test_octets_go_and_come_and_the_socket_is_kept(ends: Ends) -> None:
    peer, hop = await ends.peer(), hop_to(ends.relay)
    ids = set()
    for number in range(5):
        headers = {"X-Meshnet-Shape": "1,1,4"}
        asked, got = await asked_and_answered(hop, peer, headers=headers, body_base64="AP8=")
        assert base64.b64decode(asked["body_base64"]) == FORWARD.body
        assert (asked["method"], asked["path"], asked["headers"]) == ("POST", "/forward", dict(FORWARD.headers))
        assert got == HopAnswer(200, {"x-meshnet-shape": "1,1,4"}, b"\x00\xff"), number
        ids.add(asked["request_id"])
    assert len(ids) == 5
    assert ends.relay._hub.requesters == 1
    await hop.close()
    assert not hop.connected


async def test_text_and_the_nodes_own_refusals_are_answers(ends: Ends) -> None:
    peer, hop = await ends.peer(), hop_to(ends.relay)
    body = json.dumps({"error": {"code": "session_behind", "have": 3}})
    _, got = await asked_and_answered(hop, peer, status=409, body=body)
    assert (got.status, got.body) == (409, body.encode())
    await hop.close()


async def test_the_relays_failures_raise_and_say_whether_it_was_delivered(ends: Ends) -> None:
    hop = hop_to(ends.relay)
    with pytest.raises(HopUnavailable, match="No peer peer-1") as caught:
        await hop.request(FORWARD)
    assert caught.value.delivered is False
    peer = await ends.peer()
    asking = asyncio.ensure_future(hop.request(FORWARD))
    await peer.receive()
    peer.socket.transport.abort()
    with pytest.raises(HopUnavailable) as caught:
        await asking
    assert caught.value.delivered is True
    # The relay's socket stands, so the next request needs no dial.
    assert hop.connected
    await hop.close()


async def test_a_relay_that_stops_in_the_middle_raises(ends: Ends) -> None:
    peer, hop = await ends.peer(), hop_to(ends.relay)
    asking = asyncio.ensure_future(hop.request(FORWARD))
    await peer.receive()
    await ends.relay.stop()
    with pytest.raises(HopUnavailable) as caught:
        await asking
    assert caught.value.delivered is not False
    with pytest.raises(HopUnavailable, match="cannot be reached") as caught:
        await hop.request(FORWARD)
    assert caught.value.delivered is False


async def test_a_late_answer_is_cancelled_and_not_taken_for_the_next(ends: Ends) -> None:
    peer, hop = await ends.peer(), hop_to(ends.relay)
    with pytest.raises(HopUnavailable, match="within"):
        await hop.request(HopRequest("POST", "/forward", deadline_s=0.1))
    first = await peer.receive()
    assert await peer.receive() == {"type": "relay-http-cancel", "request_id": first["request_id"]}
    await peer.send(type="relay-http-response", request_id=first["request_id"], status=200, body="late")
    _, got = await asked_and_answered(hop, peer, body="new")
    assert got.body == b"new"
    await hop.close()


async def test_a_hop_given_up_cancels_the_work(ends: Ends) -> None:
    peer, hop = await ends.peer(), hop_to(ends.relay)
    asking = asyncio.ensure_future(hop.request(FORWARD))
    asked = await peer.receive()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert await peer.receive() == {"type": "relay-http-cancel", "request_id": asked["request_id"]}
    await hop.close()


async def test_a_swallowed_dial_is_remembered_for_the_relay() -> None:
    with swallowing_port() as port:
        unreachable = UnreachableAddresses()
        with pytest.raises(HopUnavailable, match="timed out"):
            await RelayHop(f"ws://127.0.0.1:{port}/rpc/a", unreachable).request(FORWARD)
        with pytest.raises(HopUnavailable, match="a moment ago"):
            await RelayHop(f"ws://127.0.0.1:{port}/rpc/b", unreachable).request(FORWARD)


@contextlib.asynccontextmanager
async def odd_relay(converse: Callable[[ServerConnection], Awaitable[None]]) -> AsyncIterator[RelayHop]:
    """A relay that answers what the test says."""
    async with serve(converse, "127.0.0.1", 0, compression=None) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        hop = RelayHop(f"ws://127.0.0.1:{port}/rpc/a", UnreachableAddresses())
        yield hop
        await hop.close()


@pytest.mark.parametrize(("status", "code"), [(404, "unknown_peer"), (502, "peer_gone"), (504, "peer_timeout")])
async def test_a_relay_that_names_its_failure_in_the_body_only(status: int, code: str) -> None:
    async def converse(socket: ServerConnection) -> None:
        async for frame in socket:
            body = json.dumps({"error": {"code": code, "message": "No."}})
            await socket.send(
                json.dumps({"request_id": json.loads(frame)["request_id"], "status": status, "body": body})
            )

    async with odd_relay(converse) as hop:
        with pytest.raises(HopUnavailable, match="No"):
            await hop.request(FORWARD)


@pytest.mark.parametrize("body", ["", "[]", '{"error": 5}', '{"error": {"code": "not_found"}}', "{"])
async def test_a_nodes_own_404_is_the_nodes(body: str) -> None:
    async def converse(socket: ServerConnection) -> None:
        async for frame in socket:
            await socket.send(json.dumps({"request_id": json.loads(frame)["request_id"], "status": 404, "body": body}))

    async with odd_relay(converse) as hop:
        assert (await hop.request(FORWARD)).status == 404


@pytest.mark.parametrize(
    "reply",
    [
        "{",
        '{"request_id": "ID"}',
        '{"request_id": "ID", "status": 200, "body_base64": "A"}',
        '{"request_id": "ID", "status": 200, "body": "a", "body_base64": "AA=="}',
        '{"request_id": "other", "status": 200}',
    ],
)
async def test_what_is_no_answer_raises(reply: str) -> None:
    async def converse(socket: ServerConnection) -> None:
        async for frame in socket:
            for _ in range(20):
                await socket.send(reply.replace("ID", json.loads(frame)["request_id"]))

    async with odd_relay(converse) as hop:
        with pytest.raises(HopUnavailable, match="no answer"):
            await hop.request(FORWARD)
