"""RelayHttpBridge over real sockets: a real relay, a real node-side server, and requesters by hand."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any, TypeVar

import pytest
import pytest_asyncio
from aiohttp import web

from meshdesk.node import bridge
from meshdesk.node.bridge import RelayHttpBridge
from meshdesk.node.events import (
    Event,
    EventBus,
    RelayConnected,
    RelayLost,
    RelayMeasured,
    RelayRequestServed,
    Subscription,
)
from meshdesk.node.forward_handler import ForwardAnswer
from meshdesk.relay.server import RelayConfig, RelayServer
from tests.node.local_server import LocalServer
from tests.relay.conftest import Bare, Ends

SECRET = "the-secret-of-the-bridge"
WAIT_S = 30.0
E = TypeVar("E", bound=Event)


class Scene:
    """A relay with a bridge registered at it."""

    def __init__(self, relay: RelayServer, local: LocalServer, events: Subscription, bus: EventBus):
        self.relay = relay
        self.local = local
        self.events = events
        self.ends = Ends(relay)
        self.bridge = RelayHttpBridge(
            relay_url=relay.url, peer_id="peer-1", secret=SECRET, local_url=local.url, on_event=bus.publish
        )

    async def event(self, kind: type[E]) -> E:
        """The next event of this kind."""
        async with asyncio.timeout(WAIT_S):
            return await self.events.wait_for(kind)


@pytest_asyncio.fixture
async def scene() -> AsyncIterator[Scene]:
    relay, local, bus = RelayServer(), LocalServer(), EventBus()
    await relay.start()
    await local.start()
    with bus.subscribe() as events:
        scene = Scene(relay, local, events, bus)
        await scene.bridge.start()
        assert await scene.bridge.wait_registered(WAIT_S)
        try:
            yield scene
        finally:
            await scene.ends.close()
            await scene.bridge.stop()
            await local.stop()
            await relay.stop()


def ask(request_id: str = "aa", **fields: Any) -> dict[str, Any]:
    return {"request_id": request_id, "method": "POST", "path": "/forward", "headers": {}, **fields}


async def test_a_tensor_is_served_from_the_nodes_own_server(scene: Scene) -> None:
    requester = await scene.ends.requester()
    headers = {"X-Meshnet-Shape": "1,1,4", "Authorization": "Bearer x"}
    answer = await requester.ask(**ask(headers=headers, body_base64="/wD/"))
    assert (answer["request_id"], answer["status"], answer["body_base64"]) == ("aa", 200, "/wD/")
    assert answer["headers"] == {"content-type": "application/octet-stream", "x-meshnet-shape": "1,1,4"}
    served = await scene.event(RelayRequestServed)
    assert (served.method, served.path, served.status, served.bytes_in) == ("POST", "/forward", 200, 3)
    assert served.bytes_out > 0


async def test_text_and_refusals_travel_as_they_are(scene: Scene) -> None:
    async def refuse(_: web.Request) -> web.Response:
        return web.json_response({"error": {"code": "session_behind", "have": 3}}, status=409)

    scene.local.handler = refuse
    requester = await scene.ends.requester()
    answer = await requester.ask(**ask())
    assert answer["status"] == 409
    assert json.loads(answer["body"])["error"]["have"] == 3
    assert "error" not in answer


async def test_requests_are_served_at_once_and_answered_as_they_finish(scene: Scene) -> None:
    release, entered = asyncio.Event(), asyncio.Event()

    async def serve(request: web.Request) -> web.Response:
        body = await request.text()
        if body == "slow":
            entered.set()
            await release.wait()
        return web.Response(text=body)

    scene.local.handler = serve
    requester = await scene.ends.requester()
    await requester.send(**ask("aa", body="slow"))
    await entered.wait()
    assert (await requester.ask(**ask("bb", body="quick")))["body"] == "quick"
    release.set()
    assert (await requester.receive())["body"] == "slow"


async def stream(request: web.Request, parts: list[bytes]) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
    await response.prepare(request)
    for part in parts:
        await response.write(part)
    return response


async def read_stream(requester: Bare) -> list[dict[str, Any]]:
    frames = [await requester.receive()]
    while frames[-1].get("stream") in ("start", "chunk"):
        frames.append(await requester.receive())
    return frames


async def test_an_event_stream_is_streamed_to_whoever_accepts_it(scene: Scene) -> None:
    text = "data: é🙂\n\n".encode()
    # Cut within a character: octets must come out as they went in.
    scene.local.handler = lambda request: stream(request, [text[:7], text[7:]])
    requester = await scene.ends.requester()
    await requester.send(**ask(accept_stream=True))
    start, *chunks, end = await read_stream(requester)
    assert (start["stream"], start["status"]) == ("start", 200)
    assert start["headers"]["content-type"].startswith("text/event-stream")
    assert (end["stream"], "error" in end) == ("end", False)
    octets = b"".join(
        chunk["body"].encode() if "body" in chunk else base64.b64decode(chunk["body_base64"]) for chunk in chunks
    )
    assert octets == text
    whole = await requester.ask(**ask("bb"))
    assert (whole["status"], whole["body"], "stream" in whole) == (200, text.decode(), False)


async def test_a_stream_that_breaks_off_says_so(scene: Scene) -> None:
    async def break_off(request: web.Request) -> web.StreamResponse:
        response = await stream(request, [b"data: 1\n\n"])
        assert request.transport is not None
        request.transport.abort()
        return response

    scene.local.handler = break_off
    requester = await scene.ends.requester()
    await requester.send(**ask(accept_stream=True))
    *_, end = await read_stream(requester)
    assert (end["stream"], end["error"]["code"]) == ("end", "local_failure")


@pytest.mark.parametrize("how", ["cancel", "close"])
async def test_a_requester_that_gives_up_ends_the_work(scene: Scene, how: str) -> None:
    entered = asyncio.Event()

    async def hang(_: web.Request) -> web.Response:
        entered.set()
        await asyncio.Event().wait()
        raise AssertionError

    scene.local.handler = hang
    requester = await scene.ends.requester()
    await requester.send(**ask())
    await entered.wait()
    if how == "cancel":
        await requester.send(type="relay-http-cancel", request_id="aa")
    else:
        await requester.socket.close()
    async with asyncio.timeout(WAIT_S):
        await scene.local.cancelled.wait()


async def test_a_dead_server_of_the_nodes_is_a_502_of_the_nodes(scene: Scene) -> None:
    await scene.local.stop()
    requester = await scene.ends.requester()
    answer = await requester.ask(**ask())
    assert answer["status"] == 502
    assert json.loads(answer["body"])["error"]["code"] == "local_failure"
    assert "error" not in answer


async def test_an_answer_too_large_for_the_relay_is_refused_here(scene: Scene) -> None:
    async def pour(_: web.Request) -> web.Response:
        return web.Response(body=bytes(16 * 1024 * 1024 + 1))

    scene.local.handler = pour
    requester = await scene.ends.requester()
    answer = await requester.ask(**ask())
    assert (answer["status"], json.loads(answer["body"])["error"]["code"]) == (502, "too_large")


async def test_other_paths_stay_at_home(scene: Scene) -> None:
    requester = await scene.ends.requester()
    answer = await requester.ask(**ask(method="GET", path="/metrics"))
    assert (answer["status"], json.loads(answer["body"])["error"]["code"]) == (403, "not_allowed")


async def test_redirects_are_not_followed(scene: Scene) -> None:
    async def redirect(_: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": "http://192.0.2.1/"})

    scene.local.handler = redirect
    requester = await scene.ends.requester()
    assert (await requester.ask(**ask()))["status"] == 302


async def test_a_lost_relay_is_dialled_again_and_work_under_way_ends(scene: Scene) -> None:
    entered = asyncio.Event()

    async def hang(_: web.Request) -> web.Response:
        entered.set()
        await asyncio.Event().wait()
        raise AssertionError

    scene.local.handler = hang
    requester = await scene.ends.requester()
    await requester.send(**ask())
    await entered.wait()
    port = scene.relay.port
    await scene.relay.stop()
    lost = await scene.event(RelayLost)
    assert lost.retry_in_s is not None
    assert lost.reason == "the relay is stopping"
    assert not scene.bridge.connected
    async with asyncio.timeout(WAIT_S):
        await scene.local.cancelled.wait()
    again = RelayServer(RelayConfig(port=port))
    await again.start()
    try:
        await scene.event(RelayConnected)
        assert scene.bridge.connected
        assert scene.bridge.relay_addr == f"ws://127.0.0.1:{port}/rpc/peer-1"
    finally:
        await scene.bridge.stop()
        await again.stop()


async def test_a_peer_id_of_somebody_elses_ends_the_tries(scene: Scene) -> None:
    bus = EventBus()
    thief = RelayHttpBridge(
        relay_url=scene.relay.url,
        peer_id="peer-1",
        secret="another-secret-here",
        local_url=scene.local.url,
        on_event=bus.publish,
    )
    with bus.subscribe() as events:
        await thief.start()
        async with asyncio.timeout(WAIT_S):
            lost = await events.wait_for(RelayLost)
        await thief.stop()
    assert lost.retry_in_s is None
    assert thief.fatal is not None
    assert scene.bridge.connected


async def test_a_relay_that_is_not_there_is_tried_again(unused_tcp_port: int) -> None:
    bus = EventBus()
    bridge = RelayHttpBridge(
        relay_url=f"ws://127.0.0.1:{unused_tcp_port}",
        peer_id="peer-1",
        secret=SECRET,
        local_url="http://127.0.0.1:1",
        on_event=bus.publish,
    )
    with bus.subscribe() as events:
        await bridge.start()
        assert not await bridge.wait_registered(0.01)
        async with asyncio.timeout(WAIT_S):
            lost = [await events.wait_for(RelayLost) for _ in range(2)]
        relay = RelayServer(RelayConfig(port=unused_tcp_port))
        await relay.start()
        assert await bridge.wait_registered(WAIT_S)
        await bridge.stop()
        await relay.stop()
    assert all(each.retry_in_s is not None for each in lost)
    assert "Connect call failed" in lost[0].reason or "refused" in lost[0].reason


async def test_a_forward_goes_straight_to_the_nodes_handler(scene: Scene) -> None:
    entered, ended = asyncio.Event(), asyncio.Event()

    async def forward(headers: Mapping[str, str], body: bytes) -> ForwardAnswer:
        if body == b"hang":
            entered.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()
        if body == b"refuse":
            return ForwardAnswer(409, {"content-type": "application/json"}, b'{"error": {"have": 3}}')
        return ForwardAnswer(200, {"x-meshnet-shape": headers["X-Meshnet-Shape"], "server": "no"}, body)

    bridge = RelayHttpBridge(
        relay_url=scene.relay.url,
        peer_id="peer-2",
        secret=SECRET,
        local_url=scene.local.url,
        on_event=lambda event: None,
        forward=forward,
    )
    await bridge.start()
    try:
        assert await bridge.wait_registered(WAIT_S)
        requester = await scene.ends.requester("peer-2")
        answer = await requester.ask(**ask(headers={"X-Meshnet-Shape": "1,1,4"}, body_base64="/wD/"))
        assert (answer["status"], answer["body_base64"]) == (200, "/wD/")
        assert answer["headers"] == {"x-meshnet-shape": "1,1,4"}
        answer = await requester.ask(**ask(body="refuse"))
        assert (answer["status"], json.loads(answer["body"])["error"]["have"]) == (409, 3)
        assert scene.local.requests == []
        assert (await requester.ask(**ask(path="/health", method="GET")))["status"] == 200
        assert scene.local.requests == ["GET /health"]
        await requester.send(**ask("bb", body="hang"))
        await entered.wait()
        await requester.send(type="relay-http-cancel", request_id="bb")
        async with asyncio.timeout(WAIT_S):
            await ended.wait()
    finally:
        await bridge.stop()


async def test_the_way_to_the_relay_is_measured(scene: Scene) -> None:
    measured = await scene.event(RelayMeasured)
    assert 0 < measured.ms < 5000


async def test_asked_to_reconnect_it_is_back_at_once(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a sleep: the socket may be dead without a word, and no back-off may be waited for."""
    monkeypatch.setattr(bridge, "FIRST_BACKOFF_S", 3600.0)
    monkeypatch.setattr(bridge, "MAX_BACKOFF_S", 3600.0)
    scene.bridge.reconnect("the computer slept")
    await scene.event(RelayLost)
    await scene.event(RelayConnected)
    assert scene.bridge.connected
