"""Spans against sets of octets: whatever is joined, taken away or cut, it is the same octets."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from meshdesk.shard.download.spans import Span, joined, pieces, size_of, without

some_spans = st.lists(
    st.tuples(st.integers(0, 60), st.integers(0, 20)).map(lambda each: Span(each[0], each[0] + each[1])), max_size=8
)


def octets(spans: Iterable[Span]) -> set[int]:
    return {octet for span in spans for octet in range(span.begin, span.end)}


@given(some_spans, st.integers(0, 5))
def test_joined_spans_hold_the_octets_and_holes_no_larger_than_the_gap(spans: list[Span], gap: int) -> None:
    found = joined(spans, gap)
    assert octets(found) >= octets(spans)
    assert all(later.begin - earlier.end > gap for earlier, later in itertools.pairwise(found))
    if gap == 0:
        assert octets(found) == octets(spans)
    assert size_of(spans) == len(octets(spans))


@given(some_spans, some_spans)
def test_what_is_there_is_taken_from_what_is_wanted(wanted: list[Span], there: list[Span]) -> None:
    left = without(wanted, there)
    assert octets(left) == octets(wanted) - octets(there)
    assert left == joined(left)


@given(some_spans, st.integers(1, 9))
def test_pieces_are_the_same_octets_in_bounds(spans: list[Span], most: int) -> None:
    cut = pieces(joined(spans), most)
    assert octets(cut) == octets(spans)
    assert all(0 < piece.size <= most for piece in cut)
