"""The log of a headless node kept in memory, so that ``meshdesk logs`` can show it. No file is written."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager

from meshdesk.volunteer.log_records import LogRing, origin_of
from meshdesk.volunteer.log_redaction import the_filter

MAX_LINES = 5_000
MAX_BYTES = 4 << 20


class RingHandler(logging.Handler):
    """Adds each record to ``ring``, free of secrets."""

    def __init__(self, ring: LogRing) -> None:
        super().__init__()
        self.ring = ring
        self.addFilter(the_filter())

    def emit(self, record: logging.LogRecord) -> None:
        # What cannot be formatted is a fault of whoever logged it, which must not end the node.
        with contextlib.suppress(Exception):
            origin, message = origin_of(record.name), record.getMessage().rstrip()
            details = record.exc_text or ""
            self.ring.append(record.created, record.levelno, origin, record.name, message, details)


@contextmanager
def kept_log() -> Iterator[LogRing]:
    """A ring that this process logs into while the block runs."""
    ring = LogRing(MAX_LINES, MAX_BYTES)
    handler = RingHandler(ring)
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        yield ring
    finally:
        root.removeHandler(handler)
        handler.close()
