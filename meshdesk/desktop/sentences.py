"""The status in sentences: the headline, the line under it, and what progress, pause and problem are called.

Pure, and the only place where the state is put into words; tray, dashboard and notifications all speak from here.
"""

from __future__ import annotations

import time

from PySide6.QtCore import QCoreApplication, QDate, QLocale

from meshdesk.desktop.amounts import clock_text, duration_text, minutes_text, pair_of_sizes_text, rate_text, speed_text
from meshdesk.desktop.plurals import plurals
from meshdesk.volunteer.layers import show_layers
from meshdesk.volunteer.settings import info_of
from meshdesk.volunteer.status import Pause, PauseCause, Phase, Problem, Progress, Reach, ShardFacts, Status

DAY_S = 86_400.0


def headline(status: Status) -> str:
    """The one sentence that says where this computer stands."""
    translate = QCoreApplication.translate
    match status.phase:
        case Phase.OFF:
            return translate("Sentences", "Not in the mesh")
        case Phase.STARTING:
            if status.progress is not None and status.progress.step in ("downloading", "preparing"):
                return translate("Sentences", "Getting the model")
            return translate("Sentences", "Joining the mesh")
        case Phase.LEAVING:
            return translate("Sentences", "Leaving once the chats under way are over")
        case Phase.PAUSED:
            return pause_text(status.pause, status.since) if status.pause else translate("Sentences", "Paused")
        case Phase.ERROR:
            return translate("Sentences", "meshdesk needs your attention")
        case Phase.SERVING:
            return _serving(status)


def subline(status: Status, now: float) -> str:
    """What is worth knowing besides: chats, speed and time while serving, else what comes next."""
    translate = QCoreApplication.translate
    match status.phase:
        case Phase.OFF:
            return translate("Sentences", "Join to lend this computer; nothing runs until you do.")
        case Phase.STARTING:
            return progress_text(status.progress, status.shard)
        case Phase.LEAVING:
            return chats_text(status.chats_now)
        case Phase.PAUSED:
            return translate("Sentences", "Nothing is computed and no memory is used for the mesh.")
        case Phase.ERROR:
            return problem_text(status.problem)
        case Phase.SERVING:
            parts = [chats_text(status.chats_now)]
            if status.tokens_per_s is not None:
                speed = rate_text(status.tokens_per_s)
                parts.append(translate("Sentences", "{speed} tokens/s").format(speed=speed))
            if status.joined_at is not None:
                time_in = minutes_text(max(0.0, now - status.joined_at))
                parts.append(translate("Sentences", "in the mesh for {time}").format(time=time_in))
            return " · ".join(parts)


def tray_line(status: Status) -> str:
    """The menu's first line: the headline, shorter, with the chats."""
    translate = QCoreApplication.translate
    if status.phase is not Phase.SERVING or status.shard is None or status.reconnecting_since is not None:
        return headline(status)
    span = show_layers(status.shard.start_layer, status.shard.end_layer)
    if status.reach is Reach.RELAY:
        served = translate("Sentences", "Serving layers {layers} by relay").format(layers=span)
    else:
        served = translate("Sentences", "Serving layers {layers} directly").format(layers=span)
    return " · ".join([served, chats_text(status.chats_now)]) if status.chats_now else served


def chats_text(chats: int) -> str:
    """How many chats run through this computer now."""
    if not chats:
        return QCoreApplication.translate("Sentences", "No chats just now")
    return plurals().chats_now(chats)


def progress_text(progress: Progress | None, shard: ShardFacts | None) -> str:
    """How far a start is, with amount, speed and time left as far as they are known."""
    translate = QCoreApplication.translate
    if progress is None:
        return translate("Sentences", "Connecting …")
    match progress.step:
        case "finding":
            return translate("Sentences", "Looking for the model …")
        case "connecting" if progress.detail == "practice":
            return translate("Sentences", "Starting a small mesh on this computer …")
        case "connecting":
            return translate("Sentences", "Connecting …")
        case "downloading" if shard is not None:
            what = translate("Sentences", "Getting layers {layers}").format(layers=_span(shard))
        case "downloading":
            what = translate("Sentences", "Getting the model")
        case "preparing":
            what = translate("Sentences", "Preparing the model, once")
        case "warming":
            return translate("Sentences", "Running the first token …")
        case _ if shard is not None:
            what = translate("Sentences", "Loading layers {layers}").format(layers=_span(shard))
        case _:
            what = translate("Sentences", "Loading the model")
    return _with_amounts(what, progress)


def pause_text(pause: Pause | None, now: float) -> str:
    """Why this computer does not serve, and until when; a rule names its setting."""
    translate = QCoreApplication.translate
    if pause is None:
        return ""
    until = "" if pause.until is None else _until(pause.until, now)
    if pause.cause is PauseCause.PERSON:
        if pause.until is None:
            return translate("Sentences", "Paused until you resume")
        return translate("Sentences", "Paused until {time}").format(time=until)
    setting = translate("Settings", info_of(pause.setting).label) if pause.setting else ""
    match pause.cause:
        case PauseCause.BATTERY:
            said = translate("Sentences", "Paused to spare the battery (setting “{setting}”)")
        case PauseCause.SCHEDULE if pause.until is not None:
            said = translate("Sentences", "Paused until {time} by your schedule (setting “{setting}”)")
        case PauseCause.SCHEDULE:
            said = translate("Sentences", "Paused by your schedule (setting “{setting}”)")
        case PauseCause.BUSY:
            said = translate("Sentences", "Paused while other programs are busy (setting “{setting}”)")
        case PauseCause.QUOTA if pause.until is not None:
            said = translate("Sentences", "Paused until {time}: this month's transfer is used up (setting “{setting}”)")
        case _:
            said = translate("Sentences", "Paused: this month's transfer is used up (setting “{setting}”)")
    return said.format(setting=setting, time=until)


def problem_text(problem: Problem | None) -> str:
    """What happened, and the one thing to do."""
    return "" if problem is None else f"{problem.message} {problem.hint}".strip()


def _serving(status: Status) -> str:
    translate = QCoreApplication.translate
    if status.reconnecting_since is not None:
        return translate("Sentences", "Reconnecting to the mesh")
    if status.shard is None:
        return translate("Sentences", "Serving the mesh")
    if status.reach is Reach.RELAY:
        said = translate("Sentences", "Serving layers {layers} of {model} by relay")
    else:
        said = translate("Sentences", "Serving layers {layers} of {model} directly")
    return said.format(layers=_span(status.shard), model=_short_name(status.shard.model))


def _short_name(model: str) -> str:
    """A headline has no room for the owner, nor for what nearly all models are; the shard's card has it in full."""
    return model.rpartition("/")[2].removesuffix("-Instruct")


def _span(shard: ShardFacts) -> str:
    return show_layers(shard.start_layer, shard.end_layer)


def _with_amounts(what: str, progress: Progress) -> str:
    translate = QCoreApplication.translate
    if progress.total <= 0:
        return f"{what} …"
    amounts = pair_of_sizes_text(progress.done, progress.total)
    parts = [translate("Sentences", "{what}: {amounts}").format(what=what, amounts=amounts)]
    if progress.bytes_per_s:
        parts.append(speed_text(progress.bytes_per_s))
    if progress.seconds_left is not None:
        parts.append(translate("Sentences", "{time} left").format(time=duration_text(progress.seconds_left)))
    return " · ".join(parts)


def _until(at: float, now: float) -> str:
    """The time of day; with the day where it is not today's; only the date where a weekday would not tell which."""
    if at - now > 6 * DAY_S:
        then = time.localtime(at)
        day_and_month = QCoreApplication.translate("Sentences", "d MMMM", "how a date is written")
        return QLocale().toString(QDate(then.tm_year, then.tm_mon, then.tm_mday), day_and_month)
    clock = clock_text(at, seconds=False)
    if at - now < DAY_S and time.localtime(at).tm_yday == time.localtime(now).tm_yday:
        return clock
    day = QLocale().dayName(time.localtime(at).tm_wday + 1)
    return QCoreApplication.translate("Sentences", "{day}, {time}").format(day=day, time=clock)
