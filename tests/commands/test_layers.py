"""Layer ranges as people write them, and how the demo splits a model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshdesk.protocol.errors import UsageError
from meshdesk.volunteer.layers import parse_layers, show_layers, split_evenly


@pytest.mark.parametrize(
    ("text", "layers"),
    [
        ("0-14", (0, 15)),
        ("15–29", (15, 30)),
        (" 3 - 3 ", (3, 4)),
        ("7", (7, 8)),
        ("all", (None, None)),
        ("ALL", (None, None)),
    ],
)
def test_a_range_is_read(text: str, layers: tuple[int | None, int | None]) -> None:
    assert parse_layers(text) == layers


@pytest.mark.parametrize("text", ["", "-", "1-", "-3", "0:14", "0-14-20", "a-b", "5-4", "123456"])
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_layers(text)


@given(st.integers(0, 9_999), st.integers(1, 100))
def test_what_is_shown_can_be_read(start: int, count: int) -> None:
    assert parse_layers(show_layers(start, start + count)) == (start, start + count)


@given(st.data(), st.integers(1, 200))
def test_a_split_covers_every_layer_once_and_evenly(data: st.DataObject, layers: int) -> None:
    parts = data.draw(st.integers(1, layers))
    ranges = split_evenly(layers, parts)
    assert len(ranges) == parts
    assert [layer for start, end in ranges for layer in range(start, end)] == list(range(layers))
    sizes = [end - start for start, end in ranges]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("parts", [0, 31])
def test_a_split_that_cannot_be_is_refused(parts: int) -> None:
    with pytest.raises(UsageError, match=f"over {parts} nodes") as caught:
        split_evenly(30, parts)
    assert "between 1 and 30" in str(caught.value.hint)
