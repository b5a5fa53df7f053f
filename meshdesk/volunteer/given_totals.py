"""What this computer has given to the mesh: today, this month and in all, kept over restarts."""

from __future__ import annotations

import contextlib
import datetime
import logging
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from meshdesk.node.events import ChatFinished, ChatStarted, Event, ForwardServed, HopTimed, SessionClosed, Way
from meshdesk.volunteer.status import Given

log = logging.getLogger(__name__)

KEEP_DAYS = 62
"""Days kept one by one: enough for this month and the last."""
IDLE_S = 600.0
"""A served session that was silent for so long is over, whether or not its head said so."""
MAX_SESSIONS = 4096


@dataclass(frozen=True, slots=True)
class Totals:
    """``days`` by ISO date, the newest KEEP_DAYS of them; ``in_all`` since the first start."""

    days: dict[str, Given]
    in_all: Given


class GivenTotals:
    """Counts events; ``today`` is injected for tests. Loading and saving are the caller's, off the loop.

    A chat counts for each node it runs through. Tokens are those computed here: one a decoded token,
    whether this node heads the chat or serves somebody else's.
    """

    def __init__(self, totals: Totals | None = None, today: Callable[[], datetime.date] = datetime.date.today):
        self._days = dict(totals.days) if totals else {}
        self._in_all = totals.in_all if totals else Given()
        self._today = today
        self._sessions: dict[str, float] = {}
        """Sessions of others that run through this node, with when they were last heard of."""
        self._own: dict[str, int] = {}
        """Chats headed here, with how many of their tokens are counted."""
        self.changed = False

    @property
    def today(self) -> Given:
        return self._days.get(self._today().isoformat(), Given())

    @property
    def this_month(self) -> Given:
        prefix = self._today().isoformat()[:8]
        return sum((given for day, given in self._days.items() if day.startswith(prefix)), Given())

    @property
    def in_all(self) -> Given:
        return self._in_all

    def sessions_now(self, now: float) -> int:
        """Route Sessions under way, headed here or served for others."""
        for session, at in list(self._sessions.items()):
            if now - at > IDLE_S:
                del self._sessions[session]
        return len(self._own.keys() | self._sessions.keys())

    def forget_sessions(self) -> None:
        """The node stopped, and with it all sessions."""
        self._sessions.clear()
        self._own.clear()

    def apply(self, event: Event) -> int:
        """Count an event; how many tokens it was."""
        match event:
            case ChatStarted(session=session):
                self._own[session] = 0
                self._add(Given(chats=1))
            case ChatFinished(session=session, tokens=tokens, seconds=seconds):
                # Whatever was computed twice or not sent on, the end knows how many there were.
                self._add(Given(tokens=tokens - self._own.pop(session, 0), seconds=seconds))
                return 0
            case HopTimed(hop=0, way=Way.LOCAL, session=session, token_index=index):
                counted = self._own.get(session)
                if counted is not None and index + 1 > counted:
                    self._own[session] = index + 1
                    self._add(Given(tokens=index + 1 - counted))
                return 1
            case HopTimed(bytes_in=bytes_in, bytes_out=bytes_out):
                self._add(Given(bytes_in=bytes_in, bytes_out=bytes_out))
            case ForwardServed(session=session):
                known = session in self._sessions
                self._sessions[session] = event.at
                while len(self._sessions) > MAX_SESSIONS:
                    del self._sessions[next(iter(self._sessions))]
                decoded = int(event.tokens == 1)
                self._add(Given(int(not known), decoded, event.bytes_in, event.bytes_out, event.compute_ms / 1000))
                return decoded
            case SessionClosed(session=session):
                self._sessions.pop(session, None)
        return 0

    def snapshot(self) -> Totals:
        """The totals as they are to be saved."""
        newest = sorted(self._days)[-KEEP_DAYS:]
        return Totals({day: self._days[day] for day in newest}, self._in_all)

    def _add(self, given: Given) -> None:
        day = self._today().isoformat()
        self._days[day] = self._days.get(day, Given()) + given
        self._in_all = self._in_all + given
        self.changed = True


def load_totals(path: Path) -> Totals:
    """The totals of an earlier run; none where the file is missing or damaged, which is set aside."""
    try:
        raw = orjson.loads(path.read_bytes())
        return Totals({str(day): _given(each) for day, each in raw["days"].items()}, _given(raw["in_all"]))
    except FileNotFoundError:
        return Totals({}, Given())
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError, AttributeError, ValueError) as error:
        log.warning("what was given so far cannot be read from %s (%s); counting starts anew", path, error)
        with contextlib.suppress(OSError):
            path.replace(path.with_suffix(".damaged"))
        return Totals({}, Given())


def save_totals(path: Path, totals: Totals) -> None:
    """Write the totals in one step, so that a crash leaves the old ones or the new ones. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    with partial.open("wb") as stream:
        stream.write(
            orjson.dumps(
                {"days": {day: asdict(each) for day, each in totals.days.items()}, "in_all": asdict(totals.in_all)}
            )
        )
        stream.flush()
        os.fsync(stream.fileno())
    partial.replace(path)


def _given(raw: dict[str, Any]) -> Given:
    return Given(
        chats=int(raw.get("chats", 0)),
        tokens=int(raw.get("tokens", 0)),
        bytes_in=int(raw.get("bytes_in", 0)),
        bytes_out=int(raw.get("bytes_out", 0)),
        seconds=float(raw.get("seconds", 0.0)),
    )
