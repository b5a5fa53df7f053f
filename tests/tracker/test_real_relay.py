"""The tracker's relay way with the real relay and the real bridge in between; only the head is a stub."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp

from meshdesk.node.bridge import RelayHttpBridge
from meshdesk.node.events import Event
from meshdesk.relay.server import RelayServer
from meshdesk.tracker.server import TrackerServer
from tests.tracker.asking import FIRST, ask, error_of
from tests.tracker.conftest import Join
from tests.tracker.heads import Head, events, refuse, start_then, whole
from tests.tracker.records import SECRET


@asynccontextmanager
async def relayed(head: Head) -> AsyncIterator[RelayHttpBridge]:
    relay = RelayServer()
    await relay.start()
    try:
        told: list[Event] = []
        bridge = RelayHttpBridge(
            relay_url=relay.url, peer_id="h", secret=SECRET, local_url=head.url, on_event=told.append
        )
        await bridge.start()
        try:
            assert await bridge.wait_registered(5), told
            yield bridge
        finally:
            await bridge.stop()
    finally:
        await relay.stop()


async def test_an_answer_streams_through_relay_and_bridge(
    tracker: TrackerServer, client: aiohttp.ClientSession, join: Join
) -> None:
    async with Head() as head, relayed(head) as bridge:
        await join(tracker, "h", relay_addr=bridge.relay_addr)
        async with ask(client, tracker) as response:
            assert (response.status, await response.read()) == (200, b"".join(events()))
        async with ask(client, tracker, stream=False) as response:
            assert (response.status, await response.json()) == (200, whole())
        assert head.asked[0].header("X-Meshnet-Route") == "[]"
        assert head.asked[0].header("X-Meshnet-Route-Proof")
        head.behaviour = refuse(400, "context_length_exceeded", "Too long.")
        async with ask(client, tracker) as response:
            assert (response.status, (await error_of(response))["message"]) == (400, "Too long.")


async def test_a_hang_up_reaches_the_head_through_relay_and_bridge(
    tracker: TrackerServer, client: aiohttp.ClientSession, join: Join
) -> None:
    async with Head(start_then(FIRST, cut_off=False)) as head, relayed(head) as bridge:
        await join(tracker, "h", relay_addr=bridge.relay_addr)
        async with ask(client, tracker) as response:
            await response.content.readuntil(b"\n\n")
            response.close()
        async with asyncio.timeout(5):
            await head.cancelled.wait()


async def test_a_peer_that_leaves_in_mid_answer_and_is_gone_afterwards(
    tracker: TrackerServer, client: aiohttp.ClientSession, join: Join
) -> None:
    async with Head(start_then(FIRST, cut_off=False)) as head, relayed(head) as bridge:
        await join(tracker, "h", relay_addr=bridge.relay_addr)
        async with ask(client, tracker) as response:
            await response.content.readuntil(b"\n\n")
            await bridge.stop()
            rest = await response.text()
        assert '"error"' in rest
        assert rest.endswith("data: [DONE]\n\n")
        async with ask(client, tracker) as response:
            error = await error_of(response)
            assert (response.status, error["code"]) == (502, "head_unreachable")
