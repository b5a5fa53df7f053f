"""Amounts as people read them: sizes, speeds, times. Every number in a window comes through here.

An unknown amount is a dash, never a zero. Figures follow the language of the app; seconds are Unix time.
"""

from __future__ import annotations

import time

from PySide6.QtCore import QCoreApplication, QDateTime, QLocale

translate = QCoreApplication.translate

UNKNOWN = "–"
_UNITS = ("B", "kB", "MB", "GB", "TB")


def size_text(octets: float | None) -> str:
    """``141 MB``; decimal units, as disks and networks are sold."""
    if octets is None:
        return UNKNOWN
    number, unit = _scaled(octets)
    return f"{number} {unit}"


def pair_of_sizes_text(done: float, total: float) -> str:
    """``84 of 141 MB``: both in the unit of the total, so that only the figure counts up."""
    power = _power(total)
    if power == _power(done) or done == 0:
        done_text = _figure(done / 1000**power, power)
        return translate("Amounts", "{done} of {total}").format(done=done_text, total=size_text(total))
    return translate("Amounts", "{done} of {total}").format(done=size_text(done), total=size_text(total))


def speed_text(octets_per_s: float | None) -> str:
    """``6.2 MB/s``"""
    if octets_per_s is None:
        return UNKNOWN
    number, unit = _scaled(octets_per_s)
    return translate("Amounts", "{amount} {unit}/s").format(amount=number, unit=unit)


def ms_text(ms: float | None, *, unit: bool = True) -> str:
    """``21.3 ms``; from 100 ms without a decimal, which would only flicker."""
    if ms is None:
        return UNKNOWN
    figure = QLocale().toString(ms, "f", 1 if ms < 99.95 else 0)
    return translate("Amounts", "{amount} ms").format(amount=figure) if unit else figure


def duration_text(seconds: float | None) -> str:
    """``3 h 12 min``: the two largest units that matter, ``9 s`` below a minute."""
    if seconds is None:
        return UNKNOWN
    whole = max(0, round(seconds))
    if whole < 60:
        return translate("Amounts", "{seconds} s").format(seconds=whole)
    if whole < 600:
        minutes, rest = divmod(whole, 60)
        if rest:
            return translate("Amounts", "{minutes} min {seconds} s").format(minutes=minutes, seconds=rest)
        return translate("Amounts", "{minutes} min").format(minutes=minutes)
    return minutes_text(whole)


def minutes_text(seconds: float | None) -> str:
    """A duration that changes once a minute: ``less than a minute``, ``12 min``, ``3 h 12 min``, ``2 d 5 h``."""
    if seconds is None:
        return UNKNOWN
    minutes = max(0, int(seconds)) // 60
    if minutes < 1:
        return translate("Amounts", "less than a minute")
    if minutes < 60:
        return translate("Amounts", "{minutes} min").format(minutes=minutes)
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        text = translate("Amounts", "{hours} h {minutes} min") if minutes else translate("Amounts", "{hours} h")
        return text.format(hours=hours, minutes=minutes)
    days, hours = divmod(hours, 24)
    text = translate("Amounts", "{days} d {hours} h") if hours else translate("Amounts", "{days} d")
    return text.format(days=days, hours=hours)


def ago_text(at: float | None, now: float | None = None) -> str:
    """``2 min ago``; changes at most once a minute after the first."""
    if at is None:
        return UNKNOWN
    seconds = (time.time() if now is None else now) - at
    if seconds < 5:
        return translate("Amounts", "just now")
    if seconds < 60:
        return translate("Amounts", "{duration} ago").format(duration=duration_text(int(seconds) // 5 * 5))
    return translate("Amounts", "{duration} ago").format(duration=minutes_text(seconds))


def clock_text(at: float | None, *, seconds: bool = True) -> str:
    """``14:02:11`` in local time."""
    if at is None:
        return UNKNOWN
    return _local(at).toString("HH:mm:ss" if seconds else "HH:mm")


def moment_text(at: float | None) -> str:
    """Date and time in full, for tooltips."""
    if at is None:
        return UNKNOWN
    when = _local(at)
    date = QLocale().toString(when.date(), QLocale.FormatType.ShortFormat)
    return f"{date} {when.toString('HH:mm:ss')}"


def count_text(count: int | None) -> str:
    """``88,310``"""
    return UNKNOWN if count is None else QLocale().toString(count)


def rate_text(per_s: float | None) -> str:
    """``18.4``, or a dash."""
    return UNKNOWN if per_s is None else QLocale().toString(per_s, "f", 1)


def _scaled(octets: float) -> tuple[str, str]:
    power = _power(octets)
    return _figure(octets / 1000**power, power), _UNITS[power]


def _power(octets: float) -> int:
    """The unit whose figure has one to three places; what rounds up to a thousand takes the next one."""
    power = 0
    while power + 1 < len(_UNITS) and round(octets / 1000**power) >= 1000:
        power += 1
    return power


def _figure(number: float, power: int) -> str:
    """Two significant places at least: 6.2, but 141 and 0."""
    decimals = 1 if power and 0 < number < 9.95 else 0
    return QLocale().toString(number, "f", decimals)


def _local(at: float) -> QDateTime:
    return QDateTime.fromMSecsSinceEpoch(round(at * 1000))
