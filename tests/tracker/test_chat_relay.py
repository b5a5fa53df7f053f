"""Chats through the tracker to heads behind a relay."""

from __future__ import annotations

import asyncio
import base64
import json
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from meshdesk.protocol.routes import verify_route
from meshdesk.tracker.server import TrackerServer
from tests.tracker.asking import FIRST, QUESTION, ask, error_of, metrics
from tests.tracker.conftest import Join, StartTracker
from tests.tracker.heads import (
    DONE,
    Head,
    Relay,
    chunk,
    event,
    events,
    hang,
    send,
    start_stream,
    stream_frames,
    whole,
)
from tests.tracker.records import MODEL


async def test_the_answer_is_streamed_through_the_relay(
    tracker: TrackerServer, client: aiohttp.ClientSession, join: Join
) -> None:
    async with Relay(stream_frames) as relay:
        key = await join(tracker, "h", relay_addr=relay.addr("h"))
        async with ask(client, tracker) as response:
            assert (response.status, await response.read()) == (200, b"".join(events()))
        async with asyncio.timeout(5):
            await relay.closed.wait()
        assert relay.paths == ["/rpc/h"]
        (frame,) = relay.frames
        assert (frame["method"], frame["path"], frame["accept_stream"]) == ("POST", "/v1/chat/completions", True)
        (asked,) = relay.asked
        assert asked.body == QUESTION | {"stream": True}
        verify_route(
            key,
            asked.header("X-Meshnet-Session"),
            asked.header("X-Meshnet-Route"),
            asked.header("X-Meshnet-Route-Proof"),
            time.time(),
        )
    assert 'head_tries_total{result="answered",way="relay"} 1.0' in await metrics(client, tracker)


async def test_an_answer_that_is_not_streamed(
    tracker: TrackerServer, client: aiohttp.ClientSession, join: Join
) -> None:
    async with Relay(stream_frames) as relay:
        await join(tracker, "h", relay_addr=relay.addr("h"))
        async with ask(client, tracker, stream=False) as response:
            assert (response.status, await response.json()) == (200, whole())
        async with ask(client, tracker, "completions", stream=False, prompt="Hi") as response:
            assert await response.json() == whole(chat=False)


async def test_frames_may_carry_octets_text_or_nothing_anywhere(
    tracker: TrackerServer, client: aiohttp.ClientSession, join: Join
) -> None:
    stream = b"".join(events())

    async def behaviour(_: Relay, peer: Any, request: dict[str, Any]) -> None:
        await start_stream(peer, request, body_base64=base64.b64encode(stream[:7]).decode())
        await send(peer, request, stream="chunk")
        await peer.send(json.dumps({"request_id": "somebody-elses", "stream": "chunk", "body": "no"}))
        # Cut inside a character of several octets.
        middle = stream.index("👋".encode()) + 2
        await send(peer, request, stream="chunk", body_base64=base64.b64encode(stream[7:middle]).decode())
        await send(peer, request, stream="end", body_base64=base64.b64encode(stream[middle:]).decode())

    async with Relay(behaviour) as relay:
        await join(tracker, "h", relay_addr=relay.addr("h"))
        async with ask(client, tracker) as response:
            assert await response.read() == stream


async def test_a_peer_that_knows_no_streaming_answers_in_one_frame(
    tracker: TrackerServer, client: aiohttp.ClientSession, join: Join
) -> None:
    stream = b"".join(events())

    async def behaviour(_: Relay, peer: Any, request: dict[str, Any]) -> None:
        await send(peer, request, status=200, headers={"Content-Type": "text/event-stream"}, body=stream.decode())

    async with Relay(behaviour) as relay:
        await join(tracker, "h", relay_addr=relay.addr("h"))
        async with ask(client, tracker) as response:
            assert await response.read() == stream


@pytest.mark.parametrize("started", [True, False])
async def test_a_client_that_hangs_up_cancels_at_the_peer(
    started: bool, tracker: TrackerServer, client: aiohttp.ClientSession, join: Join
) -> None:
    got = asyncio.Event()

    async def behaviour(_: Relay, peer: Any, request: dict[str, Any]) -> None:
        if started:
            await start_stream(peer, request, body=FIRST.decode())
        got.set()

    async with Relay(behaviour) as relay:
        await join(tracker, "h", relay_addr=relay.addr("h"))
        asking = asyncio.ensure_future(ask(client, tracker).__aenter__())
        async with asyncio.timeout(5):
            await got.wait()
            if started:
                response = await asking
                await response.content.readuntil(b"\n\n")
                response.close()
            else:
                asking.cancel()
            await relay.cancelled.wait()
            await relay.closed.wait()
        request, cancel = relay.frames
        assert cancel == {"type": "relay-http-cancel", "request_id": request["request_id"]}
        await asyncio.wait({asking})


async def test_a_head_with_both_ways_is_asked_direct(
    tracker: TrackerServer, client: aiohttp.ClientSession, join: Join
) -> None:
    async with Relay(stream_frames) as relay, Head() as head:
        await join(tracker, "h", endpoint=head.url, relay_addr=relay.addr("h"))
        async with ask(client, tracker) as response:
            assert response.status == 200
        assert (len(head.asked), len(relay.frames)) == (1, 0)


async def test_a_refused_dial_goes_by_relay_and_is_tried_again_next_time(
    tracker: TrackerServer, client: aiohttp.ClientSession, join: Join
) -> None:
    async with Relay(stream_frames) as relay:
        async with Head() as head:
            url = head.url
        await join(tracker, "h", endpoint=url, relay_addr=relay.addr("h"))
        for _ in range(2):
            async with ask(client, tracker) as response:
                assert await response.read() == b"".join(events())
        assert len(relay.asked) == 2
    assert 'head_tries_total{result="failed",way="direct"} 2.0' in await metrics(client, tracker)


@asynccontextmanager
async def swallowing_port() -> AsyncIterator[int]:
    """A port that neither takes nor refuses a connection: its queue is full, so the kernel drops the dial."""
    with socket.socket() as listener, socket.socket() as one, socket.socket() as two:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for filler in (one, two):
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]


async def test_a_swallowed_dial_costs_once(
    start_tracker: StartTracker, client: aiohttp.ClientSession, join: Join
) -> None:
    tracker = await start_tracker(connect_s=0.2)
    async with Relay(stream_frames) as relay, swallowing_port() as port:
        await join(tracker, "h", endpoint=f"http://127.0.0.1:{port}", relay_addr=relay.addr("h"))
        for _ in range(3):
            async with ask(client, tracker) as response:
                assert await response.read() == b"".join(events())
        assert len(relay.asked) == 3
    assert 'head_tries_total{result="failed",way="direct"} 1.0' in await metrics(client, tracker)


async def test_a_relay_that_swallows_the_dial_is_left_alone_for_a_while(
    start_tracker: StartTracker, client: aiohttp.ClientSession, join: Join
) -> None:
    tracker = await start_tracker(relay_connect_s=0.2)
    async with swallowing_port() as port:
        await join(tracker, "h", relay_addr=f"ws://127.0.0.1:{port}/rpc/h")
        for reason in ("cannot be reached: it timed out", "was not reachable a moment ago"):
            async with ask(client, tracker) as response:
                error = await error_of(response)
                assert (response.status, error["code"]) == (502, "head_unreachable")
                assert reason in error["message"]


async def test_a_relay_that_is_not_there_or_no_relay(
    tracker: TrackerServer, client: aiohttp.ClientSession, join: Join
) -> None:
    async with Head() as no_relay:
        url = no_relay.url
        await join(tracker, "h", relay_addr=url.replace("http", "ws") + "/rpc/h")
        async with ask(client, tracker) as response:
            assert (await error_of(response))["code"] == "head_unreachable"
    async with ask(client, tracker) as response:
        assert (await error_of(response))["code"] == "head_unreachable"
    await join(tracker, "h", relay_addr="wss://" + url.removeprefix("http://") + "/rpc/h")
    async with ask(client, tracker) as response:
        assert (await error_of(response))["code"] == "head_unreachable"


async def test_a_relay_cannot_redirect_the_tracker(
    tracker: TrackerServer, client: aiohttp.ClientSession, join: Join
) -> None:
    async with Relay(stream_frames) as inner:

        async def redirect(_: aiohttp.web.Request) -> aiohttp.web.Response:
            return aiohttp.web.Response(status=307, headers={"Location": inner.addr("h")})

        app = aiohttp.web.Application()
        app.router.add_get("/rpc/h", redirect)
        runner = aiohttp.web.AppRunner(app)
        await runner.setup()
        await aiohttp.web.TCPSite(runner, "127.0.0.1", 0).start()
        try:
            await join(tracker, "h", relay_addr=f"ws://127.0.0.1:{runner.addresses[0][1]}/rpc/h")
            async with ask(client, tracker) as response:
                assert (response.status, (await error_of(response))["code"]) == (502, "head_unreachable")
        finally:
            await runner.cleanup()
        assert inner.paths == []


async def test_two_chats_at_once_do_not_mix(tracker: TrackerServer, client: aiohttp.ClientSession, join: Join) -> None:
    both = asyncio.Barrier(2)

    async def echo(_: Relay, peer: Any, request: dict[str, Any]) -> None:
        text = json.loads(request["body"])["messages"][0]["content"]
        await start_stream(peer, request)
        for part in range(20):
            if part == 1:
                await both.wait()
            await send(peer, request, stream="chunk", body=event(chunk(text)).decode())
        await send(peer, request, stream="end", body=DONE.decode())

    async def chat(text: str) -> bytes:
        async with ask(client, tracker, messages=[{"role": "user", "content": text}]) as response:
            return bytes(await response.read())

    async with Relay(echo) as relay:
        await join(tracker, "h", relay_addr=relay.addr("h"))
        one, two = await asyncio.gather(chat("one"), chat("two"))
    assert one == event(chunk("one")) * 20 + DONE
    assert two == event(chunk("two")) * 20 + DONE


async def test_a_hanging_direct_head_is_not_asked_again_by_relay(
    start_tracker: StartTracker, client: aiohttp.ClientSession, join: Join
) -> None:
    tracker = await start_tracker(silence_s=0.2)
    async with Relay(stream_frames) as relay, Head(hang) as head:
        await join(tracker, "h", endpoint=head.url, relay_addr=relay.addr("h"))
        async with ask(client, tracker) as response:
            assert response.status == 502
        assert (len(head.asked), len(relay.frames)) == (1, 0)


async def test_a_name_that_leads_to_this_machine_is_not_dialled(
    start_tracker: StartTracker, client: aiohttp.ClientSession, join: Join
) -> None:
    """Registered while loopback was allowed, dialled by a tracker that does not allow it."""
    strict = await start_tracker(allow_loopback=False)
    open_one = await start_tracker()
    async with Relay(stream_frames) as relay, Head() as head:
        for way in ({"endpoint": head.url}, {"relay_addr": relay.addr("h")}):
            named = {name: value.replace("127.0.0.1", "localhost") for name, value in way.items()}
            await join(open_one, "h", **named)
            async with ask(client, open_one) as response:
                assert response.status == 200
            node = open_one.registry.get("h")
            assert node is not None
            strict.registry.register(node.record, "secret-of-the-strict-one")
            async with ask(client, strict, model=MODEL) as response:
                assert (response.status, (await error_of(response))["code"]) == (502, "head_unreachable")
        assert (len(head.asked), len(relay.asked)) == (1, 1)


async def test_stopping_waits_for_the_goodbyes(
    start_tracker: StartTracker, client: aiohttp.ClientSession, join: Join
) -> None:
    tracker = await start_tracker()

    async def behaviour(_: Relay, peer: Any, request: dict[str, Any]) -> None:
        await start_stream(peer, request, body=FIRST.decode())

    async with Relay(behaviour) as relay:
        await join(tracker, "h", relay_addr=relay.addr("h"))
        async with ask(client, tracker) as response:
            await response.content.readuntil(b"\n\n")
            await tracker.stop()
            assert relay.cancelled.is_set()
            assert not [task for task in asyncio.all_tasks() if task.get_name() == "relay goodbye"]
