"""The hop history: bounded by tokens, figures per line, marks where a way changed."""

from __future__ import annotations

import csv
import io

from hypothesis import given
from hypothesis import strategies as st

from meshdesk.node.events import ForwardServed, HopTimed, HopWayChanged, Way
from meshdesk.volunteer.hop_history import CSV_COLUMNS, HopHistory, MarkKind, percentile, to_csv


def timed(at: float, token: int, hop: int = 1, total: float = 10.0, way: Way = Way.RELAY, tokens: int = 1) -> HopTimed:
    return HopTimed(
        at=at,
        session="s",
        token_index=token,
        hop=hop,
        start_layer=15 * hop,
        end_layer=15 * hop + 15,
        way=way,
        total_ms=total,
        compute_ms=4.0,
        queue_ms=1.0,
        bytes_out=100,
        bytes_in=10,
        tokens=tokens,
    )


@given(st.lists(st.integers(1, 4), min_size=1, max_size=60), st.integers(1, 10))
def test_the_newest_tokens_are_kept_whole(hops_of_tokens: list[int], max_tokens: int) -> None:
    history = HopHistory(max_tokens)
    for token, hops in enumerate(hops_of_tokens):
        for hop in range(hops):
            history.apply(timed(float(token), token, hop))
    kept: dict[int, int] = {}
    for record in history.records:
        kept[record.token_index] = kept.get(record.token_index, 0) + 1
    expected = dict(list(enumerate(hops_of_tokens))[-max_tokens:])
    assert kept == expected


def test_a_table_takes_the_newest_tokens_whole() -> None:
    history = HopHistory()
    for token in range(5):
        for hop in range(2):
            history.apply(timed(float(token), token, hop))
    assert [(record.token_index, record.hop) for record in history.last_tokens(2)] == [(3, 0), (3, 1), (4, 0), (4, 1)]
    assert len(history.last_tokens(9)) == 10


def test_figures_leave_prefill_out_and_tell_network_from_compute() -> None:
    history = HopHistory()
    history.apply(timed(1.0, 0, total=900.0, tokens=40))
    for index in range(1, 101):
        history.apply(timed(1.0 + index / 10, index, total=float(index)))
    (stats,) = history.stats(0.0)
    assert (stats.count, stats.last_ms, stats.p50_ms, stats.p95_ms) == (100, 100.0, 50.0 + 1, 95.0)
    assert stats.compute_p50_ms == 4.0
    assert stats.network_p50_ms == 51.0 - 5.0
    assert history.stats(11.0)[0].count == 1


def test_a_served_forward_knows_no_network() -> None:
    history = HopHistory(own_layers=lambda: (15, 30))
    record = history.apply(
        ForwardServed(session="s", position=7, tokens=1, compute_ms=3.0, queue_ms=0.5, bytes_in=5, bytes_out=6)
    )
    assert record is not None and record.served
    assert (record.network_ms, record.total_ms, record.line, record.token_index) == (None, 3.5, (15, 30), 8)
    assert history.stats(0.0)[0].network_p50_ms is None


def test_a_relay_that_fails_and_comes_back_is_marked_once_each() -> None:
    history = HopHistory()

    def change(at: float, way: Way, session: str = "s") -> None:
        history.apply(HopWayChanged(at=at, session=session, hop=1, way=way, reason=f"because {at}"))

    change(1.0, Way.RELAY)
    change(2.0, Way.DIRECT_AFTER_RELAY)
    change(2.5, Way.DIRECT_AFTER_RELAY, "another chat over the same seam")
    change(3.0, Way.RELAY)
    change(4.0, Way.RELAY)
    assert [(mark.at, mark.kind) for mark in history.marks] == [(2.0, MarkKind.FELL_BACK), (3.0, MarkKind.CAME_BACK)]
    assert [mark.reason for mark in history.marks] == ["because 2.0", "because 3.0"]


def test_csv_has_a_line_a_record_and_inclusive_layers() -> None:
    history = HopHistory()
    history.apply(timed(1.5, 3))
    lines = list(csv.DictReader(io.StringIO(to_csv(history.records))))
    assert list(lines[0]) == list(CSV_COLUMNS)
    assert (lines[0]["first_layer"], lines[0]["last_layer"], lines[0]["way"]) == ("15", "29", "relay")
    assert float(lines[0]["network_ms"]) == 5.0


def test_clear_forgets_all() -> None:
    history = HopHistory()
    history.apply(timed(1.0, 0))
    version = history.version
    history.clear()
    assert len(history) == 0 and history.version > version
    history.apply(timed(2.0, 0))
    assert len(history) == 1


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=50), st.floats(0, 1))
def test_a_percentile_is_one_of_the_values(values: list[float], share: float) -> None:
    values.sort()
    found = percentile(values, share)
    assert found in values
    assert sum(value < found for value in values) <= share * (len(values) - 1) + 0.5
