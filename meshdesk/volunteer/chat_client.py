"""A client of the tracker's OpenAI API: one question, the answer piece by piece."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import orjson

from meshdesk.protocol.errors import MeshdeskError

CONNECT_S = 5.0
SILENCE_S = 120.0
"""From one sign of life of the tracker to the next; while it computes it says so every few seconds."""
LINE_BYTES = 8 << 20
MAX_RANGES = 100
_UNSHOWN = dict.fromkeys(
    [
        *(code for code in range(0x20) if chr(code) not in "\n\t"),
        *range(0x7F, 0xA0),
        *range(0x202A, 0x202F),
        *range(0x2066, 0x206A),
        *range(0xFDD0, 0xFDF0),
        *range(0xFFF9, 0xFFFD),
        0xFFFE,
        0xFFFF,
    ]
)


class ChatRefused(MeshdeskError):
    """The tracker or a node did not answer the chat, or broke it off; the message is theirs.

    ``cause`` is the error code they gave, "" without one; ``missing`` are half-open ranges of layers nobody holds.
    """

    code = "chat_failed"

    def __init__(self, message: str, *, cause: str = "", missing: tuple[tuple[int, int], ...] = ()):
        super().__init__(message)
        self.cause = cause
        self.missing = missing


class NoTracker(MeshdeskError):
    """Nothing that speaks the OpenAI form answers at the tracker's address."""

    code = "tracker_unreachable"
    exit_code = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One chat request. None leaves a choice to the mesh; ``hops`` asks for token ids and timings."""

    messages: Sequence[dict[str, str]]
    model: str | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    hops: bool = False

    def to_body(self) -> dict[str, Any]:
        body: dict[str, Any] = {"messages": list(self.messages), "stream": True}
        for name in ("model", "max_tokens", "temperature"):
            if getattr(self, name) is not None:
                body[name] = getattr(self, name)
        return body | ({"meshdesk": {"hops": True}} if self.hops else {})


@dataclass(frozen=True, slots=True)
class Piece:
    """What one chunk of the answer adds; hops are timings as the head wrote them."""

    text: str
    token_ids: list[int] = field(default_factory=list)
    hops: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    finish_reason: str | None = None


async def ask(tracker_url: str, question: Question) -> AsyncGenerator[Piece, None]:
    """Stream one answer from ``tracker_url`` (``http://HOST:PORT``). Raises NoTracker or ChatRefused.

    Closing the generator hangs up, which ends the work on every node.
    """
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S, sock_read=SILENCE_S)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, read_bufsize=LINE_BYTES) as client,
            client.post(tracker_url + "/v1/chat/completions", json=question.to_body()) as response,
        ):
            if response.status != 200:
                raise _refusal(response.status, await response.read(), tracker_url)
            async for line in response.content:
                data = line.removeprefix(b"data:").strip()
                if not line.startswith(b"data:"):
                    continue
                if data == b"[DONE]":
                    return
                yield _piece(data)
            raise ChatRefused("The connection to the tracker broke before the answer was complete.")
    except TimeoutError:
        raise NoTracker(
            f"The tracker at {tracker_url} does not answer.", hint="Check the address, and that it runs."
        ) from None
    except aiohttp.ClientConnectorError as error:
        raise NoTracker(
            f"Nothing answers at {tracker_url}: {no_answer_reason(error)}.",
            hint="Check the address, and that the tracker runs.",
        ) from error
    except (aiohttp.ClientError, ValueError) as error:
        raise ChatRefused(f"The connection to the tracker broke: {error or type(error).__name__}.") from error


def no_answer_reason(error: aiohttp.ClientConnectorError) -> str:
    """The system's words; the event loop's own would show a Python tuple."""
    number = error.os_error.errno
    if number is not None and number > 0:
        return os.strerror(number).lower()
    return (error.os_error.strerror or str(error)).lower()


def printable(text: str) -> str:
    """``text`` without what does not show: an answer comes from strangers' computers and must not steer a terminal.

    Control characters go, the marks that turn the direction of the text around them, and code points that are none.
    """
    return text.translate(_UNSHOWN)


def _piece(data: bytes) -> Piece:
    try:
        fields = orjson.loads(data)
    except orjson.JSONDecodeError:
        raise ChatRefused("The tracker sent something that is not JSON.") from None
    if not isinstance(fields, dict):
        raise ChatRefused("The tracker sent something that is not an answer.")
    if "error" in fields:
        raise _refused(fields) or ChatRefused("The answer broke off, and nobody said why.")
    choice = _object(next(iter(_list(fields, "choices")), None))
    extension = _object(fields.get("meshdesk"))
    text = _object(choice.get("delta")).get("content")
    finish_reason = choice.get("finish_reason")
    return Piece(
        text=text if isinstance(text, str) else "",
        token_ids=[each for each in _list(extension, "token_ids") if isinstance(each, int)],
        hops=[each for each in _list(extension, "hops") if isinstance(each, dict)],
        warnings=[each for each in _list(extension, "warnings") if isinstance(each, str)],
        finish_reason=finish_reason if isinstance(finish_reason, str) else None,
    )


def _refusal(status: int, body: bytes, tracker_url: str) -> MeshdeskError:
    try:
        fields = orjson.loads(body)
    except orjson.JSONDecodeError:
        return NoTracker(f"What answers at {tracker_url} is no tracker (status {status}).", hint="Check the address.")
    return _refused(fields) or ChatRefused(f"The tracker answered {status}.")


def _refused(fields: Any) -> ChatRefused | None:
    """The error in OpenAI form that ``fields`` holds; None without a sentence in it."""
    error = _object(_object(fields).get("error"))
    message, cause = error.get("message"), error.get("code")
    if not isinstance(message, str) or not message:
        return None
    missing = layer_ranges(error.get("missing_layers"))
    return ChatRefused(message, cause=cause if isinstance(cause, str) else "", missing=missing)


def layer_ranges(value: Any) -> tuple[tuple[int, int], ...]:
    """Half-open ranges of layers as a tracker writes them; what is none is left out."""
    if not isinstance(value, list):
        return ()
    return tuple(
        (pair[0], pair[1])
        for pair in value[:MAX_RANGES]
        if isinstance(pair, list) and len(pair) == 2 and all(type(each) is int for each in pair) and pair[0] < pair[1]
    )


def _object(value: Any) -> dict[str, Any]:
    """A JSON object, or an empty one: what strangers send need not be in the form it should have."""
    return value if isinstance(value, dict) else {}


def _list(fields: dict[str, Any], name: str) -> list[Any]:
    value = fields.get(name)
    return value if isinstance(value, list) else []
