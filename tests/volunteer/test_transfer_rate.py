"""Speeds and times left, with a clock that the test moves."""

from __future__ import annotations

from meshdesk.volunteer.transfer_rate import TransferRate


def test_a_steady_transfer_has_its_speed_and_its_time_left() -> None:
    now = 0.0
    rate = TransferRate(lambda: now)
    assert (rate.per_s(), rate.seconds_left(100)) == (None, None)
    for step in range(11):
        now = step * 0.5
        rate.note(step * 50)
    assert rate.per_s() == 100.0
    assert rate.seconds_left(1000) == 5.0
    assert rate.seconds_left(0) is None


def test_a_stall_shows_in_the_speed() -> None:
    now = 0.0
    rate = TransferRate(lambda: now)
    rate.note(0)
    now = 1.0
    rate.note(1000)
    now = 4.0
    assert rate.per_s() == 250.0


def test_only_the_last_seconds_count_and_another_file_starts_anew() -> None:
    now = 0.0
    rate = TransferRate(lambda: now, window_s=2.0)
    for now, count in (  # noqa: B007 (the clock reads it)
        (0.0, 0),
        (1.0, 10_000),
        (2.0, 10_010),
        (3.0, 10_020),
        (4.0, 10_030),
    ):
        rate.note(count)
    assert rate.per_s() == 10.0
    rate.note(5)
    assert rate.per_s() is None
