"""What the tracker says of the mesh, asked over a real socket; and the routes drawn from it."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest
from aiohttp import web

from meshdesk.node.events import Way
from meshdesk.protocol.routes import Hop
from meshdesk.volunteer.mesh_view import MeshNode, ask_nodes, likely_route, mesh_model, route_of_hops
from tests.node.local_server import local_server

RELAY = "wss://relay.example/rpc/"


def node(node_id: str, start: int, end: int, *, name: str = "", relay: bool = True, model: str = "m") -> MeshNode:
    address = RELAY + node_id if relay else None
    return MeshNode(node_id, name or node_id[:6], model, "r", start, end, 30, f"http://10.0.0.1:{start + 1}", address)


def shown(**fields: Any) -> dict[str, Any]:
    return {
        "node_id": "n0123456789abcdef",
        "endpoint": None,
        "relay_addr": RELAY + "n1",
        "model": "m",
        "revision": "r",
        "start_layer": 0,
        "end_layer": 15,
        "num_layers": 30,
    } | fields


async def test_the_trackers_answer_is_read_and_nonsense_in_it_is_left_out() -> None:
    nodes = [shown(), shown(name=" anna\x1b[31m "), shown(start_layer=20), shown(end_layer="x"), 7, {}]

    async def answer(request: web.Request) -> web.StreamResponse:
        return web.json_response({"nodes": nodes})

    async with local_server(answer) as server, aiohttp.ClientSession() as client:
        found = await ask_nodes(server.url, client)
    assert found is not None
    assert [(each.name, each.start_layer, each.end_layer) for each in found] == [("n01234", 0, 15), ("anna[31m", 0, 15)]


@pytest.mark.parametrize("body", ["nonsense", "[]", '{"nodes": {}}'])
async def test_what_is_no_tracker_says_nothing(body: str) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        return web.Response(text=body)

    async with local_server(answer) as server, aiohttp.ClientSession() as client:
        assert await ask_nodes(server.url, client) is None


async def test_a_tracker_that_is_not_there_says_nothing(unused_tcp_port: int) -> None:
    async with aiohttp.ClientSession() as client:
        assert await ask_nodes(f"http://127.0.0.1:{unused_tcp_port}", client) is None


def test_the_meshs_model_is_the_one_most_nodes_serve() -> None:
    assert mesh_model([]) is None
    assert mesh_model([node("a", 0, 15), node("b", 0, 15, model="x"), node("c", 15, 30)]) == ("m", "r")


def test_a_headed_chats_route_names_its_hops_by_relay_or_endpoint() -> None:
    nodes = [node("bbbbbbb", 15, 20, name="anna"), node("ccccccc", 20, 30, relay=False)]
    hops = [
        Hop("http://10.0.0.1:16", 15, 20, RELAY + "bbbbbbb"),
        Hop("http://10.0.0.1:21", 20, 25),
        Hop("http://x:1", 25, 30),
    ]
    route = route_of_hops(hops, nodes, ("me", 0, 15))
    assert [(stop.name, stop.mine, stop.way, stop.via) for stop in route] == [
        ("me", True, None, ""),
        ("anna", False, Way.RELAY, "relay.example"),
        ("cccccc", False, Way.DIRECT, ""),
        ("?", False, Way.DIRECT, ""),
    ]


def test_a_node_in_the_middle_sees_a_way_that_passes_it() -> None:
    nodes = [node("head", 0, 10), node("me", 10, 20), node("tail", 20, 30), node("other", 0, 10, model="x")]
    route = likely_route(nodes, "me", ("me", 10, 20))
    assert [(stop.name, stop.mine, stop.way) for stop in route] == [
        ("head", False, None),
        ("me", True, Way.RELAY),
        ("tail", False, Way.RELAY),
    ]


def test_a_mesh_with_gaps_shows_as_far_as_it_goes() -> None:
    assert [stop.name for stop in likely_route([node("me", 10, 20)], "me", ("me", 10, 20))] == ["me"]
