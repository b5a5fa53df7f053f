"""Nothing secret reaches a log: what looks like a credential, or was named one, is taken out of every text.

``keep_secret`` names a value at run time: a node's identity secret, a Hub token. ``RedactionFilter``
belongs on every handler; it rewrites the record itself, so that no formatter can go round it.
"""

from __future__ import annotations

import functools
import json
import logging
import re
import traceback
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, quote_plus

REMOVED = "[removed]"
SHORTEST_SECRET = 6
"""Characters. What is shorter stands in ordinary words, and would blot out half of the log."""

_NAME = (
    r"(?:secret(?:[_-]?key)?s?|token|passw(?:or)?ds?|passphrase|authori[sz]ation|credentials?|cookie"
    r"|api[_-]?keys?|access[_-]?key(?:[_-]?id)?|private[_-]?key|signing[_-]?key)"
)
_NAME_WORDS = ("secret", "token", "passw", "passphrase", "authori", "credential", "cookie", "key")
_QUOTE = r"\\*[\"']"
# What says nothing, or was taken out before.
_NOT = rf"(?!(?:{_QUOTE})?\[removed\]|(?:null|none|true|false)\b)"
# A quoted value without its end is cut to the end of the line.
_VALUE = (
    rf"(?:[brfu]{{0,2}}(?P<quote>{_QUOTE})(?:[\s\S]*?(?<!\\)(?P=quote)|[^\n]*)"
    r"|\[[^\]\n]*\]?|\{[^}\n]*\}?"
    r"|(?:(?:bearer|basic|token|negotiate|digest)\s+)?[^\s,;&\"'<>)\]}]+)"
)
_NAMED = rf"(?P<kept>{_NAME}(?:{_QUOTE}\]?\s*(?:[:=]>?|,)|\]?\s*(?:[:=]>?|%3D))\s*){_NOT}{_VALUE}"
_OPTION = rf"(?P<kept>(?<![\w-])--?[\w-]{{0,40}}?{_NAME}\s+)(?!-){_NOT}\S+"
_WHOLE_HEADER = (
    r"(?P<kept>\b(?:(?:proxy-)?authorization\s*:\s*+(?=digest\b)|(?:set-)?cookie\s*:\s*+))(?!\[removed\])[^\n]+"
)
_BEARER = r"(?P<kept>\bbearer\s+)(?!\[removed\])[\w.~+/=-]+"
_USERINFO = r"(?P<kept>://)(?!\[removed\]@)[^\s/?#\"'<>]*(?=@)"
_SHAPE = (
    r"(?:hf_oauth_[\w.-]{16,}|hf_[a-z0-9]{16,}|(?<![a-z0-9])sk-[\w-]{16,}"
    r"|(?<![\w-])eyJ[\w-]{8,}\.[\w-]+\.[\w-]*"
    r"|-----BEGIN [a-z ]{0,30}PRIVATE KEY-----[\s\S]*?(?:-----END [a-z ]{0,30}PRIVATE KEY-----|\Z))"
)
# With each pattern the words, in small letters, without which it cannot match: most lines have none of them.
_RULES: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = tuple(
    (words, re.compile(pattern, re.IGNORECASE))
    for words, pattern in (
        (("hf_", "sk-", "eyj", "-----begin"), _SHAPE),
        (("authori", "cookie"), _WHOLE_HEADER),
        (_NAME_WORDS, _NAMED),
        (_NAME_WORDS, _OPTION),
        (("bearer",), _BEARER),
        (("://",), _USERINFO),
    )
)
_SECRET_NAME = re.compile(_NAME + r"\Z", re.IGNORECASE)

_forms: tuple[str, ...] = ()
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "exc_text"}
_MARK = "_redacted"


def keep_secret(value: str) -> None:
    """Take ``value`` out of every text from now on, in the forms in which it may be written.

    What has fewer than SHORTEST_SECRET characters is not taken for a secret.
    """
    global _forms
    if len(value) < SHORTEST_SECRET:
        return
    forms = {
        value,
        repr(value)[1:-1],
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
        quote(value, safe="", errors="replace"),
        quote_plus(value, errors="replace"),
    }
    # The longest first: a secret may hold another one.
    _forms = tuple(sorted({*_forms, *forms}, key=len, reverse=True))


def forget_secrets() -> None:
    """Forget what ``keep_secret`` was told; for tests."""
    global _forms
    _forms = ()


def is_secret_name(name: str) -> bool:
    """Whether the value of a field so named is a credential: ``hf_token``, ``X-Api-Key``, but not ``tokens``."""
    return _SECRET_NAME.search(name) is not None


def redacted(text: str) -> str:
    """``text`` without what is secret in it; REMOVED stands in its place."""
    for form in _forms:
        if form in text:
            text = text.replace(form, REMOVED)
    # Tokens that are counted are no credentials, and stand in every other line.
    lowered = text.lower().replace("tokens", "")
    for words, pattern in _RULES:
        for word in words:
            if word in lowered:
                text = pattern.sub(_without, text)
                break
    return text


def _without(match: re.Match[str]) -> str:
    groups = match.groupdict(default="")
    quote_mark = groups.get("quote", "")
    return f"{groups.get('kept', '')}{quote_mark}{REMOVED}{quote_mark}"


def redacted_fields(fields: Any) -> Any:
    """A JSON-like structure without secrets: values under secret names go, all other texts are redacted."""
    if isinstance(fields, Mapping):
        return {
            redacted(str(name)): REMOVED if is_secret_name(str(name)) and value else redacted_fields(value)
            for name, value in fields.items()
        }
    if isinstance(fields, str):
        return redacted(fields)
    if isinstance(fields, (set, frozenset)):
        fields = sorted(fields, key=str)
    if isinstance(fields, Sequence) and not isinstance(fields, (bytes, bytearray)):
        return [redacted_fields(each) for each in fields]
    if fields is None or isinstance(fields, (bool, int, float)):
        return fields
    return redacted(str(fields))


class RedactionFilter(logging.Filter):
    """Rewrites each record before its handler sees it: the formatted message, the traceback, extra attributes."""

    def filter(self, record: logging.LogRecord) -> bool:
        if not getattr(record, _MARK, False):
            _redact_record(record)
        return True


def redacted_exception(error: BaseException) -> str:
    """The traceback of ``error`` as text, with its causes and without secrets."""
    try:
        text = "".join(traceback.format_exception(error))
    except Exception as worse:
        # An exception whose __str__ raises must not hide that there was one.
        text = f"{type(error).__name__} (its text cannot be had: {type(worse).__name__})"
    return redacted(text.rstrip("\n"))


def _redact_record(record: logging.LogRecord) -> None:
    try:
        message = record.getMessage()
    except Exception as error:
        # logging would print message and arguments to stderr, as they are.
        message = f"{record.msg} (its values do not fit: {type(error).__name__})"
    record.msg, record.args = redacted(message), None
    record.name = redacted(record.name)
    if record.exc_info and record.exc_info[1] is not None:
        record.exc_text = redacted_exception(record.exc_info[1])
    elif record.exc_text:
        record.exc_text = redacted(record.exc_text)
    # A handler that formats the exception itself would write round this filter.
    record.exc_info = None
    if record.stack_info:
        record.stack_info = redacted(record.stack_info)
    for name, value in record.__dict__.items():
        if name not in _STANDARD:
            record.__dict__[name] = REMOVED if is_secret_name(name) and value else redacted_fields(value)
    record.__dict__[_MARK] = True


@functools.cache
def the_filter() -> RedactionFilter:
    """The one filter, for every handler to share."""
    return RedactionFilter()
