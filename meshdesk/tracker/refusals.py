"""What a head's refusal means: for the client, for the next try, and for the nodes involved. Pure."""

from __future__ import annotations

from typing import Any

from meshdesk.tracker.event_stream import read_error
from meshdesk.tracker.head_answer import HeadFailed, plain

MAX_MESSAGE_CHARS = 1000
# The client's own fault: another head would say the same.
_FINAL = (400, 413, 422)
# A 400 that is about what the tracker sent, not about what the client asked.
_TRACKERS_FAULT = ("not_a_head", "bad_route", "bad_header", "bad_sampling", "bad_request")
_LATER = (429, 503, 504)
# No head of ours answers so; whatever does is another server at an address two networks share.
_NOT_A_HEAD = (401, 403, 404, 405, 407, 421)


class HeadRefused(HeadFailed):
    """The head answered, but not with an answer.

    ``final`` says that it is the client's own fault, so that no other head need be asked. ``hop`` is the
    number of the hop at fault: 0 the head itself, 1 the first after it, None where that is not said.
    """

    code = "head_refused"

    def __init__(
        self,
        message: str,
        *,
        head_status: int,
        head_code: str | None = None,
        param: str | None = None,
        other_way: bool = False,
        final: bool = False,
        hop: int | None = None,
    ):
        super().__init__(message, other_way=other_way, delivered=True)
        self.head_status = head_status
        self.head_code = head_code
        self.param = param
        self.final = final
        self.hop = hop


def read_refusal(status: int, content_type: str, body: bytes) -> HeadRefused:
    """The error for an answer that is not 200.

    The head is a stranger, so its words are taken over piece by piece and never as they came.
    """
    error = read_error(body) if content_type == "application/json" else None
    if error is None:
        return HeadRefused(f"The head answered {status} without saying why.", head_status=status, other_way=True)
    code = _text(error, "code")
    return HeadRefused(
        _text(error, "message") or f"The head answered {status} without saying why.",
        head_status=status,
        head_code=code,
        param=_text(error, "param"),
        other_way=status in _NOT_A_HEAD,
        final=status in _FINAL and code not in _TRACKERS_FAULT,
        hop=hop_at_fault(error),
    )


def hop_at_fault(error: dict[str, Any]) -> int | None:
    """The number of the hop an error names (0 is the head, 1 the first after it), or None."""
    hop = error.get("hop")
    return hop if isinstance(hop, int) and not isinstance(hop, bool) and hop >= 0 else None


def shown_to_client(failure: HeadFailed) -> tuple[int, dict[str, Any]]:
    """Status and OpenAI-form body for the last failure of a chat.

    The client's own fault goes to it as the head put it. 429, 503 and 504 say "later", anything else is a
    bad gateway: a quarrel between tracker and head is nothing the client could mend.
    """
    status, code, param, kind = failure.status, failure.code, None, "server_error"
    if isinstance(failure, HeadRefused):
        if failure.final:
            status, param, kind = failure.head_status, failure.param, "invalid_request_error"
            code = failure.head_code or "invalid_request"
        elif failure.head_status in _LATER:
            status, code = failure.head_status, failure.head_code or failure.code
            kind = "rate_limit_error" if status == 429 else kind
        elif failure.head_status >= 500:
            code = failure.head_code or failure.code
    return status, {"error": {"message": failure.message, "type": kind, "param": param, "code": code}}


def _text(error: dict[str, Any], name: str) -> str | None:
    value = error.get(name)
    return plain(value, MAX_MESSAGE_CHARS) if isinstance(value, str) and value else None
