"""Heads that fail: before their first octet another is asked, after it the client is told."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
import pytest

from meshdesk.tracker.server import TrackerServer
from tests.tracker.asking import FIRST, ask, error_of, metrics
from tests.tracker.conftest import Join, StartTracker
from tests.tracker.heads import (
    DONE,
    Head,
    begin_stream,
    cut,
    event,
    events,
    hang,
    refuse,
    start_then,
)
from tests.tracker.records import SECRET


async def test_a_dead_head_costs_the_client_nothing_and_is_not_asked_again(
    tracker: TrackerServer, client: aiohttp.ClientSession, join: Join
) -> None:
    async with Head(cut) as bad, Head() as good:
        await join(tracker, "a-bad", endpoint=bad.url)
        await join(tracker, "b-good", endpoint=good.url)
        for _ in range(3):
            async with ask(client, tracker) as response:
                assert await response.read() == b"".join(events())
        assert (len(bad.asked), len(good.asked)) == (1, 3)
        async with client.get(tracker.url + "/v1/nodes") as response:
            nodes = (await response.json())["nodes"]
        assert {node["node_id"]: node["avoided"] for node in nodes} == {"a-bad": True, "b-good": False}
    assert 'head_tries_total{result="failed",way="direct"} 1.0' in await metrics(client, tracker)


async def test_a_dead_head_is_asked_once_whatever_comes_after_it(
    tracker: TrackerServer, client: aiohttp.ClientSession, join: Join
) -> None:
    async with Head(cut) as bad:
        await join(tracker, "h", 0, 15, endpoint=bad.url)
        for number in range(3):
            await join(tracker, f"t{number}", 15, 30, endpoint="http://127.0.0.1:9")
        async with ask(client, tracker) as response:
            error = await error_of(response)
            assert (response.status, error["message"]) == (502, "The head did not answer: it closed the connection.")
        assert len(bad.asked) == 1


@pytest.mark.parametrize(
    "behaviour",
    [
        refuse(503, "shard_down", "The model is being loaded again."),
        refuse(403, "route_not_proven", "Who are you?"),
        refuse(429, "too_many_chats", "Busy."),
        refuse(400, "not_a_head", "Not I."),
        start_then(b": still", cut_off=True),
        start_then(b"x" * (1024 * 1024 + 1), cut_off=False),
    ],
)
async def test_a_failure_before_the_first_byte_goes_to_another_head(
    behaviour: Any, tracker: TrackerServer, client: aiohttp.ClientSession, join: Join
) -> None:
    async with Head(behaviour) as bad, Head() as good:
        await join(tracker, "a-bad", endpoint=bad.url)
        await join(tracker, "b-good", endpoint=good.url)
        async with ask(client, tracker) as response:
            assert (response.status, await response.read()) == (200, b"".join(events()))
        assert (len(bad.asked), len(good.asked)) == (1, 1)


async def test_another_server_at_the_heads_address_is_never_shown_to_the_client(
    tracker: TrackerServer, client: aiohttp.ClientSession, join: Join
) -> None:
    async def page(_: Any, __: Any) -> Any:
        return aiohttp.web.Response(text="<script>", content_type="text/html")

    def json_text(text: str) -> Any:
        async def behaviour(_: Any, __: Any) -> Any:
            return aiohttp.web.Response(text=text, content_type="application/json")

        return behaviour

    async with Head(page) as head:
        await join(tracker, "all", endpoint=head.url)
        async with ask(client, tracker) as response:
            error = await error_of(response)
            assert (response.status, error["code"]) == (502, "head_failed")
        for text in ("[1]", "{", '{"choices": 1}'):
            head.behaviour = json_text(text)
            async with ask(client, tracker, stream=False) as response:
                assert (response.status, (await error_of(response))["code"]) == (502, "head_failed")


async def test_a_refusal_of_any_length_is_not_read_to_its_end(
    tracker: TrackerServer, client: aiohttp.ClientSession, join: Join
) -> None:
    async with Head(refuse(400, "invalid_request", "x" * 100_000)) as head:
        await join(tracker, "all", endpoint=head.url)
        async with ask(client, tracker) as response:
            error = await error_of(response)
            assert (response.status, error["message"]) == (502, "The head's answer has more than 65536 octets.")


async def test_three_routes_are_the_most(tracker: TrackerServer, client: aiohttp.ClientSession, join: Join) -> None:
    async with Head(refuse(503, "shard_down", "Loading.")) as bad:
        for number in range(5):
            await join(tracker, f"n{number}", endpoint=bad.url)
        async with ask(client, tracker) as response:
            error = await error_of(response)
            assert (response.status, error["code"], error["message"]) == (503, "shard_down", "Loading.")
        assert len(bad.asked) == 3
    assert 'chats_total{outcome="failed"} 1.0' in await metrics(client, tracker)


async def test_the_clients_own_fault_is_asked_of_one_head_only(
    tracker: TrackerServer, client: aiohttp.ClientSession, join: Join
) -> None:
    async with Head(refuse(400, "context_length_exceeded", "Too long.")) as one:
        await join(tracker, "a", endpoint=one.url)
        await join(tracker, "b", endpoint=one.url)
        async with ask(client, tracker) as response:
            error = await error_of(response)
            assert (response.status, error["code"], error["message"]) == (400, "context_length_exceeded", "Too long.")
        assert len(one.asked) == 1


async def test_a_hop_the_head_names_is_replaced_under_the_same_head(
    tracker: TrackerServer, client: aiohttp.ClientSession, join: Join
) -> None:
    async def behaviour(request: Any, asked: Any) -> Any:
        (hop,) = json.loads(asked.header("X-Meshnet-Route"))
        if hop["endpoint"].endswith(":1"):
            return await refuse(502, "pipeline_failed", "hop 1 is gone.", hop=1)(request, asked)
        return await begin_stream(request, *events())

    async with Head(behaviour) as head:
        await join(tracker, "head", 0, 15, endpoint=head.url)
        await join(tracker, "a-dead", 15, 30, endpoint="http://127.0.0.1:1")
        await join(tracker, "b-live", 15, 30, endpoint="http://127.0.0.1:2")
        for _ in range(3):
            async with ask(client, tracker) as response:
                assert await response.read() == b"".join(events())
        assert len(head.asked) == 4, "the dead hop is tried once and then avoided"


async def test_a_failed_route_without_a_named_hop_gives_way_to_a_different_one(
    tracker: TrackerServer, client: aiohttp.ClientSession, join: Join
) -> None:
    async with Head(refuse(502, "pipeline_failed", "Somewhere.")) as bad, Head() as good:
        await join(tracker, "a1", 0, 15, endpoint=bad.url)
        await join(tracker, "a2", 0, 15, endpoint=good.url)
        await join(tracker, "t1", 15, 30, endpoint="http://127.0.0.1:1")
        await join(tracker, "t2", 15, 30, endpoint="http://127.0.0.1:2")
        for busy in ("a2", "t2"):
            tracker.registry.heartbeat(busy, SECRET, load=5)
        async with ask(client, tracker) as response:
            assert response.status == 200
        first, second = (asked.header("X-Meshnet-Route") for asked in (*bad.asked, *good.asked))
        assert first != second, "the second try shares no node with the first"


@pytest.mark.parametrize("rest", [b"", b'data: {"half', DONE[:-1]])
async def test_an_answer_that_breaks_off_ends_with_an_error_the_client_can_read(
    rest: bytes, tracker: TrackerServer, client: aiohttp.ClientSession, join: Join
) -> None:
    flushed = asyncio.Event()

    async def behaviour(request: Any, _: Any) -> Any:
        response = await begin_stream(request, FIRST, rest)
        await flushed.wait()
        request.transport.abort()
        return response

    async with Head(behaviour) as head:
        await join(tracker, "all", endpoint=head.url)
        async with ask(client, tracker) as response:
            assert await response.content.readuntil(b"\n\n") == FIRST
            flushed.set()
            last, done, end = (await response.read()).split(b"\n\n")
        assert (done, end) == (b"data: [DONE]", b"")
        error = json.loads(last.removeprefix(b"data: "))["error"]
        assert (error["code"], error["type"]) == ("head_failed", "server_error")
        assert "broke off" in error["message"]
    assert 'chats_total{outcome="broken_off"} 1.0' in await metrics(client, tracker)


async def test_an_answer_that_ends_without_its_end_is_broken_too(
    tracker: TrackerServer, client: aiohttp.ClientSession, join: Join
) -> None:
    async def behaviour(request: Any, _: Any) -> Any:
        return await begin_stream(request, FIRST)

    async with Head(behaviour) as head:
        await join(tracker, "all", endpoint=head.url)
        async with ask(client, tracker) as response:
            text = await response.text()
    assert "ended before it was complete" in text
    assert text.endswith("data: [DONE]\n\n")


async def test_the_heads_own_error_event_passes_and_blames_the_hop_it_names(
    tracker: TrackerServer, client: aiohttp.ClientSession, join: Join
) -> None:
    stream = FIRST + event({"error": {"message": "hop 1 died.", "code": "pipeline_failed", "hop": 1}}) + DONE

    async def behaviour(request: Any, _: Any) -> Any:
        return await begin_stream(request, stream)

    async with Head(behaviour) as head:
        await join(tracker, "h", 0, 15, endpoint=head.url)
        await join(tracker, "t", 15, 30, endpoint="http://127.0.0.1:1")
        async with ask(client, tracker) as response:
            assert await response.read() == stream
    async with client.get(tracker.url + "/v1/nodes") as response:
        nodes = (await response.json())["nodes"]
    assert {node["node_id"]: node["avoided"] for node in nodes} == {"h": False, "t": True}


async def test_a_head_that_falls_silent_is_given_up(
    start_tracker: StartTracker, client: aiohttp.ClientSession, join: Join
) -> None:
    tracker = await start_tracker(silence_s=0.2)
    async with Head(start_then(FIRST, cut_off=False)) as head:
        await join(tracker, "all", endpoint=head.url)
        async with ask(client, tracker) as response:
            assert "The head fell silent for 0.2 s." in await response.text()
        async with asyncio.timeout(5):
            await head.cancelled.wait()
    async with Head(hang) as head:
        await join(tracker, "all", endpoint=head.url)
        async with ask(client, tracker) as response:
            error = await error_of(response)
            assert (response.status, error["message"]) == (502, "The head gave no sign of life within 0.2 s.")
