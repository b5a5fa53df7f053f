"""What is said over the local control socket: one JSON line asks, one or more JSON lines answer. Pure.

A request is ``{"version", "command", "args", "token"}``. An answer is ``{"result"}``, or for what goes on
``{"item"}`` lines and at last ``{"end": true}``, or ``{"error": {"code", "message", "hint"}}``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import orjson

from meshdesk.protocol.errors import MeshdeskError

VERSION = 1
MAX_REQUEST_BYTES = 16 * 1024
MAX_ANSWER_BYTES = 4 << 20
MAX_PAUSE_S = 366 * 86400.0


class Command(StrEnum):
    """What can be asked."""

    STATUS = "status"
    WATCH = "watch"
    JOIN = "join"
    LEAVE = "leave"
    PAUSE = "pause"
    RESUME = "resume"
    QUIT = "quit"
    LOGS = "logs"
    HOPS = "hops"
    DOCTOR = "doctor"
    SHOW = "show"


class ControlError(MeshdeskError):
    """Base of what can go wrong between a command and the meshdesk it speaks to."""

    code = "control_error"
    status = 400


class BadControl(ControlError):
    """A line that is no request or no answer, or one of another version."""

    code = "bad_control"


class NotPossible(ControlError):
    """What was asked cannot be done here and now; the message says why."""

    code = "not_possible"
    status = 409
    exit_code = 4


@dataclass(frozen=True, slots=True)
class Request:
    """One request. Only the arguments its command has are kept, each of its type."""

    command: Command
    args: dict[str, Any] = field(default_factory=dict)
    token: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """One line of an answer: a result, an item of a stream, or its end. ``last``: nothing follows."""

    value: Any = None
    last: bool = True
    end: bool = False


def encode_request(request: Request) -> bytes:
    fields = {"version": VERSION, "command": request.command, "args": request.args}
    if request.token:
        fields["token"] = request.token
    return orjson.dumps(fields) + b"\n"


def parse_request(line: bytes) -> Request:
    """The request of one line. Raises BadControl."""
    fields = _fields(line, MAX_REQUEST_BYTES)
    if fields.get("version") != VERSION:
        raise BadControl(
            "The command and the running meshdesk are of different versions.", hint="Quit meshdesk and start it again."
        )
    try:
        command = Command(fields.get("command", ""))
    except ValueError:
        raise BadControl(f"There is no command {str(fields.get('command'))[:40]!r}.") from None
    args, token = fields.get("args", {}), fields.get("token", "")
    if not isinstance(args, dict) or not isinstance(token, str):
        raise BadControl("The arguments are malformed.")
    return Request(command, _checked(command, args), token)


def encode_result(value: Any) -> bytes:
    return _encode({"result": value})


def encode_item(value: Any) -> bytes:
    return _encode({"item": value})


def encode_end() -> bytes:
    return _encode({"end": True})


def encode_error(error: MeshdeskError) -> bytes:
    return _encode(error.to_body())


def parse_answer(line: bytes) -> Answer:
    """One line of an answer. Raises BadControl, or the error that the answer is."""
    fields = _fields(line, MAX_ANSWER_BYTES)
    if "error" in fields:
        raise _error(fields["error"])
    if "item" in fields:
        return Answer(fields["item"], last=False)
    if "end" in fields:
        return Answer(end=True)
    if "result" in fields:
        return Answer(fields["result"])
    raise BadControl("The running meshdesk gave no answer that can be read.")


def _encode(fields: dict[str, Any]) -> bytes:
    line = orjson.dumps(fields, default=str) + b"\n"
    if len(line) <= MAX_ANSWER_BYTES:
        return line
    return encode_error(ControlError(f"The answer is too long: {len(line):,} octets."))


def _fields(line: bytes, limit: int) -> dict[str, Any]:
    if len(line) > limit or not line.endswith(b"\n"):
        raise BadControl("The line is too long, or cut short.")
    try:
        fields = orjson.loads(line)
    except orjson.JSONDecodeError:
        raise BadControl("The line is no JSON.") from None
    if not isinstance(fields, dict):
        raise BadControl("The line is no JSON object.")
    return fields


def _checked(command: Command, args: dict[str, Any]) -> dict[str, Any]:
    match command:
        case Command.PAUSE:
            seconds = args.get("seconds")
            if seconds is None:
                return {"seconds": None}
            if isinstance(seconds, bool) or not isinstance(seconds, int | float):
                raise BadControl("The length of the pause is no number.")
            if not (math.isfinite(seconds) and 0 < seconds <= MAX_PAUSE_S):
                raise BadControl("A pause lasts more than nothing, and a year at most.")
            return {"seconds": float(seconds)}
        case Command.LOGS | Command.HOPS:
            return {"follow": args.get("follow") is True}
        case Command.SHOW:
            window = args.get("window", "")
            if not isinstance(window, str) or len(window) > 64:
                raise BadControl("The window's name is malformed.")
            return {"window": window}
    return {}


def _error(fields: Any) -> ControlError:
    if not isinstance(fields, dict) or not isinstance(fields.get("message"), str):
        return BadControl("The running meshdesk gave an error that cannot be read.")
    hint = fields.get("hint")
    kinds = {kind.code: kind for kind in (BadControl, NotPossible)}
    kind = kinds.get(str(fields.get("code")), ControlError)
    return kind(fields["message"], hint=hint if isinstance(hint, str) else None)
