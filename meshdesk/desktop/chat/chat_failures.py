"""Why a chat failed, in words: what happened, and the one thing that the person can do about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QCoreApplication

from meshdesk.protocol.errors import MeshdeskError
from meshdesk.volunteer.chat_client import ChatRefused, NoTracker, printable
from meshdesk.volunteer.layers import show_layers

translate = QCoreApplication.translate

MAX_CHARS = 400
MAX_SPANS = 4


class WayOut(StrEnum):
    """The button that a failure gets."""

    TRY_AGAIN = "try-again"
    NEW_CHAT = "new-chat"


@dataclass(frozen=True, slots=True)
class Failure:
    """``words`` are for the person, ``details`` the error as it came."""

    words: str
    way_out: WayOut = WayOut.TRY_AGAIN
    details: str = ""


def failure_of(error: Exception) -> Failure:
    """What to show for an error of a chat. The mesh's own words are taken over as plain text, and cut."""
    if not isinstance(error, MeshdeskError):
        return Failure(
            translate("ChatFailures", "The chat failed in a way nobody foresaw. See the log."), details=repr(error)
        )
    details = _cut(f"{error.message} {error.hint or ''}".strip())
    if isinstance(error, NoTracker):
        words = translate(
            "ChatFailures", "The mesh cannot be reached, for its tracker does not answer. Check your network."
        )
        return Failure(words, details=details)
    cause = error.cause if isinstance(error, ChatRefused) else ""
    if cause == "context_length_exceeded":
        words = translate("ChatFailures", "This chat has grown too long for the model. A new one has room again.")
        return Failure(words, WayOut.NEW_CHAT, details)
    if cause == "no_route" and isinstance(error, ChatRefused):
        return Failure(_no_route(error.missing), details=details)
    if cause in ("too_many_chats", "too_busy", "busy"):
        words = translate("ChatFailures", "The mesh is busy with other chats. Try again in a moment.")
        return Failure(words, details=details)
    return Failure(_cut(error.message), details=details)


def _no_route(missing: tuple[tuple[int, int], ...]) -> str:
    if not missing:
        return translate(
            "ChatFailures", "The mesh has no complete chain of nodes yet. Try again when another one has joined."
        )
    spans = ", ".join(show_layers(start, end) for start, end in missing[:MAX_SPANS])
    if len(missing) > MAX_SPANS:
        spans += ", …"
    text = translate("ChatFailures", "The mesh has no node for layers {layers} yet. Try again when one has joined.")
    return text.format(layers=spans)


def _cut(text: str) -> str:
    shown = " ".join(printable(text).split())
    return shown if len(shown) <= MAX_CHARS else shown[: MAX_CHARS - 1] + "…"
