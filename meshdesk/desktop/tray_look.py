"""What the tray shows for a status: one pure function, so that icon, tooltip and menu cannot disagree or lag."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QCoreApplication

from meshdesk.desktop.amounts import clock_text
from meshdesk.desktop.icons import ARC_STEPS, TrayState
from meshdesk.desktop.sentences import chats_text, headline, pause_text, problem_text, progress_text, tray_line
from meshdesk.volunteer.status import LinkFacts, LinkState, PauseCause, Phase, Reach, Remedy, Status

TOOLTIP_MAX = 127
"""Windows shows no more of a tooltip."""
LINE_MAX = 80
QUARTER_HOUR_S = 900.0
HOUR_S = 3600.0


class Choice(StrEnum):
    """What an entry of the menu does."""

    JOIN = "join"
    LEAVE = "leave"
    RESUME = "resume"
    PAUSE_15_MIN = "pause-15-min"
    PAUSE_1_HOUR = "pause-1-hour"
    PAUSE = "pause"
    CHANGE_SETTING = "change-setting"
    DASHBOARD = "dashboard"
    CHAT = "chat"
    LOGS = "logs"
    SETTINGS = "settings"
    CONNECTION = "connection"
    DIAGNOSTICS = "diagnostics"
    ABOUT = "about"
    QUIT = "quit"


@dataclass(frozen=True, slots=True)
class MenuEntry:
    """One line of the menu: a choice, a submenu with ``entries``, or with neither a plain text; "" is a divider."""

    text: str = ""
    choice: Choice | None = None
    entries: tuple[MenuEntry, ...] = ()
    enabled: bool = True
    about: str = ""
    """The name of the setting that CHANGE_SETTING opens."""


@dataclass(frozen=True, slots=True)
class TrayLook:
    """All that the tray shows. ``progress`` is how long the starting icon's arc is, None where nobody knows."""

    icon: TrayState
    progress: float | None
    tooltip: str
    status_line: str
    entries: tuple[MenuEntry, ...]


def tray_look(status: Status, now: float) -> TrayLook:
    """The look of ``status`` at ``now`` (Unix seconds)."""
    icon = _icon(status)
    line = cut_on_word(_line(status, now), LINE_MAX)
    return TrayLook(
        icon=icon,
        progress=_arc(status) if icon is TrayState.STARTING else None,
        tooltip=cut_on_word(_tooltip(status, now), TOOLTIP_MAX),
        status_line=line,
        entries=(MenuEntry(line, enabled=False), MenuEntry(), *_membership_entries(status), *_other_entries()),
    )


def cut_on_word(text: str, most: int) -> str:
    """``text`` in ``most`` characters: where it is longer, cut between two words and ended with an ellipsis."""
    if len(text) <= most:
        return text
    kept = text[: most - 1]
    if not text[most - 1].isspace():
        # A single word of such a length is cut where it has to be.
        kept = max(kept.rpartition(" ")[0], kept.rpartition("\n")[0], key=len) or kept
    return kept.rstrip(" \n·,:;") + "…"


def _icon(status: Status) -> TrayState:
    match status.phase:
        case Phase.OFF:
            return TrayState.OFF
        case Phase.PAUSED:
            return TrayState.PAUSED
        case Phase.ERROR:
            return TrayState.ERROR
        case Phase.STARTING:
            return TrayState.STARTING
        case _:
            # Who leaves still serves the chats under way.
            reached = {Reach.RELAY: TrayState.RELAY, Reach.DIRECT: TrayState.DIRECT}
            waiting = TrayState.STARTING if status.phase is Phase.SERVING else TrayState.OFF
            if status.phase is Phase.SERVING and status.reconnecting_since is not None:
                return waiting
            return reached.get(status.reach, waiting)


def _arc(status: Status) -> float | None:
    """In the steps in which the icon can show it, so that it is not drawn anew for every few bytes."""
    fraction = status.progress.fraction if status.phase is Phase.STARTING and status.progress is not None else None
    return None if fraction is None else math.floor(fraction * ARC_STEPS) / ARC_STEPS


def _line(status: Status, now: float) -> str:
    """The menu's first line. Not every desktop shows tooltips, so what needs the person is said here too."""
    if status.phase is Phase.PAUSED and status.pause is not None:
        return pause_text(status.pause, now)
    if status.phase is Phase.ERROR and status.problem is not None:
        return status.problem.message
    return tray_line(status)


def _tooltip(status: Status, now: float) -> str:
    """The app's name, for there are many icons; then the sentence, and on a second line its reason."""
    said, reason = headline(status), ""
    match status.phase:
        case Phase.STARTING if status.progress is not None:
            said = progress_text(status.progress, status.shard)
        case Phase.PAUSED if status.pause is not None:
            said, reason = pause_text(status.pause, now), status.pause.detail
        case Phase.ERROR:
            said = problem_text(status.problem) or said
        case Phase.LEAVING:
            reason = chats_text(status.chats_now)
        case Phase.SERVING if status.reconnecting_since is not None:
            reason = _outage(status, status.reconnecting_since)
        case Phase.SERVING if status.relay.state is LinkState.LOST and status.reach is Reach.DIRECT:
            reason = QCoreApplication.translate("TrayTooltip", "The relay does not answer")
        case Phase.SERVING:
            reason = chats_text(status.chats_now)
        case _:
            pass
    named = QCoreApplication.translate("TrayTooltip", "meshdesk: {sentence}").format(sentence=said)
    return f"{named}\n{reason}" if reason else named


def _outage(status: Status, since: float) -> str:
    """Which connection is gone, since when, and why, as far as that is known."""
    translate = QCoreApplication.translate
    lost = next((link for link in (status.relay, status.tracker) if _is_lost(link)), None)
    if lost is None:
        return translate("TrayTooltip", "Since {time}").format(time=clock_text(since))
    if lost.reason:
        said = translate("TrayTooltip", "{address} was lost at {time}: {reason}")
    else:
        said = translate("TrayTooltip", "{address} was lost at {time}")
    return said.format(address=lost.address, time=clock_text(since), reason=lost.reason)


def _is_lost(link: LinkFacts) -> bool:
    return bool(link.address) and link.state in (LinkState.LOST, LinkState.CONNECTING)


def _membership_entries(status: Status) -> list[MenuEntry]:
    translate = QCoreApplication.translate
    leave = MenuEntry(translate("TrayMenu", "Leave mesh"), Choice.LEAVE)
    match status.phase:
        case Phase.OFF:
            return [MenuEntry(translate("TrayMenu", "Join mesh"), Choice.JOIN), _pause_menu(enabled=False)]
        case Phase.LEAVING:
            return [MenuEntry(translate("TrayMenu", "Leave now"), Choice.LEAVE), _pause_menu(enabled=False)]
        case Phase.PAUSED if status.pause is not None and status.pause.cause is not PauseCause.PERSON:
            # Only the named setting lifts a rule's pause.
            change = translate("TrayMenu", "Change this setting…")
            about = status.pause.setting
            return [MenuEntry(change, Choice.CHANGE_SETTING, about=about), leave, _pause_menu()]
        case Phase.PAUSED:
            return [MenuEntry(translate("TrayMenu", "Resume"), Choice.RESUME), leave, _pause_menu()]
        case Phase.ERROR:
            again = MenuEntry(translate("TrayMenu", "Try again"), Choice.JOIN)
            return [*_remedy(status), again, leave, _pause_menu(enabled=False)]
        case _:
            return [leave, _pause_menu()]


def _remedy(status: Status) -> list[MenuEntry]:
    """The one thing to do about a problem, before all else; to try again is there in any case."""
    translate = QCoreApplication.translate
    match status.problem.remedy if status.problem is not None else Remedy.RETRY:
        case Remedy.SETTINGS:
            return [MenuEntry(translate("TrayMenu", "Open the settings"), Choice.SETTINGS)]
        case Remedy.LOGS:
            return [MenuEntry(translate("TrayMenu", "Open the log"), Choice.LOGS)]
        case _:
            return []


def _pause_menu(*, enabled: bool = True) -> MenuEntry:
    translate = QCoreApplication.translate
    lengths = (
        MenuEntry(translate("TrayMenu", "15 minutes"), Choice.PAUSE_15_MIN),
        MenuEntry(translate("TrayMenu", "1 hour"), Choice.PAUSE_1_HOUR),
        MenuEntry(translate("TrayMenu", "Until I resume"), Choice.PAUSE),
    )
    return MenuEntry(translate("TrayMenu", "Pause"), entries=lengths, enabled=enabled)


def _other_entries() -> list[MenuEntry]:
    translate = QCoreApplication.translate
    helps = (
        MenuEntry(translate("TrayMenu", "Check my connection"), Choice.CONNECTION),
        MenuEntry(translate("TrayMenu", "Export diagnostics…"), Choice.DIAGNOSTICS),
        MenuEntry(translate("TrayMenu", "About"), Choice.ABOUT),
    )
    return [
        MenuEntry(),
        MenuEntry(translate("TrayMenu", "Dashboard"), Choice.DASHBOARD),
        MenuEntry(translate("TrayMenu", "Try a chat"), Choice.CHAT),
        MenuEntry(translate("TrayMenu", "Logs"), Choice.LOGS),
        MenuEntry(translate("TrayMenu", "Settings"), Choice.SETTINGS),
        MenuEntry(translate("TrayMenu", "Help"), entries=helps),
        MenuEntry(),
        MenuEntry(translate("TrayMenu", "Quit"), Choice.QUIT),
    ]
