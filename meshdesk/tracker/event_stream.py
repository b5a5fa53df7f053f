"""Server-sent events as they pass through: whole ones only, and what to say when they break off. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

MAX_EVENT_BYTES = 1024 * 1024
DONE = b"data: [DONE]\n\n"


class EventTooLarge(ValueError):
    """More than MAX_EVENT_BYTES came without an event's end."""


class WholeEvents:
    """Holds back the unfinished event at a chunk's end, so that a broken stream never ends in half an event."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self.done = False
        """True once the stream said that it is complete."""

    def push(self, chunk: bytes) -> bytes:
        """The events that are whole now, as they came; may be empty. EventTooLarge if one does not end."""
        searched = max(0, len(self._rest) - 2)
        self._rest += chunk
        # Only what is new is searched, so that a head that dribbles costs no more than one that does not.
        ends = [
            self._rest.rfind(mark, searched) + len(mark)
            for mark in (b"\n\n", b"\n\r\n")
            if mark in self._rest[searched:]
        ]
        if not ends:
            if len(self._rest) > MAX_EVENT_BYTES:
                raise EventTooLarge(f"an event has more than {MAX_EVENT_BYTES} octets")
            return b""
        whole = bytes(self._rest[: max(ends)])
        del self._rest[: max(ends)]
        if any(line.rstrip() == b"data: [DONE]" for line in whole.splitlines()):
            self.done = True
        return whole


def errors_in(events: bytes) -> Iterator[dict[str, Any]]:
    """The OpenAI-form errors among whole events."""
    for line in events.splitlines():
        # Looked at more closely only where it may be one: this runs for every token.
        if line.startswith(b"data: {") and b'"error"' in line[:64]:
            error = read_error(line[len(b"data: ") :])
            if error is not None:
                yield error


def read_error(body: bytes) -> dict[str, Any] | None:
    """The ``error`` object of a JSON body; None where there is none."""
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        return None
    error = fields.get("error") if isinstance(fields, dict) else None
    return error if isinstance(error, dict) else None


def error_event(body: dict[str, Any]) -> bytes:
    """An event that OpenAI clients raise as an error, and the end of the stream."""
    return b"data: " + json.dumps(body, ensure_ascii=False).encode("utf-8", "replace") + b"\n\n" + DONE
