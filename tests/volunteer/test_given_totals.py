"""What was given: counted from events, by day, kept over restarts."""

from __future__ import annotations

import datetime
from pathlib import Path

from meshdesk.node.events import ChatFinished, ChatStarted, ForwardServed, HopTimed, SessionClosed, Way
from meshdesk.volunteer.given_totals import IDLE_S, GivenTotals, load_totals, save_totals
from meshdesk.volunteer.status import Given


def served(session: str, tokens: int = 1, at: float = 1000.0) -> ForwardServed:
    return ForwardServed(
        at=at, session=session, position=0, tokens=tokens, compute_ms=500.0, queue_ms=0.0, bytes_in=10, bytes_out=20
    )


def hop(number: int, way: Way, token_index: int = 0) -> HopTimed:
    return HopTimed(
        session="own",
        token_index=token_index,
        hop=number,
        start_layer=0,
        end_layer=15,
        way=way,
        total_ms=1.0,
        compute_ms=1.0,
        queue_ms=0.0,
        bytes_out=0 if way is Way.LOCAL else 1152,
        bytes_in=0 if way is Way.LOCAL else 64,
    )


def test_somebody_elses_chat_counts_once_and_a_token_a_decoded_token() -> None:
    totals = GivenTotals()
    counted = [totals.apply(served("a", tokens=30)), totals.apply(served("a")), totals.apply(served("a"))]
    assert counted == [0, 1, 1]
    assert totals.today == Given(chats=1, tokens=2, bytes_in=30, bytes_out=60, seconds=1.5)


def test_an_own_chat_counts_its_tokens_and_what_its_hops_carried() -> None:
    totals = GivenTotals()
    totals.apply(ChatStarted(session="own", prompt_tokens=5, hops=2))
    assert totals.sessions_now(0.0) == 1
    assert totals.apply(hop(0, Way.LOCAL)) == 1
    assert totals.apply(hop(1, Way.RELAY)) == 0
    for token_index in (1, 2, 2):
        totals.apply(hop(0, Way.LOCAL, token_index))
    assert totals.today.tokens == 3, "they count as they come, and one that is computed again counts once"
    totals.apply(ChatFinished(session="own", tokens=12, seconds=2.0, finish_reason="stop"))
    assert totals.sessions_now(0.0) == 0
    assert totals.today == Given(chats=1, tokens=12, bytes_in=64, bytes_out=1152, seconds=2.0)


def test_served_sessions_end_with_a_goodbye_or_with_silence() -> None:
    totals = GivenTotals()
    totals.apply(served("a"))
    totals.apply(served("b"))
    assert totals.sessions_now(1000.0) == 2
    totals.apply(SessionClosed(session="a"))
    assert totals.sessions_now(1000.0) == 1
    assert totals.sessions_now(1000.0 + IDLE_S + 1) == 0


def test_days_and_months_are_told_apart(tmp_path: Path) -> None:
    day = datetime.date(2026, 11, 30)
    totals = GivenTotals(today=lambda: day)
    totals.apply(served("a", at=1.0))
    day = datetime.date(2026, 12, 1)
    assert totals.today == Given()
    totals.apply(served("b", at=2.0))
    assert (totals.today.chats, totals.this_month.chats, totals.in_all.chats) == (1, 1, 2)
    save_totals(tmp_path / "given.json", totals.snapshot())
    again = GivenTotals(load_totals(tmp_path / "given.json"), today=lambda: day)
    assert (again.today, again.in_all) == (totals.today, totals.in_all)


def test_a_damaged_file_is_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "given.json"
    path.write_text('{"days": 3')
    assert load_totals(path).in_all == Given()
    assert path.with_suffix(".damaged").read_text() == '{"days": 3'
    assert load_totals(path).in_all == Given()
