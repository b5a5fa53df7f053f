"""The tracker dials a node back: real sockets that answer, refuse, lie or keep silent."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator

import aiohttp
import pytest
import pytest_asyncio
from aiohttp import web

from meshdesk.tracker.config import TrackerConfig
from meshdesk.tracker.endpoint_probe import EndpointProbe, ProbeResult
from tests.node.local_server import LocalServer, local_server
from tests.tracker.conftest import StartTracker
from tests.tracker.records import SECRET, Clock, registration

BEARER = {"Authorization": f"Bearer {SECRET}"}


async def healthy(request: web.Request) -> web.StreamResponse:
    return web.json_response({"status": "ok", "node_id": "n1"})


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest_asyncio.fixture
async def probe(clock: Clock) -> AsyncIterator[EndpointProbe]:
    probe = EndpointProbe(TrackerConfig(allow_loopback=True, connect_s=0.2), clock=clock)
    await probe.start()
    yield probe
    await probe.close()


async def test_a_node_that_answers_is_reachable(probe: EndpointProbe) -> None:
    async with local_server(healthy) as server:
        result = await probe.probe("n1", server.url)
    assert (result.reachable, result.reason) == (True, "reachable")
    assert result.ms is not None and result.ms > 0


async def test_the_answer_is_kept_for_a_while(probe: EndpointProbe, clock: Clock) -> None:
    async with local_server(healthy) as server:
        for _ in range(3):
            assert (await probe.probe("n1", server.url)).reachable
        assert server.requests == ["GET /health"]
        clock.now += TrackerConfig().probe_every_s
        assert (await probe.probe("n1", server.url)).reachable
        assert len(server.requests) == 2


async def test_a_closed_port_is_told_from_silence(probe: EndpointProbe, unused_tcp_port: int) -> None:
    refused = await probe.probe("n1", f"http://127.0.0.1:{unused_tcp_port}")
    assert refused == ProbeResult(False, "refused")
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        assert await probe.probe("n1", f"http://127.0.0.1:{silent.getsockname()[1]}") == ProbeResult(False, "timed-out")


async def _another(request: web.Request) -> web.StreamResponse:
    return web.json_response({"node_id": "n2"})


async def _text(request: web.Request) -> web.StreamResponse:
    return web.Response(text="hello")


async def _redirect(request: web.Request) -> web.StreamResponse:
    raise web.HTTPFound("http://127.0.0.1:1/")


async def _cut(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


@pytest.mark.parametrize("handler", [_another, _text, _redirect, _cut])
async def test_something_else_at_that_address_is_not_the_node(probe: EndpointProbe, handler: object) -> None:
    async with local_server(handler) as server:  # type: ignore[arg-type]
        assert await probe.probe("n1", server.url) == ProbeResult(False, "not-this-node")


async def test_an_address_that_the_rules_refuse_is_not_dialled() -> None:
    probe = EndpointProbe(TrackerConfig(connect_s=0.2))
    await probe.start()
    try:
        async with local_server(healthy) as server:
            by_name = server.url.replace("127.0.0.1", "localhost")
            assert (await probe.probe("n1", by_name)).reachable is False
            assert server.requests == []
    finally:
        await probe.close()


async def test_only_the_node_itself_may_ask(start_tracker: StartTracker, client: aiohttp.ClientSession) -> None:
    tracker = await start_tracker()
    server = LocalServer(healthy)
    await server.start()
    try:
        body = registration("n1", endpoint=server.url, name="anna")
        async with client.post(tracker.url + "/v1/nodes", json=body) as response:
            assert response.status == 200
        path = tracker.url + "/v1/nodes/n1/probe"
        for headers, status in ((None, 401), ({"Authorization": "Bearer somebody-elses-secret"}, 403)):
            async with client.post(path, headers=headers) as response:
                assert response.status == status
        assert server.requests == []
        async with client.post(path, headers=BEARER) as response:
            fields = await response.json()
        assert (response.status, fields["reachable"], fields["endpoint"]) == (200, True, server.url)
        async with client.get(tracker.url + "/v1/nodes") as response:
            assert (await response.json())["nodes"][0]["name"] == "anna"
    finally:
        await server.stop()


async def test_a_node_by_relay_only_has_nothing_to_dial(probe: EndpointProbe) -> None:
    assert await probe.probe("n1", None) == ProbeResult(None, "no-endpoint")
