"""The log on disk: a few files of bounded size, written by a thread of its own so that nobody waits for a disk."""

from __future__ import annotations

import contextlib
import io
import os
import queue
import threading
import time
from pathlib import Path

from meshdesk.volunteer.log_records import LogLine, gap_line
from meshdesk.volunteer.log_redaction import redacted

NAME = "meshdesk.log"
FILE_BYTES = 2 << 20
FILES = 5
QUEUED_LINES = 20_000
BATCH_LINES = 1_000
BATCH_CHARACTERS = 256 << 10
CLOSE_S = 3.0


class LogFile:
    """Appends lines to ``directory``/meshdesk.log, the older ones in meshdesk.log.1 to .4.

    No call waits for the disk. Where it is full, or too slow for QUEUED_LINES, lines are lost, and one
    line says how many.
    """

    def __init__(self, directory: Path, *, file_bytes: int = FILE_BYTES, files: int = FILES) -> None:
        self.path = directory / NAME
        self._file_bytes = file_bytes
        self._files = files
        # Its put may interrupt another put of the same thread, as a garbage collection that logs does.
        self._queue: queue.SimpleQueue[LogLine | threading.Event | None] = queue.SimpleQueue()
        self._lost = 0
        self._stream: io.BufferedWriter | None = None
        self._size = 0
        self._thread = threading.Thread(target=self._write, name="log file", daemon=True)
        self._thread.start()

    def put(self, line: LogLine) -> None:
        """Have ``line`` written soon. Never waits."""
        if self._queue.qsize() >= QUEUED_LINES:
            self._lost += 1
        else:
            self._queue.put(line)

    def flush(self, within_s: float = CLOSE_S) -> bool:
        """Wait until what was put before is written; False if it took longer. Not for the event loop."""
        done = threading.Event()
        self._queue.put(done)
        return done.wait(within_s)

    def close(self) -> None:
        """Write what waits, for CLOSE_S at most, and end the thread."""
        self._queue.put(None)
        self._thread.join(CLOSE_S)

    def _write(self) -> None:
        open_still = True
        while open_still:
            lines, events, open_still = self._take()
            if lines:
                self._append(lines)
            for event in events:
                event.set()
        self._close_stream()

    def _take(self) -> tuple[list[LogLine], list[threading.Event], bool]:
        """Wait for something to do, then take what there is, within bounds; False with it once it is the last."""
        lines: list[LogLine] = []
        events: list[threading.Event] = []
        characters = 0
        item = self._queue.get()
        while True:
            if item is None:
                return lines, events, False
            if isinstance(item, threading.Event):
                events.append(item)
            else:
                lines.append(item)
                characters += len(item.message) + len(item.details)
            if characters > BATCH_CHARACTERS or len(lines) >= BATCH_LINES:
                return lines, events, True
            try:
                item = self._queue.get_nowait()
            except queue.Empty:
                return lines, events, True

    def _append(self, lines: list[LogLine]) -> None:
        lost, self._lost = self._lost, 0
        texts = [line.text for line in lines]
        if lost:
            texts.insert(0, gap_line(0, lost, time.time()).text)
        # Once more: what a waiting record holds may have become known as a secret since.
        data = redacted("\n".join(texts) + "\n").encode("utf-8", "backslashreplace")
        try:
            if self._stream is None or self._size + len(data) > self._file_bytes:
                self._open(len(data))
            assert self._stream is not None
            self._stream.write(data)
            self._stream.flush()
            self._size += len(data)
        except (OSError, ValueError):
            # What is wrong with the disk cannot be written to it; the next lines try again.
            self._lost += lost + len(lines)
            self._close_stream()

    def _open(self, room: int) -> None:
        """Open the file for ``room`` octets more; where they do not fit, begin a new one."""
        self._close_stream()
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            size = self.path.stat().st_size
            if size and size + room > self._file_bytes:
                self._rotate()
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._stream = os.fdopen(descriptor, "ab")
        self._size = os.fstat(descriptor).st_size

    def _close_stream(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()

    def _rotate(self) -> None:
        for number in range(self._files - 1, 0, -1):
            older = self.path.with_name(f"{NAME}.{number}")
            newer = self.path.with_name(f"{NAME}.{number - 1}") if number > 1 else self.path
            with contextlib.suppress(FileNotFoundError):
                newer.replace(older)
