"""What is told outside the windows: an outage that lasts, an error, and once that a closed window is not the end."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QCoreApplication, QObject, QTimer

from meshdesk.desktop.amounts import clock_text
from meshdesk.desktop.background import Background
from meshdesk.desktop.sentences import headline, problem_text
from meshdesk.volunteer.identity import data_root
from meshdesk.volunteer.status import LinkState, Phase, Problem, Reach, Status

log = logging.getLogger(__name__)

OUTAGE_S = 10.0
"""Shorter ones are over before anybody has read of them."""
CALM_S = 60.0
"""A connection that comes and goes is one outage until it has held for so long."""
TOLD_FILE = "told-of-tray"


@dataclass(frozen=True, slots=True)
class Notice:
    """One notification."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Told:
    """What has been told already. ``well_since`` is when a told outage seemed to be over."""

    outage: bool = False
    well_since: float | None = None
    problem: Problem | None = None


class MessagePlace(Protocol):
    """What is needed of ``Tray``."""

    def message(self, title: str, text: str) -> bool: ...


def next_notice(told: Told, status: Status, now: float) -> tuple[Told, Notice | None]:
    """What is to be told at ``now`` (Unix seconds) in view of what has been, and what has been told then."""
    problem = status.problem if status.phase is Phase.ERROR else None
    if problem is not None and problem != told.problem:
        return Told(problem=problem), Notice(headline(status), problem_text(problem))
    told = dataclasses.replace(told, problem=problem)
    if status.phase is not Phase.SERVING:
        return dataclasses.replace(told, outage=False, well_since=None), None
    since = down_since(status)
    if since is None:
        well_since = now if told.well_since is None else told.well_since
        return dataclasses.replace(told, well_since=well_since if told.outage else None), None
    if told.outage and (told.well_since is None or since - told.well_since < CALM_S):
        return dataclasses.replace(told, well_since=None), None
    if now - since < OUTAGE_S:
        return dataclasses.replace(told, outage=False, well_since=None), None
    return dataclasses.replace(told, outage=True, well_since=None), _outage(status, since)


def down_since(status: Status) -> float | None:
    """When the outage that a serving node has now began; None without one."""
    if status.phase is not Phase.SERVING:
        return None
    if status.reconnecting_since is not None:
        return status.reconnecting_since
    return status.relay.since if status.relay.state is LinkState.LOST else None


def _outage(status: Status, since: float) -> Notice:
    translate = QCoreApplication.translate
    if status.reconnecting_since is None and status.reach is Reach.DIRECT:
        text = translate("Notifications", "Others reach this computer directly until it does. There is nothing to do.")
        return Notice(translate("Notifications", "The relay does not answer"), text)
    text = translate("Notifications", "The connection was lost at {time}. meshdesk keeps trying; nothing else to do.")
    return Notice(headline(status), text.format(time=clock_text(since, seconds=False)))


class Notifier(QObject):
    """Tells by way of the tray, where ``wanted`` says so, until ``close``. ``told_file`` is kept for the profile."""

    def __init__(
        self,
        status: Callable[[], Status],
        listen: Callable[[Callable[[], None]], Callable[[], None]],
        tray: MessagePlace,
        wanted: Callable[[], bool],
        *,
        told_file: Path | None = None,
        now: Callable[[], float] = time.time,
    ):
        super().__init__()
        self._status = status
        self._tray = tray
        self._wanted = wanted
        self._told_file = told_file
        self._now = now
        self._told = Told()
        self._telling: asyncio.Task[None] | None = None
        self._background = Background()
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._look)
        self._unlisten = listen(self._look)

    def close(self) -> None:
        """Tell nothing more."""
        self._timer.stop()
        self._unlisten()
        self._unlisten = lambda: None
        if self._telling is not None:
            self._telling.cancel()

    def still_running(self) -> None:
        """The last window was closed: say where the app went, the first time in this profile."""
        if self._telling is None:
            self._telling = self._background.start(self._tell_still_running(), "message of the tray")

    def _look(self) -> None:
        status, now = self._status(), self._now()
        self._told, notice = next_notice(self._told, status, now)
        if notice is not None and self._wanted():
            self._tray.message(notice.title, notice.text)
        since = down_since(status)
        if since is None or self._told.outage:
            self._timer.stop()
        elif not self._timer.isActive():
            self._timer.start(round(max(0.0, since + OUTAGE_S - now) * 1000) + 1)

    async def _tell_still_running(self) -> None:
        if await asyncio.to_thread(_first_time, self._told_file or data_root() / TOLD_FILE):
            translate = QCoreApplication.translate
            title = translate("Notifications", "meshdesk is still running here")
            self._tray.message(title, translate("Notifications", "To end it, choose Quit in the menu of this icon."))


def _first_time(told_file: Path) -> bool:
    """Whether ``told_file`` was not there; it is from now on. Blocks."""
    try:
        if told_file.exists():
            return False
        told_file.parent.mkdir(parents=True, exist_ok=True)
        told_file.touch()
    except OSError as error:
        log.info("it cannot be kept that the tray was explained: %s", error.strerror or error)
    return True
