"""Chats through the tracker to heads that are reached at their endpoint."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import aiohttp
import pytest

from meshdesk.protocol.routes import parse_route, verify_route
from meshdesk.tracker.server import TrackerServer
from tests.tracker.asking import FIRST, QUESTION, ask, error_of, metrics
from tests.tracker.conftest import Join, StartTracker
from tests.tracker.heads import (
    DONE,
    PIECES,
    Head,
    begin_stream,
    chunk,
    event,
    events,
    hang,
    start_then,
    whole,
)
from tests.tracker.records import MODEL, REVISION


async def test_the_heads_events_reach_the_client_as_they_are(
    tracker: TrackerServer, client: aiohttp.ClientSession, join: Join
) -> None:
    async with Head() as head:
        await join(tracker, "all", endpoint=head.url)
        async with ask(client, tracker, temperature=0) as response:
            assert response.status == 200
            assert response.content_type == "text/event-stream"
            assert await response.read() == b"".join(events())
        assert head.asked[0].body == QUESTION | {"stream": True, "temperature": 0}
    text = await metrics(client, tracker)
    assert 'meshdesk_tracker_chats_total{outcome="answered"} 1.0' in text
    assert 'meshdesk_tracker_head_tries_total{result="answered",way="direct"} 1.0' in text


async def test_the_head_gets_its_route_session_model_and_a_proof_it_can_check(
    tracker: TrackerServer, client: aiohttp.ClientSession, join: Join
) -> None:
    addr = "ws://127.0.0.1:9/rpc/b"
    async with Head() as head:
        key = await join(tracker, "a", 0, 12, endpoint=head.url)
        await join(tracker, "b", 12, 20, relay_addr=addr)
        await join(tracker, "c", 20, 30, endpoint="http://127.0.0.1:9")
        for _ in range(2):
            async with ask(client, tracker) as response:
                await response.read()
        first, second = head.asked
    assert json.loads(first.header("X-Meshnet-Route")) == [
        {"start_layer": 12, "end_layer": 20, "relay_addr": addr},
        {"endpoint": "http://127.0.0.1:9", "start_layer": 20, "end_layer": 30},
    ]
    session, route = first.header("X-Meshnet-Session"), first.header("X-Meshnet-Route")
    verify_route(key, session, route, first.header("X-Meshnet-Route-Proof"), time.time())
    assert parse_route(route)[-1].end_layer == 30
    assert first.header("X-Meshnet-Model") == f"{MODEL}@{REVISION}"
    assert session != second.header("X-Meshnet-Session")


async def test_each_event_comes_through_at_once(
    tracker: TrackerServer, client: aiohttp.ClientSession, join: Join
) -> None:
    go_on = asyncio.Event()

    async def slow(request: Any, _: Any) -> Any:
        response = await begin_stream(request, FIRST)
        await go_on.wait()
        await response.write(DONE)
        return response

    async with Head(slow) as head:
        await join(tracker, "all", endpoint=head.url)
        async with ask(client, tracker) as response:
            assert await response.content.readuntil(b"\n\n") == FIRST
            go_on.set()
            assert await response.read() == DONE


async def test_an_answer_that_is_not_streamed(
    tracker: TrackerServer, client: aiohttp.ClientSession, join: Join
) -> None:
    async with Head() as head:
        await join(tracker, "all", endpoint=head.url)
        async with ask(client, tracker, stream=False) as response:
            assert (response.status, await response.json()) == (200, whole())
        async with ask(client, tracker, "completions", stream=False, prompt="Hi") as response:
            assert (response.status, await response.json()) == (200, whole(chat=False))
        assert [asked.path for asked in head.asked] == ["/v1/chat/completions", "/v1/completions"]


async def test_no_model_named_means_the_meshs_own(
    tracker: TrackerServer, client: aiohttp.ClientSession, join: Join
) -> None:
    async with Head() as head:
        await join(tracker, "all", endpoint=head.url)
        async with ask(client, tracker, model=None) as response:
            assert response.status == 200


@pytest.mark.parametrize(
    ("body", "status", "code", "param"),
    [
        (b"{", 400, "invalid_request", None),
        (b'{"messages": []}', 400, "invalid_request", "messages"),
        (b'{"messages": [{"role": "user", "content": "x"}], "n": 3}', 400, "invalid_request", "n"),
        (b'{"model": "gpt-4", "messages": [{"role": "user", "content": "x"}]}', 404, "model_not_found", "model"),
        (b" " * 5000, 413, "too_large", None),
    ],
)
async def test_what_the_client_did_wrong_is_said_in_openai_form(
    body: bytes, status: int, code: str, param: str | None, start_tracker: StartTracker, client: aiohttp.ClientSession
) -> None:
    tracker = await start_tracker(max_chat_body=4000)
    async with client.post(tracker.url + "/v1/chat/completions", data=body) as response:
        error = await error_of(response)
        assert (response.status, error["code"], error["param"]) == (status, code, param)
    assert 'chats_total{outcome="refused"} 1.0' in await metrics(client, tracker)


async def test_a_mesh_with_a_gap_names_the_layers_nobody_holds(
    tracker: TrackerServer, client: aiohttp.ClientSession, join: Join
) -> None:
    await join(tracker, "a", 0, 12, endpoint="http://127.0.0.1:9")
    await join(tracker, "c", 20, 30, endpoint="http://127.0.0.1:9")
    async with ask(client, tracker) as response:
        error = await error_of(response)
        assert (response.status, error["code"], error["type"]) == (503, "no_route", "server_error")
        assert error["message"].startswith(f"No node holds layers 12–19 of {MODEL} (bfloat16).")
        assert error["missing_layers"] == [[12, 20]]


async def test_a_client_that_hangs_up_ends_the_heads_work(
    tracker: TrackerServer, client: aiohttp.ClientSession, join: Join
) -> None:
    async with Head(start_then(FIRST, cut_off=False)) as head:
        await join(tracker, "all", endpoint=head.url)
        async with ask(client, tracker) as response:
            await response.content.readuntil(b"\n\n")
            response.close()
        async with asyncio.timeout(5):
            await head.cancelled.wait()
    assert 'chats_total{outcome="hung_up"} 1.0' in await metrics(client, tracker)


async def test_a_client_that_hangs_up_before_the_first_byte_ends_it_too(
    tracker: TrackerServer, client: aiohttp.ClientSession, join: Join
) -> None:
    async with Head(hang) as head:
        await join(tracker, "all", endpoint=head.url)
        asking = asyncio.ensure_future(ask(client, tracker, stream=False).__aenter__())
        async with asyncio.timeout(5):
            await head.got.wait()
            asking.cancel()
            await head.cancelled.wait()
        with pytest.raises(asyncio.CancelledError):
            await asking


async def test_events_cut_anywhere_and_words_after_the_end(
    tracker: TrackerServer, client: aiohttp.ClientSession, join: Join
) -> None:
    seen = asyncio.Event()

    async def behaviour(request: Any, _: Any) -> Any:
        response = await begin_stream(request, FIRST)
        await seen.wait()
        await response.write(b"data: [DO")
        await asyncio.sleep(0.05)
        await response.write(b"NE]\n\n")
        await asyncio.sleep(0.05)
        await response.write(b"data: not for the client\n\n")
        await asyncio.sleep(0.05)
        return response

    async with Head(behaviour) as head:
        await join(tracker, "all", endpoint=head.url)
        async with ask(client, tracker) as response:
            assert await response.content.readuntil(b"\n\n") == FIRST
            seen.set()
            assert await response.read() == DONE
        async with asyncio.timeout(5):
            await head.finished.wait()
        assert not head.cancelled.is_set(), "an answer that is complete is not hung up on"


async def test_as_many_chats_as_the_tracker_carries(
    start_tracker: StartTracker, client: aiohttp.ClientSession, join: Join
) -> None:
    tracker = await start_tracker(max_chats=1)
    async with Head(start_then(FIRST, cut_off=False)) as head:
        await join(tracker, "all", endpoint=head.url)
        async with ask(client, tracker) as response:
            await response.content.readuntil(b"\n\n")
            async with client.get(tracker.url + "/health") as health:
                assert (await health.json())["chats"] == 1
            async with ask(client, tracker) as second:
                error = await error_of(second)
                assert (second.status, error["type"], error["code"]) == (429, "rate_limit_error", "too_many_chats")
                assert int(second.headers["Retry-After"]) > 0
            response.close()
        async with asyncio.timeout(5):
            await head.cancelled.wait()
        head.behaviour = lambda request, _: begin_stream(request, *events())
        async with asyncio.timeout(5), ask(client, tracker) as third:
            assert third.status == 200


async def test_a_client_that_takes_nothing_of_its_answer_is_let_go(
    start_tracker: StartTracker, client: aiohttp.ClientSession, join: Join
) -> None:
    tracker = await start_tracker(client_stall_s=0.2)

    async def flood(request: Any, _: Any) -> Any:
        response = await begin_stream(request)
        while True:
            await response.write(event(chunk("x" * 100_000)))

    async with Head(flood) as head:
        await join(tracker, "all", endpoint=head.url)
        async with ask(client, tracker) as response:
            assert response.status == 200
            async with asyncio.timeout(10):
                await head.cancelled.wait()
            assert tracker._runner is not None
            assert tracker._runner.server is not None
            assert tracker._runner.server.connections == [], "what was not taken is not kept for it either"
            with pytest.raises(aiohttp.ClientError):
                await response.read()


async def test_a_question_that_does_not_arrive_is_not_waited_for(
    start_tracker: StartTracker, client: aiohttp.ClientSession
) -> None:
    tracker = await start_tracker(client_body_s=0.1)
    reader, writer = await asyncio.open_connection("127.0.0.1", tracker.port)
    writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
    async with asyncio.timeout(5):
        status = await reader.readline()
    writer.close()
    await writer.wait_closed()
    assert b" 408 " in status


async def test_stopping_ends_the_chats_under_way(
    start_tracker: StartTracker, client: aiohttp.ClientSession, join: Join
) -> None:
    tracker = await start_tracker()
    async with Head(start_then(FIRST, cut_off=False)) as head:
        await join(tracker, "all", endpoint=head.url)
        async with ask(client, tracker) as response:
            await response.content.readuntil(b"\n\n")
            await tracker.stop()
            async with asyncio.timeout(5):
                await head.cancelled.wait()
            with pytest.raises(aiohttp.ClientError):
                await response.read()


async def test_pieces_are_what_the_client_sees(
    tracker: TrackerServer, client: aiohttp.ClientSession, join: Join
) -> None:
    async with Head() as head:
        await join(tracker, "all", endpoint=head.url)
        async with ask(client, tracker, "completions", prompt="Hi") as response:
            lines = [line async for line in response.content if line.startswith(b"data: {")]
    texts = [json.loads(line.removeprefix(b"data: "))["choices"][0]["text"] for line in lines]
    assert "".join(texts) == "".join(PIECES)
