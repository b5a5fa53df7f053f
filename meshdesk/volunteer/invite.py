"""How one person asks another into a mesh: a line to paste, or just the tracker's address. Pure.

An invite is ``meshdesk://join?tracker=…&relay=…&name=…``; the relay and the mesh's name may be missing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit

from meshdesk.protocol.errors import UsageError
from meshdesk.volunteer.urls import http_url, websocket_url
from meshdesk.volunteer.wording import QT_TRANSLATE_NOOP, Words

SCHEME = "meshdesk"
MAX_CHARS = 2000
MAX_NAME_CHARS = 64

_AROUND = " \t\r\n\f\v'\"`‘’“”„«»‹›<>(){},;\u00a0\u200b\u200e\u200f\u2060\ufeff"
_UNSEEN = "\r\n\t\u200b\u200e\u200f\u2060\ufeff"
# Letters of any script, so that international names pass; brackets for an IPv6 address.
_PLACE = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\W_]([\w-]*[^\W_])?(\.[^\W_]([\w-]*[^\W_])?)*\.?)(:\d{1,5})?")
_HINT = QT_TRANSLATE_NOOP("Invite", "Paste a tracker's address like 203.0.113.5:7000, or the whole line of an invite.")
_COPY_AGAIN = QT_TRANSLATE_NOOP("Invite", "Copy its whole line again.")
_ASK_ANEW = QT_TRANSLATE_NOOP("Invite", "Ask for a new one.")


class NotAnInvite(UsageError):
    """What was pasted is neither an invite nor a tracker's address. ``words`` and ``hint`` can be translated."""

    code = "not_an_invite"

    def __init__(self, words: Words, hint: Words = _HINT):
        super().__init__(str(words), hint=str(hint))
        self.words = words
        self.advice = hint


@dataclass(frozen=True, slots=True)
class Invite:
    """A mesh to join. ``relay`` and ``name`` are "" where the invite names none."""

    tracker: str
    relay: str = ""
    name: str = ""


def parse_invite(text: str) -> Invite:
    """Read what a person pastes. Quotes, brackets and line breaks of a mail around it do not matter.

    Raises NotAnInvite with a sentence to show.
    """
    if len(text) > MAX_CHARS:
        raise NotAnInvite(QT_TRANSLATE_NOOP("Invite", "This is too long for an invite."))
    bare = text.strip(_AROUND)
    for character in _UNSEEN:
        bare = bare.replace(character, "")
    if not bare:
        raise NotAnInvite(QT_TRANSLATE_NOOP("Invite", "Nothing is pasted yet."))
    scheme, colon, _ = bare.partition("://")
    scheme = scheme.lower()
    if colon and scheme == SCHEME:
        return _read_line(bare.replace(" ", ""))
    if colon and scheme in ("ws", "wss"):
        raise NotAnInvite(
            QT_TRANSLATE_NOOP("Invite", "This is a relay's address."),
            QT_TRANSLATE_NOOP("Invite", "Paste the tracker's address; it begins with http."),
        )
    if colon and scheme not in ("http", "https"):
        words = QT_TRANSLATE_NOOP("Invite", "An address that begins with {scheme}:// is not a mesh's.")
        raise NotAnInvite(words.format(scheme=_seen(scheme)[:30]))
    return Invite(_tracker(bare))


def make_invite(invite: Invite) -> str:
    """The line to send to somebody; ``parse_invite`` reads it back."""
    fields = {"tracker": invite.tracker, "relay": invite.relay, "name": invite.name}
    return f"{SCHEME}://join?" + urlencode({name: value for name, value in fields.items() if value})


def _read_line(line: str) -> Invite:
    try:
        parts = urlsplit(line)
        pairs = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query), errors="strict")
    except ValueError:
        raise NotAnInvite(QT_TRANSLATE_NOOP("Invite", "This invite is damaged."), _COPY_AGAIN) from None
    if parts.netloc.lower() != "join" or parts.path not in ("", "/"):
        raise NotAnInvite(QT_TRANSLATE_NOOP("Invite", "This is a meshdesk link, but not an invite."))
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise NotAnInvite(QT_TRANSLATE_NOOP("Invite", "This invite says something twice."), _ASK_ANEW)
    tracker = fields.get("tracker", "")
    if not tracker:
        raise NotAnInvite(QT_TRANSLATE_NOOP("Invite", "This invite names no tracker."), _COPY_AGAIN)
    return Invite(_tracker(tracker), _relay(fields.get("relay", "")), _name(fields.get("name", "")))


def _tracker(text: str) -> str:
    if "@" in text:
        raise NotAnInvite(QT_TRANSLATE_NOOP("Invite", "A tracker's address holds no user name or password."))
    if "?" in text or "#" in text:
        raise _no_address(text)
    try:
        url = http_url(text, "The tracker's address")
    except UsageError:
        raise _no_address(text) from None
    _check_place(url, text)
    # What OpenAI clients are given ends so; the tracker itself lies above it.
    return url.removesuffix("/v1")


def _relay(text: str) -> str:
    if not text:
        return ""
    try:
        url = websocket_url(text, "The relay's address")
    except UsageError:
        raise NotAnInvite(
            QT_TRANSLATE_NOOP("Invite", "The relay in this invite is not an address."), _ASK_ANEW
        ) from None
    _check_place(url, text)
    return url


def _check_place(url: str, text: str) -> None:
    parts = urlsplit(url)
    if not _PLACE.fullmatch(parts.netloc) or not re.fullmatch(r"[\w./~-]*", parts.path):
        raise _no_address(text)


def _no_address(text: str) -> NotAnInvite:
    shown = _seen(text)
    shown = shown if len(shown) <= 40 else shown[:40] + "…"
    return NotAnInvite(QT_TRANSLATE_NOOP("Invite", "“{text}” is not an address.").format(text=shown))


def _name(text: str) -> str:
    """What a stranger called the mesh: one line of signs that show."""
    name = " ".join(_seen(text).split())
    return name[:MAX_NAME_CHARS].rstrip()


def _seen(text: str) -> str:
    return "".join(each for each in text if each.isprintable())
