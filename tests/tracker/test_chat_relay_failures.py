"""Relays and peers that fail in mid-chat, each in its own way."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
import pytest

from meshdesk.tracker.server import TrackerServer
from tests.tracker.asking import FIRST, ask, error_of
from tests.tracker.conftest import Join, StartTracker
from tests.tracker.heads import (
    Frames,
    Head,
    Relay,
    events,
    relay_failure,
    send,
    start_stream,
)


async def failing_start(_: Relay, peer: Any, request: dict[str, Any]) -> None:
    await send(peer, request, stream="chunk", body="too soon")


async def two_bodies(_: Relay, peer: Any, request: dict[str, Any]) -> None:
    await send(peer, request, status=200, body="a", body_base64="YQ==")


async def bad_octets(_: Relay, peer: Any, request: dict[str, Any]) -> None:
    await send(peer, request, status=200, headers={"content-type": "text/event-stream"}, body_base64="%%")


async def only_strays(_: Relay, peer: Any, request: dict[str, Any]) -> None:
    for _number in range(20):
        await send(peer, request | {"request_id": "stray"}, status=200)


async def close_at_once(_: Relay, peer: Any, request: dict[str, Any]) -> None:
    await peer.close(4400, "go\naway")


async def a_503(_: Relay, peer: Any, request: dict[str, Any]) -> None:
    body = json.dumps({"error": {"code": "shard_down", "message": "Loading."}})
    await send(peer, request, status=503, headers={"content-type": "application/json"}, body=body)


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        (relay_failure(404, "unknown_peer", delivered=False), "could not pass the chat on: Not here."),
        (relay_failure(502, "peer_gone", delivered=True), "could not pass the chat on: Not here."),
        (failing_start, "does not start with its start"),
        (two_bodies, "sent what is no answer"),
        (bad_octets, "cannot be read"),
        (only_strays, "keeps answering what was not asked"),
        (close_at_once, "closed the connection: go away"),
        (a_503, "Loading."),
    ],
)
async def test_failures_before_the_first_byte(
    behaviour: Frames, message: str, tracker: TrackerServer, client: aiohttp.ClientSession, join: Join
) -> None:
    async with Relay(behaviour) as relay:
        await join(tracker, "a-bad", relay_addr=relay.addr("bad"))
        async with ask(client, tracker) as response:
            assert response.status in (502, 503)
            assert message in (await error_of(response))["message"]
        async with Head() as good:
            await join(tracker, "b-good", endpoint=good.url)
            async with ask(client, tracker) as response:
                assert await response.read() == b"".join(events())


async def end_with_error(_: Relay, peer: Any, request: dict[str, Any]) -> None:
    await start_stream(peer, request, body=FIRST.decode())
    await send(peer, request, stream="end", error={"code": "peer_gone", "message": "The peer is gone."})


async def start_twice(_: Relay, peer: Any, request: dict[str, Any]) -> None:
    await start_stream(peer, request, body=FIRST.decode())
    await start_stream(peer, request)


async def end_early(_: Relay, peer: Any, request: dict[str, Any]) -> None:
    await start_stream(peer, request, body=FIRST.decode())
    await send(peer, request, stream="end")


async def close_after_start(_: Relay, peer: Any, request: dict[str, Any]) -> None:
    await start_stream(peer, request, body=FIRST.decode())
    await peer.close()


async def bad_octets_after_start(_: Relay, peer: Any, request: dict[str, Any]) -> None:
    await start_stream(peer, request, body=FIRST.decode())
    await send(peer, request, stream="chunk", body_base64="%%")


async def error_without_words(_: Relay, peer: Any, request: dict[str, Any]) -> None:
    await start_stream(peer, request, body=FIRST.decode())
    await send(peer, request, stream="end", error={"code": "x"})


async def silent_after_start(_: Relay, peer: Any, request: dict[str, Any]) -> None:
    await start_stream(peer, request, body=FIRST.decode())


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        (end_with_error, "broke off: The peer is gone."),
        (error_without_words, "broke off: it did not say why."),
        (start_twice, "answered twice"),
        (end_early, "ended before it was complete"),
        (close_after_start, "closed the connection: it was cut"),
        (bad_octets_after_start, "cannot be read"),
        (silent_after_start, "fell silent for 0.5 s"),
    ],
)
async def test_failures_after_the_first_byte_end_the_stream_with_an_error(
    behaviour: Frames, message: str, start_tracker: StartTracker, client: aiohttp.ClientSession, join: Join
) -> None:
    tracker = await start_tracker(silence_s=0.5)
    async with Relay(behaviour) as relay:
        await join(tracker, "h", relay_addr=relay.addr("h"))
        async with ask(client, tracker) as response:
            first, last, done, end = (await response.read()).split(b"\n\n")
    assert first + b"\n\n" == FIRST
    assert (done, end) == (b"data: [DONE]", b"")
    assert message in json.loads(last.removeprefix(b"data: "))["error"]["message"]


async def test_a_peer_that_says_nothing_is_given_up_and_cancelled(
    start_tracker: StartTracker, client: aiohttp.ClientSession, join: Join
) -> None:
    tracker = await start_tracker(silence_s=0.2)

    async def nothing(_: Relay, __: Any, ___: dict[str, Any]) -> None:
        pass

    async with Relay(nothing) as relay:
        await join(tracker, "h", relay_addr=relay.addr("h"))
        async with ask(client, tracker) as response:
            assert "no sign of life within 0.2 s" in (await error_of(response))["message"]
        async with asyncio.timeout(5):
            await relay.cancelled.wait()
