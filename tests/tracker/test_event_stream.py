from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshdesk.tracker.event_stream import (
    DONE,
    MAX_EVENT_BYTES,
    EventTooLarge,
    WholeEvents,
    error_event,
    errors_in,
    read_error,
)

ONE = b'data: {"a": 1}\n\n'


def test_only_whole_events_come_out() -> None:
    events = WholeEvents()
    assert events.push(ONE + b'data: {"b"') == ONE
    assert events.push(b": 2}") == b""
    assert events.push(b"\n") == b""
    assert events.push(b"\n: still working\n\nda") == b'data: {"b": 2}\n\n: still working\n\n'
    assert not events.done


@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n"])
def test_the_end_is_seen(end: bytes) -> None:
    events = WholeEvents()
    assert events.push(b"data: [DONE]" + end[:-1]) == b""
    assert not events.done
    assert events.push(end[-1:]) == b"data: [DONE]" + end
    assert events.done


def test_words_that_look_like_the_end_are_none() -> None:
    events = WholeEvents()
    events.push(b'data: {"content": "data: [DONE]"}\n\n')
    assert not events.done


def test_an_event_that_does_not_end_is_given_up() -> None:
    events = WholeEvents()
    assert events.push(b"x" * MAX_EVENT_BYTES) == b""
    with pytest.raises(EventTooLarge):
        events.push(b"x")


@given(st.lists(st.sampled_from([ONE, b"\n", b"\r\n", b"x", DONE, b": c\r\n\r\n"]), max_size=30), st.data())
def test_however_it_is_cut_the_same_comes_out(parts: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(parts)
    at_once = WholeEvents()
    expected = at_once.push(stream)
    in_pieces = WholeEvents()
    got = b""
    rest = stream
    while rest:
        size = data.draw(st.integers(1, len(rest)))
        whole = in_pieces.push(rest[:size])
        assert whole == b"" or whole.endswith((b"\n\n", b"\n\r\n"))
        got += whole
        rest = rest[size:]
    # An empty line too many may wait for what follows it; nothing else may.
    assert expected.startswith(got)
    assert expected[len(got) :].strip(b"\r\n") == b""
    assert in_pieces.done == at_once.done


def test_errors_among_events_are_found() -> None:
    stream = (
        ONE + b'data: {"error": {"code": "x", "hop": 1}}\n\n' + b'data: {"content": "error", "error": 3}\n\n' + DONE
    )
    assert list(errors_in(stream)) == [{"code": "x", "hop": 1}]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"{}", b'{"error": "x"}', b"\xff", b"[" * 100_000])
def test_bodies_without_an_error(body: bytes) -> None:
    assert read_error(body) is None


def test_an_error_event_ends_the_stream() -> None:
    events = WholeEvents()
    written = error_event({"error": {"message": "Gone\n\nfor good – \ud800"}})
    assert events.push(written) == written
    assert events.done
    first = written.split(b"\n\n")[0]
    assert json.loads(first.removeprefix(b"data: "))["error"]["message"].startswith("Gone\n\nfor good – ")
