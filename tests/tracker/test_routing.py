from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshdesk.protocol.routes import MAX_HOPS, encode_route, parse_route
from meshdesk.tracker.registration import ModelKey, NodeRecord
from meshdesk.tracker.routing import group, missing_layers, name_layers, routes, why_no_route
from tests.tracker.records import KEY, MODEL, record

DEPTH = 8
SMALL = ModelKey("m", "r", "bfloat16", DEPTH)


def even(_: NodeRecord) -> float:
    return 1.0


def node_ids(nodes: list[NodeRecord], limit: int = 4) -> list[tuple[str, ...]]:
    return [route.node_ids for route in routes(nodes, even, limit)]


def test_a_chain_joins_where_ranges_meet() -> None:
    nodes = [record("tail", 20, 30), record("head", 0, 12), record("middle", 12, 20)]
    (route,) = routes(nodes, even)
    assert route.node_ids == ("head", "middle", "tail")
    assert (route.head.node_id, route.key, route.cost) == ("head", KEY, 3.0)
    assert [(hop.start_layer, hop.end_layer) for hop in route.downstream()] == [(12, 20), (20, 30)]


def test_one_node_with_all_layers_is_a_route_without_hops() -> None:
    (route,) = routes([record("all", 0, 30)], even)
    assert route.downstream() == ()


def test_a_hop_carries_the_ways_its_node_has() -> None:
    addr = "wss://relay.example/rpc/b"
    (route,) = routes([record("a", 0, 15), record("b", 15, 30, endpoint=None, relay_addr=addr)], even)
    assert encode_route(route.downstream()) == f'[{{"start_layer":15,"end_layer":30,"relay_addr":"{addr}"}}]'


@pytest.mark.parametrize(
    "ranges",
    [[], [(0, 15)], [(15, 30)], [(0, 16), (15, 30)], [(0, 14), (15, 30)], [(0, 10), (5, 15), (15, 30), (10, 14)]],
)
def test_ranges_that_overlap_or_leave_gaps_make_no_route(ranges: list[tuple[int, int]]) -> None:
    assert routes([record(f"n{start}-{end}", start, end) for start, end in ranges], even) == []


def test_alternatives_come_cheapest_first_then_shortest_then_by_id() -> None:
    nodes = [record("all", 0, 30), record("a1", 0, 15), record("a2", 0, 15), record("b", 15, 30)]
    assert node_ids(nodes) == [("all",), ("a1", "b"), ("a2", "b")]
    assert node_ids(nodes, 2) == [("all",), ("a1", "b")]
    loaded = {"all": 9.0, "a1": 2.0, "a2": 1.0, "b": 1.0}
    found = routes(nodes, lambda node: loaded[node.node_id])
    assert [(route.node_ids, route.cost) for route in found] == [(("a2", "b"), 2), (("a1", "b"), 3), (("all",), 9)]
    assert routes(nodes, lambda _: 0.0)[0].node_ids == ("all",)


def test_nodes_of_different_models_revisions_dtypes_and_depths_are_kept_apart() -> None:
    keys = [
        ModelKey("m", "r", "bfloat16", 30),
        ModelKey("n", "r", "bfloat16", 30),
        ModelKey("m", "s", "bfloat16", 30),
        ModelKey("m", "r", "float32", 30),
        ModelKey("m", "r", "bfloat16", 31),
    ]
    nodes = [record(f"{number}", 0, 30, key=key) for number, key in enumerate(keys)]
    assert {key: [each.node_id for each in listed] for key, listed in group(nodes).items()} == {
        key: [str(number)] for number, key in enumerate(keys)
    }
    with pytest.raises(ValueError, match="cannot share"):
        routes(nodes, even)


def test_a_chain_is_no_longer_than_a_route_header() -> None:
    key = ModelKey("m", "r", "bfloat16", MAX_HOPS + 2)
    nodes = [record(f"n{layer}", layer, layer + 1, key=key) for layer in range(key.num_layers)]
    assert routes(nodes, even) == []
    (route,) = routes([*nodes, record("two", 0, 2, key=key)], even)
    assert len(route.downstream()) == MAX_HOPS


def test_layers_are_named_as_people_count_them() -> None:
    assert name_layers([(0, 15)]) == "layers 0–14"
    assert name_layers([(4, 5)]) == "layer 4"
    assert name_layers([(0, 2), (4, 5), (20, 30)]) == "layers 0–1, 4 and 20–29"


@pytest.mark.parametrize(
    ("ranges", "sentence", "missing"),
    [
        ([(0, 15)], f"No node holds layers 15–29 of {MODEL} (bfloat16).", ((15, 30),)),
        ([(5, 10), (7, 12), (13, 30)], f"No node holds layers 0–4 and 12 of {MODEL} (bfloat16).", ((0, 5), (12, 13))),
        ([(0, 16), (15, 30)], "they hold layers 0–15 and 15–29, and each range must start where another one ends", ()),
    ],
)
def test_why_there_is_no_route(
    ranges: list[tuple[int, int]], sentence: str, missing: tuple[tuple[int, int], ...]
) -> None:
    said, named = why_no_route([record(f"n{start}", start, end) for start, end in ranges], KEY)
    assert sentence in said
    assert named == missing


def _some_layers(drawn: tuple[int, int, int]) -> bool:
    return drawn[0] < drawn[1]


ranges_of_layers = st.lists(
    st.tuples(st.integers(0, DEPTH - 1), st.integers(1, DEPTH), st.integers(0, 5)).filter(_some_layers),
    max_size=6,
)


def build(drawn: list[tuple[int, int, int]]) -> tuple[list[NodeRecord], dict[str, float]]:
    nodes = [record(f"n{number}", start, end, key=SMALL) for number, (start, end, _) in enumerate(drawn)]
    return nodes, {f"n{number}": float(cost) for number, (_, _, cost) in enumerate(drawn)}


def every_chain(nodes: list[NodeRecord]) -> list[tuple[str, ...]]:
    """All chains there are, found without any cleverness."""
    chains = []
    for size in range(1, len(nodes) + 1):
        for chain in itertools.permutations(nodes, size):
            bounds = [0, *(node.end_layer for node in chain)]
            if bounds[-1] == DEPTH and all(
                node.start_layer == bound for node, bound in zip(chain, bounds, strict=False)
            ):
                chains.append(tuple(node.node_id for node in chain))
    return chains


@given(ranges_of_layers, st.integers(1, 5))
def test_the_routes_are_the_cheapest_of_all_chains(drawn: list[tuple[int, int, int]], limit: int) -> None:
    nodes, costs = build(drawn)
    found = routes(nodes, lambda node: costs[node.node_id], limit)
    chains = every_chain(nodes)
    assert len({route.node_ids for route in found}) == len(found) == min(limit, len(chains))
    assert {route.node_ids for route in found} <= set(chains)
    all_costs = sorted(sum(costs[node_id] for node_id in chain) for chain in chains)
    assert [route.cost for route in found] == all_costs[:limit]


@given(ranges_of_layers)
def test_a_route_survives_the_headers_own_check(drawn: list[tuple[int, int, int]]) -> None:
    nodes, _ = build(drawn)
    for route in routes(nodes, even):
        hops = parse_route(encode_route(route.downstream()))
        assert hops == route.downstream()
        ends = [route.head.end_layer, *(hop.end_layer for hop in hops)]
        assert (route.head.start_layer, ends[-1]) == (0, DEPTH)
        assert [hop.start_layer for hop in hops] == ends[:-1]


@given(ranges_of_layers)
def test_missing_layers_are_exactly_those_nobody_holds(drawn: list[tuple[int, int, int]]) -> None:
    nodes, _ = build(drawn)
    held = {layer for node in nodes for layer in range(node.start_layer, node.end_layer)}
    gaps = missing_layers(nodes, DEPTH)
    assert [layer for start, end in gaps for layer in range(start, end)] == sorted(set(range(DEPTH)) - held)
    assert all(before[1] < after[0] for before, after in itertools.pairwise(gaps)), "neighbouring gaps are one gap"
