"""DirectHop against real servers, and against addresses that nobody answers at."""

from __future__ import annotations

from collections.abc import AsyncIterator

import aiohttp
import pytest
import pytest_asyncio
from aiohttp import web

from meshdesk.node.direct_hop import DirectHop, direct_client
from meshdesk.node.hop import HopRequest, HopUnavailable
from meshdesk.node.reachability import UnreachableAddresses
from tests.node.local_server import local_server, swallowing_port

FORWARD = HopRequest("POST", "/forward", {"X-Meshnet-Shape": "1,1,4"}, b"\xff\x00", deadline_s=20)


@pytest_asyncio.fixture
async def client() -> AsyncIterator[aiohttp.ClientSession]:
    async with direct_client() as session:
        yield session


async def test_the_nodes_answer_comes_back_whatever_its_status(client: aiohttp.ClientSession) -> None:
    async with local_server() as server:
        hop = DirectHop(server.url + "/", client, UnreachableAddresses())
        answer = await hop.request(FORWARD)
        assert (answer.status, answer.body, answer.headers["x-meshnet-shape"]) == (200, b"\xff\x00", "1,1,4")

        async def behind(_: web.Request) -> web.Response:
            return web.json_response({"error": {"have": 3}}, status=409)

        server.handler = behind
        answer = await hop.request(FORWARD)
        assert (answer.status, answer.headers["content-type"]) == (409, "application/json; charset=utf-8")
        await hop.close()


async def test_connections_are_kept_alive(client: aiohttp.ClientSession) -> None:
    peers = set()

    async def remember(request: web.Request) -> web.Response:
        assert request.transport is not None
        peers.add(request.transport.get_extra_info("peername"))
        return web.Response()

    async with local_server(remember) as server:
        hop = DirectHop(server.url, client, UnreachableAddresses())
        for _ in range(5):
            await hop.request(FORWARD)
    assert len(peers) == 1


async def test_a_refused_dial_is_told_at_once_and_not_remembered(
    client: aiohttp.ClientSession, unused_tcp_port: int
) -> None:
    unreachable = UnreachableAddresses()
    hop = DirectHop(f"http://127.0.0.1:{unused_tcp_port}", client, unreachable)
    for _ in range(2):
        with pytest.raises(HopUnavailable, match="cannot be reached") as caught:
            await hop.request(FORWARD)
        assert caught.value.delivered is False
    assert unreachable.why(f"http://127.0.0.1:{unused_tcp_port}") is None


async def test_a_swallowed_dial_costs_one_connect_timeout_once(client: aiohttp.ClientSession) -> None:
    with swallowing_port() as port:
        unreachable = UnreachableAddresses()
        hop = DirectHop(f"http://127.0.0.1:{port}", client, unreachable)
        with pytest.raises(HopUnavailable, match="timed out") as caught:
            await hop.request(FORWARD)
        assert caught.value.delivered is False
        with pytest.raises(HopUnavailable, match="a moment ago"):
            await hop.request(FORWARD)


async def test_an_answer_that_breaks_off_may_have_been_computed(client: aiohttp.ClientSession) -> None:
    async def cut(request: web.Request) -> web.Response:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    async with local_server(cut) as server:
        hop = DirectHop(server.url, client, UnreachableAddresses())
        with pytest.raises(HopUnavailable, match="did not answer") as caught:
            await hop.request(FORWARD)
        assert caught.value.delivered is None


async def test_a_node_that_never_answers_meets_the_deadline(client: aiohttp.ClientSession) -> None:
    async with local_server() as server:

        async def hang(_: web.Request) -> web.Response:
            await server.cancelled.wait()
            return web.Response()

        server.handler = hang
        hop = DirectHop(server.url, client, UnreachableAddresses())
        with pytest.raises(HopUnavailable, match="timed out"):
            await hop.request(HopRequest("POST", "/forward", deadline_s=0.2))
        await server.cancelled.wait()


async def test_redirects_are_an_answer_like_any_other(client: aiohttp.ClientSession) -> None:
    async def redirect(_: web.Request) -> web.Response:
        return web.Response(status=307, headers={"Location": "http://192.0.2.1/"})

    async with local_server(redirect) as server:
        assert (await DirectHop(server.url, client, UnreachableAddresses()).request(FORWARD)).status == 307
        assert server.requests == ["POST /forward"]


@pytest.mark.parametrize("announced", [True, False])
async def test_an_answer_without_end_is_not_read_to_it(client: aiohttp.ClientSession, announced: bool) -> None:
    async def pour(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": str(2**40)} if announced else {})
        await response.prepare(request)
        while True:
            await response.write(bytes(2**20))

    async with local_server(pour) as server:
        with pytest.raises(HopUnavailable, match="octets"):
            await DirectHop(server.url, client, UnreachableAddresses()).request(FORWARD)


async def test_a_url_that_is_none(client: aiohttp.ClientSession) -> None:
    with pytest.raises(HopUnavailable):
        await DirectHop("http://a:b:c", client, UnreachableAddresses()).request(FORWARD)
