"""Why this computer pauses: the named setting is the true one, for every combination of options and facts."""

from __future__ import annotations

import datetime
import itertools
import time
from collections.abc import Iterator
from typing import Any

import pytest

from meshdesk.volunteer.pause_rules import GB, Facts, why_paused
from meshdesk.volunteer.settings import Settings
from meshdesk.volunteer.status import PauseCause

NOON = datetime.datetime(2026, 11, 25, 12, 0)  # a Wednesday

OPTIONS: dict[str, tuple[Any, ...]] = {
    "pause_on_battery": (False, True),
    "pause_below_percent": (0, 50, 100),
    "schedule": (False, True),
    "monthly_quota_gb": (0, 1),
    "pause_when_busy_percent": (0, 60, 100),
}
FACTS: dict[str, tuple[Any, ...]] = {
    "plugged": (None, False, True),
    "percent": (None, 20.0, 100.0),
    "used_bytes": (0, 5 * GB),
    "busy_percent": (None, 30.0, 100.0),
}
HOURS = (3, 12)
"""Inside and outside of the default schedule."""


def combinations(of: dict[str, tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
    for values in itertools.product(*of.values()):
        yield dict(zip(of, values, strict=True))


def unix(moment: datetime.datetime) -> float:
    return moment.timestamp()


def off(settings: Settings, name: str) -> Settings:
    return settings.model_copy(update={name: False if isinstance(getattr(settings, name), bool) else 0})


def test_for_every_combination_the_named_setting_is_what_lifts_the_pause() -> None:
    settings_of = [Settings(**options) for options in combinations(OPTIONS)]
    seen = set()
    for settings, facts, hour in itertools.product(settings_of, combinations(FACTS), HOURS):
        now, named, present = unix(NOON.replace(hour=hour)), [], settings
        while (pause := why_paused(present, Facts(**facts), now)) is not None:
            named.append(pause.setting)
            seen.add((pause.cause, pause.setting))
            # An option that is off is never the reason, and one that was switched off is no longer.
            assert getattr(present, pause.setting) not in (False, 0)
            assert named.count(pause.setting) == 1
            present = off(present, pause.setting)
        # Nor was any named that had nothing to do with it: with all others off, each pauses by itself.
        for name in named:
            alone = settings
            for other in OPTIONS:
                alone = alone if other == name else off(alone, other)
            found = why_paused(alone, Facts(**facts), now)
            assert found is not None
            assert found.setting == name
    assert {setting for _, setting in seen} == set(OPTIONS)
    assert {cause for cause, _ in seen} == set(PauseCause) - {PauseCause.PERSON}


def test_with_every_option_off_nothing_pauses() -> None:
    settings = Settings(pause_on_battery=False)
    for facts in combinations(FACTS):
        assert why_paused(settings, Facts(**facts), unix(NOON)) is None


def test_what_is_not_known_does_not_pause() -> None:
    settings = Settings(pause_below_percent=100, pause_when_busy_percent=1, monthly_quota_gb=1)
    assert why_paused(settings, Facts(), unix(NOON)) is None


@pytest.mark.parametrize(
    ("moment", "days", "begins", "ends", "until"),
    [
        # 25 November 2026 is a Wednesday.
        ("25T12:00", "wed", "09:00", "17:00", None),
        ("25T17:00", "wed", "09:00", "17:00", "2026-12-02T09:00"),
        ("25T08:59", "wed", "09:00", "17:00", "2026-11-25T09:00"),
        ("25T09:00", "wed", "09:00", "17:00", None),
        # Over midnight, the span belongs to the day on which it begins.
        ("25T23:00", "wed", "22:00", "07:00", None),
        ("26T06:59", "wed", "22:00", "07:00", None),
        ("26T07:00", "wed", "22:00", "07:00", "2026-12-02T22:00"),
        ("25T06:00", "wed", "22:00", "07:00", "2026-11-25T22:00"),
        ("23T03:00", "sun mon", "22:00", "07:00", None),
        # Equal ends: once round the clock.
        ("26T11:59", "wed", "12:00", "12:00", None),
        ("26T12:00", "wed", "12:00", "12:00", "2026-12-02T12:00"),
    ],
)
def test_the_schedule_says_when_it_ends_the_pause(
    moment: str, days: str, begins: str, ends: str, until: str | None
) -> None:
    settings = Settings(
        schedule=True,
        schedule_days=frozenset(days.split()),  # type: ignore[arg-type]
        schedule_from=begins,
        schedule_to=ends,
    )
    pause = why_paused(settings, Facts(), unix(datetime.datetime.fromisoformat(f"2026-11-{moment}")))
    if until is None:
        assert pause is None
    else:
        assert pause is not None
        assert pause.until is not None
        assert datetime.datetime.fromtimestamp(pause.until) == datetime.datetime.fromisoformat(until)
        # At that very moment it is over.
        assert why_paused(settings, Facts(), pause.until) is None


def test_a_schedule_without_days_never_serves_and_promises_no_end() -> None:
    pause = why_paused(Settings(schedule=True, schedule_days=frozenset()), Facts(), unix(NOON))
    assert pause is not None
    assert (pause.until, pause.setting) == (None, "schedule")


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="this system has one time zone a process")
def test_the_promised_end_is_right_over_the_change_to_summer_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        settings = Settings(schedule=True, schedule_from="07:00", schedule_to="08:00")
        before = datetime.datetime(2026, 3, 28, 20, 0).timestamp()
        pause = why_paused(settings, Facts(), before)
        assert pause is not None
        # Eleven hours by the clock on the wall, ten by any other.
        assert pause.until == before + 10 * 3600
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(("month", "next_month"), [(11, "2026-12-01"), (12, "2027-01-01")])
def test_a_used_up_quota_lasts_until_the_month_ends(month: int, next_month: str) -> None:
    pause = why_paused(Settings(monthly_quota_gb=2), Facts(used_bytes=2 * GB), unix(NOON.replace(month=month)))
    assert pause is not None
    assert pause.until is not None
    assert datetime.datetime.fromtimestamp(pause.until) == datetime.datetime.fromisoformat(next_month)
