"""What a membership remembers: hops of the last minutes, what was given so far, a person's pause."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from meshdesk.volunteer.given_totals import GivenTotals, load_totals, save_totals
from meshdesk.volunteer.hop_history import MINUTE_TOKENS, HopHistory
from meshdesk.volunteer.status import Pause

log = logging.getLogger(__name__)


class KeptPause(Protocol):
    """A person's own pause, kept over restarts; see PersonalPause."""

    def current(self) -> Pause | None: ...

    def begin(self, seconds: float | None) -> None: ...

    def lift(self) -> None: ...


class KeptRecords:
    """The records of one data directory. ``load`` before use, ``save`` now and then, and at the end."""

    def __init__(self, directory: Path, pause: KeptPause):
        self._path = directory / "given.json"
        self.pause = pause
        self.own_layers: Callable[[], tuple[int, int]] = lambda: (0, 0)
        self.hops = HopHistory(MINUTE_TOKENS, own_layers=lambda: self.own_layers())
        self.totals = GivenTotals()

    async def load(self) -> None:
        self.totals = GivenTotals(await asyncio.to_thread(load_totals, self._path))

    async def save(self) -> None:
        """Write what has changed. A disk that does not take it is logged: it must not end a membership."""
        if not self.totals.changed:
            return
        self.totals.changed = False
        try:
            await asyncio.to_thread(save_totals, self._path, self.totals.snapshot())
        except OSError as error:
            self.totals.changed = True
            log.warning("what was given cannot be kept in %s: %s", self._path, error.strerror or error)
