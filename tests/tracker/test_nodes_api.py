"""Nodes registering over real sockets, by hand and with the node's own tracker link."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import pytest

from meshdesk.node.events import DirectProbed, Event, TrackerLost, TrackerRegistered
from meshdesk.node.tracker_link import TrackerLink
from meshdesk.protocol.errors import MeshdeskError
from meshdesk.tracker import nodes_api
from meshdesk.tracker.server import TrackerServer
from tests.tracker.conftest import StartTracker
from tests.tracker.records import SECRET, registration

BEARER = {"Authorization": f"Bearer {SECRET}"}


async def call(
    client: aiohttp.ClientSession, tracker: TrackerServer, method: str, path: str, **options: Any
) -> tuple[int, dict[str, Any]]:
    async with client.request(method, tracker.url + path, **options) as response:
        assert response.content_type == "application/json"
        return response.status, await response.json()


async def test_a_node_joins_lives_and_leaves(start_tracker: StartTracker, client: aiohttp.ClientSession) -> None:
    tracker = await start_tracker(heartbeat_s=15, expire_after_s=45)
    addr = "wss://relay.example/rpc/n1"
    status, answer = await call(client, tracker, "POST", "/v1/nodes", json=registration("n1", 0, 15, relay_addr=addr))
    assert status == 200
    key = answer.pop("route_key")
    assert len(bytes.fromhex(key)) == 32
    assert answer == {"node_id": "n1", "heartbeat_s": 15, "expires_s": 45}

    beat = await call(client, tracker, "POST", "/v1/nodes/n1/heartbeat", json={"load": 2}, headers=BEARER)
    assert beat == (200, {"node_id": "n1", "expires_s": 45})

    async with client.get(tracker.url + "/v1/nodes") as response:
        text = await response.text()
        (shown,) = (await response.json())["nodes"]
    assert SECRET not in text
    assert key not in text
    assert shown.pop("silent_s") >= 0
    assert shown == {
        "node_id": "n1",
        "endpoint": "http://203.0.113.7:7002",
        "relay_addr": addr,
        "model": "SmolLM2-135M-Instruct",
        "revision": "0123456789ab",
        "start_layer": 0,
        "end_layer": 15,
        "num_layers": 30,
        "dtype": "bfloat16",
        "max_positions": 2048,
        "version": "0.1",
        "name": "",
        "load": 2,
        "chats": 0,
        "avoided": False,
    }
    assert await call(client, tracker, "DELETE", "/v1/nodes/n1", headers=BEARER) == (200, {"node_id": "n1"})
    assert await call(client, tracker, "GET", "/v1/nodes") == (200, {"nodes": []})
    status, answer = await call(client, tracker, "POST", "/v1/nodes/n1/heartbeat", headers=BEARER)
    assert (status, answer["error"]["code"]) == (404, "unknown_node")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 400, "bad_registration"),
        (b"{", 400, "bad_registration"),
        (b"[]", 400, "bad_registration"),
        (b'{"node_id": "n1"}', 400, "bad_registration"),
        (b" " * (nodes_api.MAX_BODY_BYTES + 1), 413, "too_large"),
    ],
)
async def test_registrations_that_cannot_be_read(
    body: bytes, status: int, code: str, tracker: TrackerServer, client: aiohttp.ClientSession
) -> None:
    answered, fields = await call(client, tracker, "POST", "/v1/nodes", data=body)
    assert (answered, fields["error"]["code"]) == (status, code)
    assert fields["error"]["message"]


async def test_a_registration_that_does_not_arrive_is_not_waited_for(
    tracker: TrackerServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nodes_api, "BODY_S", 0.1)
    reader, writer = await asyncio.open_connection("127.0.0.1", tracker.port)
    writer.write(b"POST /v1/nodes HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
    async with asyncio.timeout(5):
        status = await reader.readline()
    writer.close()
    await writer.wait_closed()
    assert b" 408 " in status


async def test_addresses_of_the_trackers_own_machine_are_refused_by_default(
    start_tracker: StartTracker, client: aiohttp.ClientSession
) -> None:
    tracker = await start_tracker(allow_loopback=False)
    fields = registration(endpoint="http://127.0.0.1:7002")
    status, answer = await call(client, tracker, "POST", "/v1/nodes", json=fields)
    assert (status, answer["error"]["code"]) == (400, "endpoint_refused")
    assert "loopback" in answer["error"]["message"]


@pytest.mark.parametrize(("method", "path"), [("POST", "/v1/nodes/n1/heartbeat"), ("DELETE", "/v1/nodes/n1")])
async def test_only_the_node_itself_may_speak_for_it(
    method: str, path: str, tracker: TrackerServer, client: aiohttp.ClientSession
) -> None:
    await call(client, tracker, "POST", "/v1/nodes", json=registration("n1"))
    for header, status, code in (
        (None, 401, "secret_missing"),
        ("Bearer ", 401, "secret_missing"),
        (f"Basic {SECRET}", 401, "secret_missing"),
        ("Bearer another-secret-of-16", 403, "wrong_secret"),
    ):
        headers = {} if header is None else {"Authorization": header}
        answered, answer = await call(client, tracker, method, path, headers=headers)
        assert (answered, answer["error"]["code"]) == (status, code)
    fields = registration("n1", 0, 5, secret="another-secret-of-16")
    assert (await call(client, tracker, "POST", "/v1/nodes", json=fields))[0] == 403
    assert (await call(client, tracker, method, path, headers=BEARER))[0] == 200


async def test_a_full_tracker_says_later(start_tracker: StartTracker, client: aiohttp.ClientSession) -> None:
    tracker = await start_tracker(max_nodes=1)
    assert (await call(client, tracker, "POST", "/v1/nodes", json=registration("n1")))[0] == 200
    status, answer = await call(client, tracker, "POST", "/v1/nodes", json=registration("n2"))
    assert (status, answer["error"]["code"]) == (503, "tracker_full")


class Link:
    """The node's own tracker link with what it reports."""

    def __init__(self, tracker: TrackerServer, client: aiohttp.ClientSession, **changes: Any):
        fields = registration("n1") | changes
        self.events: asyncio.Queue[Event] = asyncio.Queue()
        self.refused: asyncio.Queue[MeshdeskError] = asyncio.Queue()
        self.keys: list[bytes] = []
        self.beats: asyncio.Queue[None] = asyncio.Queue()
        self.link = TrackerLink(
            tracker_url=tracker.url,
            node_id=fields.pop("node_id"),
            secret=fields.pop("secret"),
            record=lambda: fields,
            load=self._load,
            client=client,
            publish=self.events.put_nowait,
            on_route_key=self.keys.append,
            on_refused=self.refused.put_nowait,
        )

    def _load(self) -> int:
        self.beats.put_nowait(None)
        return 3

    async def __aenter__(self) -> Link:
        self.link.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.link.stop()

    async def event(self) -> Event:
        async with asyncio.timeout(5):
            return await self.events.get()


async def test_the_nodes_link_registers_beats_and_leaves(
    start_tracker: StartTracker, client: aiohttp.ClientSession
) -> None:
    tracker = await start_tracker(heartbeat_s=0.05, expire_after_s=30)
    async with Link(tracker, client) as link:
        assert isinstance(await link.event(), TrackerRegistered)
        node = tracker.registry.get("n1")
        assert node is not None
        assert link.keys == [node.route_key]
        async with asyncio.timeout(5):
            # When the second heartbeat is made, the first one has been answered.
            await link.beats.get()
            await link.beats.get()
        assert node.load == 3
    assert tracker.registry.live() == []
    assert tracker.registry.left == 1


async def test_the_nodes_link_registers_again_when_it_was_forgotten(
    start_tracker: StartTracker, client: aiohttp.ClientSession
) -> None:
    tracker = await start_tracker(heartbeat_s=0.05, expire_after_s=30)
    async with Link(tracker, client) as link:
        assert isinstance(await link.event(), TrackerRegistered)
        tracker.registry.leave("n1", SECRET)
        assert isinstance(await link.event(), TrackerRegistered)
        assert tracker.registry.registrations == 2
        node = tracker.registry.get("n1")
        assert node is not None
        assert link.keys[-1] == node.route_key != link.keys[0]


async def test_the_nodes_link_in_a_hurry_registers_at_once(
    start_tracker: StartTracker, client: aiohttp.ClientSession
) -> None:
    tracker = await start_tracker(heartbeat_s=300, expire_after_s=900)
    async with Link(tracker, client) as link:
        assert isinstance(await link.event(), TrackerRegistered)
        link.link.hurry()
        assert isinstance(await link.event(), TrackerRegistered)
        assert tracker.registry.registrations == 2


async def test_the_nodes_link_learns_whether_it_can_be_dialled(
    start_tracker: StartTracker, client: aiohttp.ClientSession, unused_tcp_port: int
) -> None:
    tracker = await start_tracker()
    endpoint = f"http://127.0.0.1:{unused_tcp_port}"
    async with Link(tracker, client, endpoint=endpoint) as link:
        assert isinstance(await link.event(), TrackerRegistered)
        await link.link.probe()
        probed = await link.event()
    assert isinstance(probed, DirectProbed)
    assert (probed.endpoint, probed.reachable, probed.reason) == (endpoint, False, "refused")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [({"endpoint": "http://169.254.169.254"}, "link-local"), ({"secret": "another-secret-of-16"}, "another node")],
)
async def test_the_nodes_link_gives_up_when_it_is_refused(
    changes: dict[str, Any], reason: str, tracker: TrackerServer, client: aiohttp.ClientSession
) -> None:
    await call(client, tracker, "POST", "/v1/nodes", json=registration("n1"))
    async with Link(tracker, client, **changes) as link:
        assert isinstance(await link.event(), TrackerLost)
        async with asyncio.timeout(5):
            assert reason in (await link.refused.get()).message


async def test_the_nodes_link_keeps_trying_a_full_tracker(
    start_tracker: StartTracker, client: aiohttp.ClientSession
) -> None:
    tracker = await start_tracker(max_nodes=1)
    await call(client, tracker, "POST", "/v1/nodes", json=registration("other"))
    async with Link(tracker, client) as link:
        lost = await link.event()
        assert isinstance(lost, TrackerLost)
        assert lost.retry_in_s is not None
        tracker.registry.leave("other", SECRET)
        while not isinstance(await link.event(), TrackerRegistered):
            pass
