"""What a shard's child process writes to its standard error, as lines of the log."""

from __future__ import annotations

import logging
import time
from collections import deque

child_log = logging.getLogger("meshdesk.shard.child")

LINE_CHARACTERS = 2_000
LINES_PER_WINDOW = 100
LINE_WINDOW_S = 10.0
TAIL_LINES = 8


class StderrLines:
    """A child's standard error as log lines: bounded in length and number, the last few kept."""

    def __init__(self) -> None:
        self._rest = b""
        self._tail: deque[str] = deque(maxlen=TAIL_LINES)
        self._window_began = 0.0
        self._in_window = 0

    def feed(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._log(line)
        if len(self._rest) > 4 * LINE_CHARACTERS:
            self._log(self._rest)
            self._rest = b""

    def end(self) -> None:
        if self._rest:
            self._log(self._rest)
            self._rest = b""

    def last(self) -> str:
        return self._tail[-1] if self._tail else ""

    def _log(self, line: bytes) -> None:
        text = line.decode("utf-8", "replace").rstrip()[:LINE_CHARACTERS]
        if not text:
            return
        self._tail.append(text)
        now = time.monotonic()
        if now - self._window_began > LINE_WINDOW_S:
            self._window_began, self._in_window = now, 0
        self._in_window += 1
        if self._in_window <= LINES_PER_WINDOW:
            child_log.warning("%s", text)
        elif self._in_window == LINES_PER_WINDOW + 1:
            child_log.warning("The shard's process writes too much; what follows is left out for a while.")
