"""The fast ways of filtering and searching find just what the plain ones do."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshdesk.desktop.logs.log_filter import LogFilter, Search, search_text
from meshdesk.desktop.logs.log_matches import Matches
from meshdesk.volunteer.log_records import ORIGINS, LogLine

WORDS = ("relay", "Relay", "ſtraße", "İ", "a.b", "1 token", "(", "")

lines = st.lists(
    st.builds(
        LogLine,
        number=st.just(0),
        at=st.just(0.0),
        level=st.sampled_from((10, 20, 30, 40, 50)),
        origin=st.sampled_from(ORIGINS),
        logger=st.sampled_from(("meshdesk.node.head", "qt", "x")),
        message=st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join) | st.text(max_size=10),
        details=st.sampled_from(("", "Traceback\n  relay", "B")),
    ),
    max_size=30,
)
searches = st.builds(
    Search,
    text=st.sampled_from(("", "relay", "RELAY", "^x: re", "a.b", "(", r"\d token$", "strasse", "traceback")),
    is_regex=st.booleans(),
)
filters = st.builds(
    LogFilter,
    level=st.sampled_from((0, 20, 30, 40)),
    origin=st.sampled_from(("", *ORIGINS)),
    logger=st.sampled_from(("", "qt", "x")),
    only=searches,
)


@given(lines=lines, chosen=filters)
def test_a_scan_finds_what_a_look_at_each_line_finds(lines: list[LogLine], chosen: LogFilter) -> None:
    folded = [search_text(line) for line in lines]
    scanned = chosen.scan(lines, folded)
    plain = [index for index, line in enumerate(lines) if chosen.passes(line, folded[index])]
    assert (list(range(len(lines))) if scanned is None else scanned) == plain
    assert scanned is not None or chosen.passes_all


@given(lines=lines, search=searches)
def test_what_is_marked_was_found(lines: list[LogLine], search: Search) -> None:
    for line in lines:
        spans = search.spans(line.message)
        assert all(0 <= start < end <= len(line.message) for start, end in spans)
        if spans:
            assert search.finds(line.message.casefold())


def test_case_does_not_matter_and_expressions_are_expressions() -> None:
    text = search_text(LogLine(1, 0.0, 20, "app", "meshdesk.x", "Forwarded 12 tokens", "Traceback"))
    assert Search("FORWARDED").finds(text) and Search("meshdesk.x: f").finds(text) and Search("trace").finds(text)
    assert not Search("forwarded.12").finds(text) and Search("forwarded.12", is_regex=True).finds(text)
    assert Search(r"F\D+\d\d TOK", is_regex=True).finds(text)
    assert Search("^traceback$", is_regex=True).finds(text)


def test_an_expression_that_is_none_says_what_is_wrong_and_finds_nothing() -> None:
    search = Search("(relay", is_regex=True)
    assert "unterminated" in search.problem and search.active
    assert not search.finds("(relay") and search.scan(["(relay"], None) == [] and search.spans("(relay") == []
    assert Search("(relay").finds("(relay")


def test_a_hundred_thousand_lines_are_filtered_at_once() -> None:
    random.seed(1)
    lines = [
        LogLine(
            number,
            0.0,
            random.choice((10, 20, 20, 30)),
            "engine",
            "meshdesk.node.relay_hop",
            f"token {number} by relay",
        )
        for number in range(100_000)
    ]
    folded = [search_text(line) for line in lines]
    best = 1.0
    for _ in range(5):
        started = time.perf_counter()
        found = LogFilter(20, "engine", "", Search("token 7")).scan(lines, folded)
        best = min(best, time.perf_counter() - started)
    assert found is not None and len(found) > 1000
    assert best < 0.05


def matches_of(*numbers: int) -> Matches:
    matches = Matches()
    found = [LogLine(number, 0.0, 20, "app", "x", "m") for number in numbers]
    matches.begin(Search("m"), found, ["m"] * len(found))
    return matches


def test_next_and_previous_go_round() -> None:
    matches = matches_of(3, 5, 9)
    assert [matches.after(number) for number in (0, 3, 4, 9, 20)] == [3, 5, 5, 3, 3]
    assert [matches.before(number) for number in (0, 3, 4, 9, 20)] == [9, 9, 3, 5, 9]
    assert [matches.place_of(number) for number in (3, 9, 4)] == [1, 3, None]
    matches.forget_before(5)
    assert len(matches) == 2 and matches.after(9) == 5
    assert matches_of().after(1) is None and matches_of().before(1) is None


@pytest.mark.parametrize(("message", "found"), [("new m", 2), ("other", 1)])
def test_a_line_that_comes_is_looked_at(message: str, found: int) -> None:
    matches = matches_of(1)
    matches.add(LogLine(2, 0.0, 20, "app", "x", message), message)
    assert len(matches) == found
