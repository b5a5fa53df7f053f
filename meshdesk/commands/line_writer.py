"""Lines to a pipe or terminal that may be slow or stuck, written without ever holding up the event loop."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import TextIO

MAX_LINES = 10_000
CLOSE_S = 2.0


class LineWriter:
    """Writes lines in a thread of its own. If the reader cannot keep up, the oldest waiting lines are lost.

    ``dropped_line`` gives the line that stands in for that many lost ones.
    """

    def __init__(self, stream: TextIO, dropped_line: Callable[[int], str]):
        self._stream = stream
        self._dropped_line = dropped_line
        self._lines: deque[str] = deque()
        self._dropped = 0
        self._changed = threading.Condition()
        self._closing = False
        self.broken = False
        """Whether the reader has gone; then lines are thrown away."""
        self._thread = threading.Thread(target=self._write, name="line writer", daemon=True)
        self._thread.start()

    def put(self, line: str) -> None:
        """Add one line, without its end. Never waits."""
        with self._changed:
            if self.broken or self._closing:
                return
            if len(self._lines) >= MAX_LINES:
                self._lines.popleft()
                self._dropped += 1
            self._lines.append(line)
            self._changed.notify()

    def close(self) -> None:
        """Write what waits, for CLOSE_S at most."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(CLOSE_S)

    def _write(self) -> None:
        while True:
            with self._changed:
                while not self._lines and not self._closing:
                    self._changed.wait()
                lines, dropped = list(self._lines), self._dropped
                self._lines.clear()
                self._dropped = 0
            if not lines:
                return
            if dropped:
                lines.insert(0, self._dropped_line(dropped))
            try:
                self._stream.write("\n".join(lines) + "\n")
                self._stream.flush()
            except (OSError, ValueError):
                with self._changed:
                    self.broken = True
                    self._lines.clear()
                return


class LineHandler(logging.Handler):
    """Log records as lines of a LineWriter."""

    def __init__(self, writer: LineWriter):
        super().__init__()
        self._writer = writer

    def emit(self, record: logging.LogRecord) -> None:
        with contextlib.suppress(Exception):
            self._writer.put(self.format(record))
