"""What a head answers a chat with, whichever way it came, and how asking it can fail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from meshdesk.protocol.errors import MeshdeskError

MAX_ANSWER_BYTES = 16 * 1024 * 1024


class HeadFailed(MeshdeskError):
    """The head gave no (whole) answer. ``other_way`` says that the same head may answer by another way."""

    code = "head_failed"
    status = 502

    def __init__(self, message: str, *, other_way: bool = False, delivered: bool | None = None):
        super().__init__(message, delivered=delivered)
        self.other_way = other_way


class HeadUnreachable(HeadFailed):
    """The head never got the question by this way."""

    code = "head_unreachable"

    def __init__(self, message: str):
        super().__init__(message, other_way=True, delivered=False)


@dataclass(frozen=True, slots=True)
class HeadRequest:
    """One chat for a head. ``first_s`` bounds the wait for its first sign of life, ``silence_s`` each later one."""

    path: str
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    first_s: float
    silence_s: float


class HeadAnswer(Protocol):
    """A head's answer as it arrives. It is given up by leaving the context it came from."""

    @property
    def status(self) -> int: ...

    @property
    def content_type(self) -> str:
        """Lower case, without parameters; empty where the head named none."""
        ...

    async def chunk(self) -> bytes:
        """The next octets, or nothing at the end; HeadFailed if it breaks off or falls silent."""
        ...


async def read_whole(answer: HeadAnswer, limit: int = MAX_ANSWER_BYTES) -> bytes:
    """All of an answer; HeadFailed if it has more than ``limit`` octets."""
    parts: list[bytes] = []
    size = 0
    while chunk := await answer.chunk():
        size += len(chunk)
        if size > limit:
            raise HeadFailed(f"The head's answer has more than {limit} octets.", delivered=True)
        parts.append(chunk)
    return b"".join(parts)


def media_type(headers: Mapping[str, str]) -> str:
    """The content type without its parameters, from headers with names in any case."""
    for name, value in headers.items():
        if name.lower() == "content-type":
            return value.partition(";")[0].strip().lower()
    return ""


def plain(text: str, limit: int = 300) -> str:
    """A stranger's words as one line without control characters, fit for a log and for a client."""
    return "".join(character if character.isprintable() else " " for character in text[:limit])
