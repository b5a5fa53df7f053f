"""A person's own pause: for so long, or until they resume. It outlives a restart of the app.

Kept in ``pause.json``. The end is a time of day, as it is shown; but a clock that is set back makes no
pause longer than the person asked for. A computer that sleeps past the end wakes up without a pause.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import orjson

from meshdesk.volunteer.identity import data_root
from meshdesk.volunteer.private_file import write_private
from meshdesk.volunteer.status import Pause, PauseCause

log = logging.getLogger(__name__)

MAX_BYTES = 4096
TOLERANCE_S = 2.0
"""Clocks are corrected by so much all the time; an end that has been shown does not move for that."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """``until`` None: until the person resumes. ``seconds`` is what they asked for."""

    until: float | None = None
    seconds: float = 0.0


class PersonalPause:
    """The pause in ``path``, which is read here: make it before the loop runs, or in a thread.

    On a running loop, changes are written beside it. ``clock`` gives Unix seconds, ``steady`` seconds of a
    clock that nobody sets.
    """

    def __init__(
        self,
        path: Path | None = None,
        clock: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
    ):
        self._path = path or data_root() / "pause.json"
        self._clock = clock
        self._steady = steady
        self._writer: asyncio.Task[None] | None = None
        self._written: _Kept | None = None
        self._kept = self._written = _read(self._path)
        self._ends_at = math.inf
        """By the steady clock."""
        if self._kept is not None and self._kept.until is not None:
            # The longest it may still be: the clock may have been set back while the app did not run.
            self._ends_at = steady() + min(self._kept.seconds, max(0.0, self._kept.until - clock()))

    def current(self) -> Pause | None:
        """The pause that goes on now."""
        kept = self._kept
        if kept is None:
            return None
        if kept.until is not None:
            longest = self._ends_at - self._steady()
            left = kept.until - self._clock()
            if left > longest + TOLERANCE_S:
                kept = _Kept(self._clock() + longest, kept.seconds)
                self._change(kept)
            if min(left, longest) <= 0:
                self.lift()
                return None
        return Pause(PauseCause.PERSON, until=kept.until)

    def begin(self, seconds: float | None) -> None:
        """Pause for ``seconds``, or with None until ``lift``; in the place of a pause that goes on."""
        if seconds is None:
            self._ends_at = math.inf
            self._change(_Kept())
        else:
            self._ends_at = self._steady() + seconds
            self._change(_Kept(self._clock() + seconds, seconds))

    def lift(self) -> None:
        """End the pause, if there is one."""
        if self._kept is not None:
            self._change(None)

    async def saved(self) -> None:
        """Wait until the last change is on disk, or was logged as impossible to write."""
        while self._writer is not None:
            await asyncio.shield(self._writer)

    def _change(self, kept: _Kept | None) -> None:
        self._kept = kept
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._write(kept)
            return
        if self._writer is None:
            self._writer = loop.create_task(self._write_all(), name="the pause")

    async def _write_all(self) -> None:
        try:
            while self._written != self._kept:
                kept = self._kept
                await asyncio.to_thread(self._write, kept)
        finally:
            self._writer = None

    def _write(self, kept: _Kept | None) -> None:
        """A disk that does not take it is logged: the pause counts all the same."""
        self._written = kept
        try:
            if kept is None:
                self._path.unlink(missing_ok=True)
            else:
                write_private(self._path, orjson.dumps({"until": kept.until, "seconds": kept.seconds}))
        except OSError as error:
            log.warning("the pause cannot be kept in %s: %s", self._path, error.strerror or error)


def _read(path: Path) -> _Kept | None:
    try:
        with path.open("rb") as stream:
            fields = orjson.loads(stream.read(MAX_BYTES))
        until, seconds = fields["until"], fields["seconds"]
        if until is None:
            return _Kept()
        if math.isfinite(until) and math.isfinite(seconds) and seconds >= 0:
            return _Kept(float(until), float(seconds))
        raise ValueError("numbers out of range")
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as error:
        log.warning("the pause in %s cannot be read, so there is none: %s", path, error)
        return None
