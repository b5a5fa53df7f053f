"""Which layers are chosen, by memory and by what the mesh has."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshdesk.volunteer.layer_choice import (
    MIN_KV_BYTES,
    WORK_BYTES,
    ModelSize,
    NothingFits,
    choose_layers,
    coverage,
    memory_budget,
)
from meshdesk.volunteer.status import ShardFacts, Status

MB = 1 << 20
SIZE = ModelSize((10 * MB,) * 30, first_bytes=50 * MB, last_bytes=50 * MB)
ROOMY = 8 << 30


def limit_for(layers: int, extra_mb: int = 0) -> int:
    """A memory limit whose weights' part is just enough for so many layers."""
    wanted = layers * 10 * MB + extra_mb * MB
    limit = WORK_BYTES + MIN_KV_BYTES
    while memory_budget(limit)[0] < wanted:
        limit += MB // 4
    return limit


def chosen(limit: int, others: list[tuple[int, int]]) -> tuple[int, int]:
    choice = choose_layers(SIZE, limit, others)
    return choice.start, choice.end


def test_an_empty_mesh_and_enough_memory_take_all() -> None:
    assert chosen(ROOMY, []) == (0, 30)


def test_what_nobody_holds_comes_first() -> None:
    assert chosen(ROOMY, [(15, 30)]) == (0, 15)
    assert chosen(ROOMY, [(0, 10), (20, 30)]) == (10, 20)


def test_less_memory_takes_as_many_as_fit_and_joins_a_neighbour() -> None:
    assert chosen(limit_for(6), [(0, 10)]) == (10, 16)
    assert chosen(limit_for(6, extra_mb=50), [(6, 30)]) == (0, 6)


def test_where_all_is_covered_the_rarest_are_doubled_within_their_borders() -> None:
    assert chosen(ROOMY, [(0, 15), (0, 15), (15, 30)]) == (15, 30)
    assert chosen(limit_for(15, extra_mb=50), [(0, 15), (15, 30)]) == (0, 15)


def test_too_little_memory_says_how_much_is_needed() -> None:
    with pytest.raises(NothingFits, match=r"fits into 400 MB; the smallest needs 4\d\d MB"):
        choose_layers(SIZE, 400_000_000, [])


def test_ranges_of_another_depth_are_ignored() -> None:
    assert chosen(ROOMY, [(0, 99), (-1, 5)]) == (0, 30)


@given(
    st.integers(1, 40),
    st.integers(0, 900),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=8),
)
def test_a_choice_always_fits_and_serves_the_rarest_layers(
    layers: int, limit_mb: int, others: list[tuple[int, int]]
) -> None:
    size = ModelSize((10 * MB,) * layers, 30 * MB, 30 * MB)
    limit = limit_mb * MB
    valid = [(start, end) for start, end in others if 0 <= start < end <= layers]
    counts = coverage(layers, valid)
    try:
        choice = choose_layers(size, limit, others)
    except NothingFits:
        borders = {0, layers, *(border for pair in valid for border in pair)}
        weights = memory_budget(limit)[0]
        assert all(size.nbytes(start, start + 1) > weights for start in borders - {layers})
        return
    assert 0 <= choice.start < choice.end <= layers
    assert size.nbytes(choice.start, choice.end) + choice.kv_budget_bytes + WORK_BYTES <= limit
    assert choice.why
    if memory_budget(limit)[0] >= size.nbytes(0, layers):
        assert min(counts[choice.start : choice.end]) == min(counts)


def test_the_reason_is_plain_text_in_a_status_of_json_fields() -> None:
    choice = choose_layers(SIZE, ROOMY, [(0, 15)])
    fields = Status(shard=ShardFacts("m", 15, 30, 30, chosen=choice.why)).to_fields()
    assert orjson.loads(orjson.dumps(fields))["shard"]["chosen"] == "nobody holds layers 15–29 yet"
