from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshdesk.protocol.errors import MeshdeskError
from meshdesk.protocol.routes import (
    MAX_HOPS,
    BadRoute,
    Hop,
    RouteNotProven,
    encode_route,
    parse_route,
    sign_route,
    verify_route,
)

ADR_HOP = '[{"endpoint": "http://172.29.1.2:7002", "start_layer": 12, "relay_addr": "wss://relay/rpc/abc123", %s}]'
endpoints = st.sampled_from(["http://172.29.1.2:7002", "https://node.example", "http://[::1]:7002/base"])
relays = st.sampled_from(["wss://relay.example/rpc/abc123", "ws://127.0.0.1:9000/rpc/n1"])


@st.composite
def routes(draw: st.DrawFn) -> list[Hop]:
    hops, start = [], draw(st.integers(0, 40))
    for size in draw(st.lists(st.integers(1, 40), max_size=5)):
        by_relay = draw(st.booleans())
        endpoint = draw(endpoints | st.none()) if by_relay else draw(endpoints)
        hops.append(Hop(endpoint, start, start + size, draw(relays) if by_relay else None))
        start += size
    return hops


@given(routes())
def test_a_route_survives_its_header(hops: list[Hop]) -> None:
    header = encode_route(hops)
    assert list(parse_route(header)) == hops
    for fields, hop in zip(json.loads(header), hops, strict=True):
        assert ("relay_addr" in fields) == (hop.relay_addr is not None)


def test_the_hop_of_the_wire_contract_is_read() -> None:
    (hop,) = parse_route(ADR_HOP % '"end_layer": 30, "from_the_future": {}')
    assert hop == Hop("http://172.29.1.2:7002", 12, 30, "wss://relay/rpc/abc123")


@pytest.mark.parametrize(
    "header",
    [
        "",
        "{}",
        "[7]",
        "[" * 100_000,
        ADR_HOP % '"x": 1',
        ADR_HOP % '"end_layer": "30"',
        ADR_HOP % '"end_layer": true',
        ADR_HOP % '"end_layer": 12',
        ADR_HOP % '"end_layer": 5000',
        '[{"start_layer": 0, "end_layer": 3}]',
        '[{"endpoint": 7, "start_layer": 0, "end_layer": 3}]',
        '[{"endpoint": "http://a", "start_layer": 0, "end_layer": 3, "relay_addr": 7}]',
        '[{"endpoint": "file:///etc/passwd", "start_layer": 0, "end_layer": 3}]',
        '[{"endpoint": "http://", "start_layer": 0, "end_layer": 3}]',
        '[{"endpoint": "http://[::1", "start_layer": 0, "end_layer": 3}]',
        '[{"endpoint": "http://a:99999", "start_layer": 0, "end_layer": 3}]',
        '[{"endpoint": "http://u:p@a", "start_layer": 0, "end_layer": 3}]',
        '[{"endpoint": "http://a/ b", "start_layer": 0, "end_layer": 3}]',
        '[{"endpoint": "http://a", "start_layer": 0, "end_layer": 3, "relay_addr": "http://relay/rpc/x"}]',
        '[{"endpoint": "http://a", "start_layer": 0, "end_layer": 3}, {"endpoint": "http://b", "start_layer": 4, '
        '"end_layer": 5}]',
    ],
)
def test_bad_routes_are_refused(header: str) -> None:
    with pytest.raises(BadRoute):
        parse_route(header)


def test_a_route_has_a_bounded_number_of_hops() -> None:
    hops = [Hop("http://a", layer, layer + 1) for layer in range(MAX_HOPS + 1)]
    with pytest.raises(BadRoute):
        parse_route(encode_route(hops))


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_with_a_typed_error(header: str) -> None:
    try:
        parse_route(header)
    except MeshdeskError as error:
        assert error.code == "bad_route"


KEY = b"k" * 32


def test_a_proof_holds_for_its_session_and_route_until_it_expires() -> None:
    proof = sign_route(KEY, "s1", "[]", 1000)
    verify_route(KEY, "s1", "[]", proof, 1000)
    with pytest.raises(RouteNotProven, match="expired"):
        verify_route(KEY, "s1", "[]", proof, 1000.5)


@pytest.mark.parametrize(
    ("key", "session", "route", "change"),
    [
        (b"other", "s1", "[]", None),
        (KEY, "s2", "[]", None),
        (KEY, "s1", "[ ]", None),
        (KEY, "s1", "[]", ("1000.", "9000.")),
        (KEY, "s1", "[]", (".", "")),
        (KEY, "s1", "[]", ("1000.", "")),
    ],
)
def test_a_proof_for_anything_else_does_not_hold(
    key: bytes, session: str, route: str, change: tuple[str, str] | None
) -> None:
    proof = sign_route(KEY, "s1", "[]", 1000)
    if change is not None:
        proof = proof.replace(*change)
    with pytest.raises(RouteNotProven):
        verify_route(key, session, route, proof, 10)


def test_a_hop_without_an_end_goes_to_the_next_or_to_the_models_last_layer() -> None:
    """The ADR's own example names no end_layer."""
    adr = '[{"endpoint": "http://172.29.1.2:7002", "start_layer": 12, "relay_addr": "wss://relay/rpc/abc123"}]'
    [hop] = parse_route(adr, 30)
    assert (hop.start_layer, hop.end_layer) == (12, 30)
    two = '[{"endpoint": "http://10.0.0.1", "start_layer": 12}, {"endpoint": "http://10.0.0.2", "start_layer": 20}]'
    assert [(each.start_layer, each.end_layer) for each in parse_route(two, 30)] == [(12, 20), (20, 30)]
    with pytest.raises(BadRoute, match="no end_layer"):
        parse_route(adr)
    with pytest.raises(BadRoute):
        parse_route('[{"endpoint": "http://10.0.0.1", "start_layer": 12}, 5]', 30)
