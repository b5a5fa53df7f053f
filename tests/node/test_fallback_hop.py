"""FallbackHop: relay first, the same request direct when it fails, and back, over real sockets."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator

import aiohttp
import pytest
import pytest_asyncio
from aiohttp import web

from meshdesk.node.bridge import RelayHttpBridge
from meshdesk.node.direct_hop import DirectHop, direct_client
from meshdesk.node.events import EventBus, HopFailed, HopWayChanged, Way
from meshdesk.node.fallback_hop import FallbackHop
from meshdesk.node.hop import HopRequest, HopUnavailable
from meshdesk.node.reachability import UnreachableAddresses
from meshdesk.node.relay_hop import RelayHop
from meshdesk.relay.server import RelayConfig, RelayServer
from tests.node.local_server import LocalServer

FORWARD = HopRequest("POST", "/forward", {}, b"\xff", deadline_s=20)
WAIT_S = 30.0


class Scene:
    """A node's server reachable by relay and direct, and a seam to it."""

    def __init__(self, client: aiohttp.ClientSession):
        self.server = LocalServer()
        self.relay = RelayServer()
        self.client = client
        self.bus = EventBus()
        self._bridge: RelayHttpBridge | None = None
        self._seams: list[FallbackHop] = []

    async def start(self) -> None:
        await self.server.start()
        await self.relay.start()
        await self.start_bridge()

    async def start_bridge(self) -> None:
        self._bridge = RelayHttpBridge(
            relay_url=self.relay.url,
            peer_id="peer-1",
            secret="the-secret-of-the-bridge",
            local_url=self.server.url,
            on_event=lambda event: None,
        )
        await self._bridge.start()
        assert await self._bridge.wait_registered(WAIT_S)

    async def stop_bridge(self) -> None:
        assert self._bridge is not None
        await self._bridge.stop()

    async def restart_relay(self) -> None:
        self.relay = RelayServer(RelayConfig(port=self.relay.port))
        await self.relay.start()

    async def stop(self) -> None:
        for seam in self._seams:
            await seam.close()
        await self.stop_bridge()
        await self.relay.stop()
        await self.server.stop()

    def seam(self, *, relay: bool = True, direct: bool = True) -> FallbackHop:
        seam = FallbackHop(
            session="s",
            index=1,
            name="hop 1",
            relay=RelayHop(f"{self.relay.url}/rpc/peer-1", UnreachableAddresses()) if relay else None,
            direct=DirectHop(self.server.url, self.client, UnreachableAddresses()) if direct else None,
            publish=self.bus.publish,
        )
        self._seams.append(seam)
        return seam


@pytest_asyncio.fixture
async def scene() -> AsyncIterator[Scene]:
    async with direct_client() as client:
        scene = Scene(client)
        await scene.start()
        try:
            yield scene
        finally:
            await scene.stop()


async def ways(seam: FallbackHop, count: int) -> list[Way]:
    return [(await seam.request(FORWARD))[0] for _ in range(count)]


async def test_the_relay_is_the_first_choice(scene: Scene) -> None:
    seam = scene.seam()
    with scene.bus.subscribe() as events:
        assert await ways(seam, 3) == [Way.RELAY] * 3
        [changed] = events.take()
    assert isinstance(changed, HopWayChanged)
    assert (changed.way, changed.reason) == (Way.RELAY, "first choice")
    assert seam.warnings == []


async def test_a_dead_relay_gives_one_warning_and_direct_hops(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    seam = scene.seam()
    assert await ways(seam, 1) == [Way.RELAY]
    await scene.relay.stop()
    with scene.bus.subscribe() as events, caplog.at_level(logging.WARNING, "meshdesk.node.fallback_hop"):
        assert await ways(seam, 5) == [Way.DIRECT_AFTER_RELAY] * 5
        failed, changed = events.take()[:2]
    assert isinstance(failed, HopFailed)
    assert (failed.way, failed.fallback) == (Way.RELAY, True)
    assert isinstance(changed, HopWayChanged)
    assert changed.way is Way.DIRECT_AFTER_RELAY
    assert changed.reason == failed.reason
    assert len(seam.warnings) == 1
    assert [record.getMessage() for record in caplog.records] == seam.warnings


async def test_a_relay_that_is_back_is_used_again(scene: Scene) -> None:
    seam = scene.seam()
    await scene.stop_bridge()
    assert await ways(seam, 1) == [Way.DIRECT_AFTER_RELAY]
    await scene.start_bridge()
    async with asyncio.timeout(WAIT_S):
        while (await ways(seam, 1))[0] is not Way.RELAY:
            pass
    assert len(seam.warnings) == 1
    await scene.stop_bridge()
    assert await ways(seam, 1) == [Way.DIRECT_AFTER_RELAY]
    assert len(seam.warnings) == 2
    await scene.start_bridge()


async def test_a_restarted_relay_is_dialled_beside_the_tokens(scene: Scene) -> None:
    seam = scene.seam()
    await ways(seam, 1)
    await scene.relay.stop()
    assert await ways(seam, 1) == [Way.DIRECT_AFTER_RELAY]
    await scene.restart_relay()
    with scene.bus.subscribe() as events:
        async with asyncio.timeout(WAIT_S):
            while (await ways(seam, 1))[0] is not Way.RELAY:
                pass
        changed = [event for event in events.take() if isinstance(event, HopWayChanged)]
    assert (changed[-1].way, changed[-1].reason) == (Way.RELAY, "the relay works again")


async def test_both_ways_dead_names_both_reasons(scene: Scene) -> None:
    seam = scene.seam()
    await scene.relay.stop()
    await scene.server.stop()
    with scene.bus.subscribe() as events:
        with pytest.raises(HopUnavailable) as caught:
            await seam.request(FORWARD)
        failures = [event for event in events.take() if isinstance(event, HopFailed)]
    assert "relay" in caught.value.message
    assert scene.server.url in caught.value.message
    assert caught.value.delivered is False
    assert [(failure.way, failure.fallback) for failure in failures] == [
        (Way.RELAY, True),
        (Way.DIRECT_AFTER_RELAY, False),
    ]


async def test_without_a_relay_it_goes_direct(scene: Scene) -> None:
    seam = scene.seam(relay=False)
    assert await ways(seam, 2) == [Way.DIRECT] * 2
    assert seam.warnings == []


async def test_without_a_direct_way_the_relays_failure_is_the_hops(scene: Scene) -> None:
    seam = scene.seam(direct=False)
    assert await ways(seam, 1) == [Way.RELAY]
    await scene.relay.stop()
    with pytest.raises(HopUnavailable):
        await seam.request(FORWARD)
    # No fallback happened, so there is nothing to warn about beyond the error itself.
    assert seam.warnings == []


async def test_a_refusal_of_the_nodes_is_no_failure_of_the_way(scene: Scene) -> None:
    async def refuse(_: web.Request) -> web.Response:
        return web.json_response({"error": {"code": "shard_unavailable"}}, status=503)

    scene.server.handler = refuse
    way, answer = await scene.seam().request(FORWARD)
    assert (way, answer.status) == (Way.RELAY, 503)
    assert scene.server.requests == ["POST /forward"]


async def test_a_goodbye_that_fails_is_nobodys_concern(scene: Scene) -> None:
    seam = scene.seam()
    await scene.relay.stop()
    with scene.bus.subscribe() as events:
        await seam.say_goodbye(FORWARD)
        assert not [event for event in events.take() if isinstance(event, HopFailed)]
    assert seam.warnings == []
