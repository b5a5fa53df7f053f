"""The rules under which this computer does not serve, and the one setting to change if that is not wanted.

Pure: what is known of the computer comes as ``Facts``. An unknown fact never pauses, nor does an option that is off.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass
from typing import get_args

from meshdesk.volunteer.settings import Settings, Weekday
from meshdesk.volunteer.status import Pause, PauseCause

GB = 10**9
_DAYS = get_args(Weekday)
_ONE_DAY = datetime.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Facts:
    """What the rules look at; None: not known, or there is no such thing."""

    plugged: bool | None = None
    """Whether the computer has mains power; None without a battery."""
    percent: float | None = None
    """The battery's charge, 0 to 100."""
    busy_percent: float | None = None
    """How much of the processor other programs used over the last minute, 0 to 100."""
    used_bytes: int = 0
    """Sent and received for the mesh in this month."""


def why_paused(settings: Settings, facts: Facts, now: float) -> Pause | None:
    """The first rule that forbids serving at ``now`` (Unix seconds), or None.

    Its ``setting``, switched off or set to 0, lifts this pause; another rule may then be the next. ``until`` is
    when the rule lifts it by itself, None where nobody knows.
    """
    return next(_rules(settings, facts, datetime.datetime.fromtimestamp(now)), None)


def _rules(settings: Settings, facts: Facts, now: datetime.datetime) -> Iterator[Pause]:
    if settings.pause_on_battery and facts.plugged is False:
        yield Pause(PauseCause.BATTERY, setting="pause_on_battery")
    if facts.percent is not None and facts.percent < settings.pause_below_percent:
        yield Pause(PauseCause.BATTERY, setting="pause_below_percent")
    if settings.schedule and not _scheduled(settings, now):
        yield Pause(PauseCause.SCHEDULE, until=_next_begin(settings, now), setting="schedule")
    if settings.monthly_quota_gb and facts.used_bytes >= settings.monthly_quota_gb * GB:
        yield Pause(PauseCause.QUOTA, until=_next_month(now), setting="monthly_quota_gb")
    limit = settings.pause_when_busy_percent
    if limit and facts.busy_percent is not None and facts.busy_percent > limit:
        yield Pause(PauseCause.BUSY, setting="pause_when_busy_percent")


def _scheduled(settings: Settings, now: datetime.datetime) -> bool:
    """Whether ``now`` lies in today's span, or in yesterday's if that goes over midnight."""
    return any(begin <= now < end for begin, end in _spans(settings, now.date() - _ONE_DAY, days=2))


def _next_begin(settings: Settings, now: datetime.datetime) -> float | None:
    # Eight days: this very weekday's span of next week is the farthest.
    return next((begin.timestamp() for begin, _ in _spans(settings, now.date(), days=8) if begin > now), None)


def _spans(
    settings: Settings, first: datetime.date, days: int
) -> Iterator[tuple[datetime.datetime, datetime.datetime]]:
    """The spans that begin on the chosen days, in local wall-clock time. Equal ends mean the whole day round."""
    begins = datetime.time.fromisoformat(settings.schedule_from)
    ends = datetime.time.fromisoformat(settings.schedule_to)
    for offset in range(days):
        day = first + offset * _ONE_DAY
        if _DAYS[day.weekday()] in settings.schedule_days:
            last = day if ends > begins else day + _ONE_DAY
            yield datetime.datetime.combine(day, begins), datetime.datetime.combine(last, ends)


def _next_month(now: datetime.datetime) -> float:
    first = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return (first + 32 * _ONE_DAY).replace(day=1).timestamp()
