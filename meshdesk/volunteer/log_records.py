"""The log as lines in memory: what the log window shows, and what a bundle of diagnostics takes along."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass
from typing import Literal

Origin = Literal["app", "engine", "child", "qt", "fault"]
ORIGINS: tuple[Origin, ...] = ("app", "engine", "child", "qt", "fault")

MAX_LINES = 100_000
MAX_BYTES = 48 << 20
LINE_BYTES = 250
"""What a line takes beside its texts."""
GAP_LOGGER = "meshdesk.log"

FAULT_LOGGER = "meshdesk.fault"
CHILD_LOGGERS = ("meshdesk.shard.child", "meshdesk.role")
"""What other processes of this app said: the shard's, and the roles of a practice mesh."""
QT_LOGGER = "qt"
_ENGINE = (
    *(f"meshdesk.{room}" for room in ("node", "relay", "tracker", "shard", "protocol")),
    *("aiohttp", "websockets", "asyncio", "huggingface_hub", "urllib3", "httpx"),
)


@dataclass(frozen=True, slots=True)
class LogLine:
    """One record of the log, free of secrets."""

    number: int
    """Counts up from 1 by one; that of a gap is the number of the last line that was dropped."""
    at: float
    """Unix seconds."""
    level: int
    """As in logging."""
    origin: Origin
    logger: str
    message: str
    details: str = ""
    """The traceback, or what else does not fit in a row."""

    @property
    def is_gap(self) -> bool:
        """Whether this line stands for others that were dropped."""
        return self.logger == GAP_LOGGER

    @property
    def level_name(self) -> str:
        return logging.getLevelName(self.level)

    @property
    def text(self) -> str:
        """The line as it stands in a file: one line, then the details."""
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.at))
        text = f"{when}.{int(self.at * 1000) % 1000:03} {self.level_name:<8} {self.origin:<6} "
        # What others wrote must not look like a line of ours.
        text += f"{self.logger}: {self.message.replace(chr(10), chr(10) + '    ')}"
        return f"{text}\n{self.details}" if self.details else text


def origin_of(logger: str) -> Origin:
    """Where a record comes from, told by the name of its logger."""
    if _under(logger, FAULT_LOGGER):
        return "fault"
    if any(_under(logger, name) for name in CHILD_LOGGERS):
        return "child"
    if _under(logger, QT_LOGGER):
        return "qt"
    return "engine" if any(_under(logger, name) for name in _ENGINE) else "app"


def gap_line(last: int, dropped: int, at: float) -> LogLine:
    """The line that stands for ``dropped`` lines, of which ``last`` is the number of the newest."""
    lines = "line" if dropped == 1 else "lines"
    return LogLine(last, at, logging.WARNING, "app", GAP_LOGGER, f"{dropped:,} {lines} dropped")


class LogRing:
    """The newest lines, bounded in number and octets. Any thread may add and read.

    A garbage collection in the midst of ``append`` may log in its turn; the order of steps allows for it.
    """

    def __init__(self, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._slots: list[LogLine | None] = [None] * max_lines
        self._first = 1
        self._last = 0
        self._bytes = 0
        self._lock = threading.RLock()

    @property
    def capacity(self) -> int:
        """How many lines there is room for."""
        return len(self._slots)

    @property
    def last(self) -> int:
        """The number of the newest line; 0 before the first."""
        return self._last

    @property
    def dropped(self) -> int:
        """How many lines had to go so far."""
        return self._first - 1

    def __len__(self) -> int:
        return self._last - self._first + 1

    def append(self, at: float, level: int, origin: Origin, logger: str, message: str, details: str = "") -> LogLine:
        """Add a line, and drop the oldest where there is no room. Its texts must be redacted."""
        with self._lock:
            self._last += 1
            line = LogLine(self._last, at, level, origin, logger, message, details)
            if len(self) > len(self._slots):
                self._drop_first()
            self._slots[(line.number - 1) % len(self._slots)] = line
            self._bytes += _size(line)
            while self._bytes > self._max_bytes and self._first < self._last:
                self._drop_first()
        return line

    def since(self, number: int, limit: int | None = None) -> list[LogLine]:
        """The lines after ``number``, oldest first, ``limit`` at most; a gap line in front stands for those gone."""
        with self._lock:
            start = max(number + 1, self._first)
            stop = self._last if limit is None else min(self._last, start + limit - 1)
            if start > stop:
                return []
            size = len(self._slots)
            low, high = (start - 1) % size, (stop - 1) % size + 1
            found = self._slots[low:high] if low < high else self._slots[low:] + self._slots[:high]
        lines = [line for line in found if line is not None]
        if start > number + 1 and lines:
            lines.insert(0, gap_line(start - 1, start - 1 - number, lines[0].at))
        return lines

    def newest(self, count: int) -> list[LogLine]:
        """The last ``count`` lines, oldest first, without a gap line."""
        return self.since(max(self._last - count, self.dropped))

    def _drop_first(self) -> None:
        slot = (self._first - 1) % len(self._slots)
        line = self._slots[slot]
        if line is not None:
            self._bytes -= _size(line)
        self._slots[slot] = None
        self._first += 1


def _size(line: LogLine) -> int:
    """Texts outside Latin-1 take more than an octet a character; twice as much is near enough."""
    characters = len(line.message) + len(line.details)
    return LINE_BYTES + (characters if line.message.isascii() else 2 * characters)


def _under(logger: str, name: str) -> bool:
    return logger == name or logger.startswith(name + ".")
