from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshdesk.protocol.errors import MeshdeskError
from meshdesk.protocol.headers import BadHeader, ForwardHeaders, parse_milliseconds, parse_session
from meshdesk.protocol.sampling import GREEDY, Sampling
from meshdesk.protocol.tensors import TensorSpec

GOOD = ForwardHeaders(
    session="abc-1_2",
    spec=TensorSpec((1, 7, 576), "bfloat16"),
    start_layer=12,
    position=40,
    model="org/model@0123abc",
)


@pytest.mark.parametrize("sampling", [GREEDY, None, Sampling(temperature=0.7, seed=3)])
def test_headers_survive_the_wire_in_any_case(sampling: Sampling | None) -> None:
    headers = ForwardHeaders(GOOD.session, GOOD.spec, GOOD.start_layer, GOOD.position, GOOD.model, sampling)
    for change in (str.lower, str.upper):
        assert ForwardHeaders.parse({change(name): value for name, value in headers.to_headers().items()}) == headers


def test_a_head_that_knows_no_sampling_gets_greedy() -> None:
    sent = GOOD.to_headers()
    assert "X-Meshnet-Sampling" not in sent
    assert ForwardHeaders.parse(sent).sampling == GREEDY


@pytest.mark.parametrize("name", sorted(GOOD.to_headers()))
def test_every_header_is_needed(name: str) -> None:
    sent = GOOD.to_headers()
    del sent[name]
    with pytest.raises(BadHeader, match=name):
        ForwardHeaders.parse(sent)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("X-Meshnet-Session", ""),
        ("X-Meshnet-Session", "../etc"),
        ("X-Meshnet-Session", "s" * 129),
        ("X-Meshnet-Position", "-1"),
        ("X-Meshnet-Position", "1e3"),
        ("X-Meshnet-Position", "2147483648"),
        ("X-Meshnet-Position", "²"),
        ("X-Meshnet-Start-Layer", ""),
        ("X-Meshnet-Start-Layer", "12.0"),
        ("X-Meshnet-Model", "no-revision"),
        ("X-Meshnet-Model", "m@" + "r" * 300),
        ("X-Meshnet-Model", "m@\x07"),
        ("X-Meshnet-Shape", "1,x"),
        ("X-Meshnet-Dtype", "int7"),
        ("X-Meshnet-Sampling", "{"),
    ],
)
def test_bad_values_are_refused(name: str, value: str) -> None:
    with pytest.raises(MeshdeskError) as caught:
        ForwardHeaders.parse(GOOD.to_headers() | {name: value})
    assert caught.value.status == 400


@given(st.dictionaries(st.sampled_from(sorted(GOOD.to_headers())), st.text(max_size=30)))
def test_any_values_are_read_or_refused_with_a_typed_error(values: dict[str, str]) -> None:
    try:
        ForwardHeaders.parse(GOOD.to_headers() | values)
    except MeshdeskError as error:
        assert error.status == 400


def test_session_ids() -> None:
    assert parse_session("A-z_9") == "A-z_9"


@pytest.mark.parametrize(
    ("value", "expected"), [("3.5", 3.5), ("0", 0.0), ("-1", None), ("nan", None), ("1e99", None), ("soon", None)]
)
def test_a_peers_timing_is_taken_only_if_sane(value: str, expected: float | None) -> None:
    assert parse_milliseconds({"Other": "1", "x-meshnet-compute-ms": value}, "X-Meshnet-Compute-Ms") == expected


def test_an_absent_timing_is_none() -> None:
    assert parse_milliseconds({}, "X-Meshnet-Compute-Ms") is None
