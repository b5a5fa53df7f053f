"""The JSON frames between requester, relay and peer, read strictly and written. Source: ADR-0014.

Unknown fields are ignored, so that newer peers can add some. A body travels as ``body`` (text) or
``body_base64`` (octets). The relay only passes bodies on, so frames keep the body as it came
(``Body``) and it is decoded where it is used.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
import pybase64

from meshdesk.protocol.envelope_errors import (
    BadBase64,
    BadRequestId,
    FrameTooLarge,
    MissingField,
    MistypedField,
    NotJson,
    NotUtf8,
    TwoBodies,
    UnknownType,
)

MAX_BODY_BYTES = 16 * 1024 * 1024
MAX_FRAME_BYTES = 24 * 1024 * 1024
"""A body of the largest size in base64, with its headers, and room to be refused politely when it is larger."""
MAX_HEADERS = 32
MAX_HEADER_BYTES = 64 * 1024
MAX_PATH_CHARS = 2048

_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
_PEER_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SECRET = re.compile(r"[\x21-\x7e]{16,256}")
_METHOD = re.compile(r"[A-Z]{1,16}")
_STREAM_MARKS = ("start", "chunk", "end")
_MAX_BASE64_CHARS = (MAX_BODY_BYTES + 2) // 3 * 4


@dataclass(frozen=True, slots=True)
class Body:
    """A body as it travels: ``text``, or octets as ``base64``, or neither."""

    text: str | None = None
    base64: str | None = None

    @classmethod
    def of(cls, octets: bytes, *, text: bool = False) -> Body:
        """Pack octets; as text where asked for and where they are UTF-8."""
        if not octets:
            return cls()
        if text:
            try:
                return cls(text=octets.decode("utf-8"))
            except UnicodeDecodeError:
                pass
        return cls(base64=pybase64.b64encode_as_string(octets))

    def octets(self, request_id: str | None = None) -> bytes:
        """The body's octets; BadBase64 if they are not strict base64."""
        if self.base64 is not None:
            try:
                return pybase64.b64decode(self.base64, validate=True)
            except (binascii.Error, ValueError):
                raise BadBase64("body_base64 is not base64.", request_id=request_id) from None
        return (self.text or "").encode("utf-8")

    def fields(self) -> dict[str, str]:
        if self.base64 is not None:
            return {"body_base64": self.base64}
        return {} if self.text is None else {"body": self.text}


@dataclass(frozen=True, slots=True)
class Register:
    """Peer to relay, the first frame: who it is, and the secret that proves a later socket is the same peer's.

    A peer that knows no secret may register without one; then nobody can take over from its socket.
    """

    peer_id: str
    secret: str | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class Registered:
    """Relay to peer: registered; ``limits`` names the relay's numbers."""

    peer_id: str
    limits: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ErrorFrame:
    """Relay to peer: what is wrong with its socket, before the relay closes it."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request, from the requester to the relay and on to the peer."""

    request_id: str
    method: str
    path: str
    headers: Mapping[str, str]
    body: Body
    accept_stream: bool = False


@dataclass(frozen=True, slots=True)
class Response:
    """One answer, or one frame of a streamed answer (``stream`` start, chunk or end).

    ``error`` is set on the relay's own failures, and on an ``end`` whose answer broke off.
    """

    request_id: str | None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Body = field(default_factory=Body)
    stream: str | None = None
    error: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Cancel:
    """The requester does not wait for this request any more."""

    request_id: str


def parse_register(frame: str | bytes) -> Register:
    """A peer's first frame."""
    fields = _object(frame, 4096)
    if fields.get("type") != "register":
        raise UnknownType("The first frame must be of type register.")
    peer_id = _string(fields, "peer_id", None)
    secret = None if fields.get("secret") is None else _string(fields, "secret", None)
    if not _PEER_ID.fullmatch(peer_id):
        raise MistypedField("peer_id must be 1 to 64 letters, digits, '-' or '_'.")
    if secret is not None and not _SECRET.fullmatch(secret):
        raise MistypedField("secret must be 16 to 256 printable ASCII characters without spaces.")
    return Register(peer_id, secret)


def parse_from_peer(frame: str | bytes) -> Response:
    """What a registered peer sends to the relay: ``relay-http-response`` frames only."""
    fields = _object(frame)
    if fields.get("type") != "relay-http-response":
        raise UnknownType("A peer sends relay-http-response frames.", request_id=_id_if_any(fields))
    return _response(fields, _request_id(fields))


def parse_from_requester(frame: str | bytes) -> Request | Cancel:
    """What a requester sends to the relay. A frame without ``type`` is a request, as in the ADR."""
    fields = _object(frame)
    kind = fields.get("type", "relay-http-request")
    if kind == "relay-http-cancel":
        return Cancel(_request_id(fields))
    if kind != "relay-http-request":
        raise UnknownType("A requester sends requests and relay-http-cancel.", request_id=_id_if_any(fields))
    return _request(fields)


def parse_to_peer(frame: str | bytes) -> Registered | ErrorFrame | Request | Cancel:
    """What the relay sends to a peer."""
    fields = _object(frame)
    match fields.get("type"):
        case "relay-http-request":
            return _request(fields)
        case "relay-http-cancel":
            return Cancel(_request_id(fields))
        case "registered":
            limits = fields.get("limits", {})
            return Registered(_string(fields, "peer_id", None), limits if isinstance(limits, dict) else {})
        case "error":
            error = _error(fields, None) or {}
            return ErrorFrame(str(error.get("code", "error")), str(error.get("message", "The relay gave no reason.")))
        case _:
            raise UnknownType("The relay sent a frame of unknown type.", request_id=_id_if_any(fields))


def parse_to_requester(frame: str | bytes) -> Response:
    """What the relay sends to a requester; the id is null where the relay could not read the request's."""
    fields = _object(frame)
    return _response(fields, _request_id(fields) if fields.get("request_id") is not None else None)


def emit_register(register: Register) -> bytes:
    secret = {} if register.secret is None else {"secret": register.secret}
    return orjson.dumps({"type": "register", "peer_id": register.peer_id, **secret})


def emit_registered(registered: Registered) -> bytes:
    return orjson.dumps({"type": "registered", "peer_id": registered.peer_id, "limits": dict(registered.limits)})


def emit_error(error: ErrorFrame) -> bytes:
    return orjson.dumps({"type": "error", "error": {"code": error.code, "message": error.message}})


def emit_request(request: Request, *, to_peer: bool = False) -> bytes:
    """A request for the relay, or, ``to_peer``, the relay's envelope for the peer."""
    fields: dict[str, Any] = {"type": "relay-http-request"} if to_peer else {}
    fields["request_id"] = request.request_id
    fields["method"] = request.method
    fields["path"] = request.path
    fields["headers"] = request.headers
    fields.update(request.body.fields())
    if request.accept_stream:
        fields["accept_stream"] = True
    return orjson.dumps(fields)


def emit_response(response: Response, *, to_relay: bool = False) -> bytes:
    """An answer for the requester, or, ``to_relay``, the peer's envelope for the relay."""
    fields: dict[str, Any] = {"type": "relay-http-response"} if to_relay else {}
    fields["request_id"] = response.request_id
    if response.stream is not None:
        fields["stream"] = response.stream
    if response.stream in (None, "start"):
        fields["status"] = response.status
        fields["headers"] = response.headers
    fields.update(response.body.fields())
    if response.error is not None:
        fields["error"] = response.error
    return orjson.dumps(fields)


def emit_cancel(cancel: Cancel) -> bytes:
    return orjson.dumps({"type": "relay-http-cancel", "request_id": cancel.request_id})


def _object(frame: str | bytes, limit: int = MAX_FRAME_BYTES) -> dict[str, Any]:
    if len(frame) > limit:
        raise FrameTooLarge(f"The frame has {len(frame)} octets; {limit} is the most.")
    try:
        fields = orjson.loads(frame)
    except orjson.JSONDecodeError:
        if isinstance(frame, bytes):
            try:
                frame.decode("utf-8")
            except UnicodeDecodeError:
                raise NotUtf8("The frame is not UTF-8.") from None
        raise NotJson("The frame is not JSON.") from None
    if not isinstance(fields, dict):
        raise NotJson("The frame is not a JSON object.")
    return fields


def _request(fields: dict[str, Any]) -> Request:
    request_id = _request_id(fields)
    method, path = _string(fields, "method", request_id), _string(fields, "path", request_id)
    if not _METHOD.fullmatch(method):
        raise MistypedField("method must be an HTTP method in capitals.", request_id=request_id)
    if not path.startswith("/") or len(path) > MAX_PATH_CHARS or not path.isprintable():
        raise MistypedField("path must be an absolute path.", request_id=request_id)
    accept_stream = fields.get("accept_stream", False)
    if not isinstance(accept_stream, bool):
        raise MistypedField("accept_stream must be true or false.", request_id=request_id)
    return Request(request_id, method, path, _headers(fields, request_id), _body(fields, request_id), accept_stream)


def _response(fields: dict[str, Any], request_id: str | None) -> Response:
    stream = fields.get("stream")
    if stream is not None and stream not in _STREAM_MARKS:
        raise MistypedField("stream must be start, chunk or end.", request_id=request_id)
    if stream in ("chunk", "end"):
        return Response(request_id, body=_body(fields, request_id), stream=stream, error=_error(fields, request_id))
    status = fields.get("status")
    if status is None:
        raise MissingField("The answer has no status.", request_id=request_id)
    if isinstance(status, bool) or not isinstance(status, int) or not 100 <= status <= 599:
        raise MistypedField("status must be an HTTP status.", request_id=request_id)
    return Response(
        request_id,
        status,
        _headers(fields, request_id),
        _body(fields, request_id),
        stream,
        _error(fields, request_id),
    )


def _request_id(fields: dict[str, Any]) -> str:
    value = fields.get("request_id")
    if value is None:
        raise MissingField("The frame has no request_id.")
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise BadRequestId("request_id must be 1 to 128 letters, digits, '-' or '_'.")
    return value


def _id_if_any(fields: dict[str, Any]) -> str | None:
    value = fields.get("request_id")
    return value if isinstance(value, str) and _ID.fullmatch(value) else None


def _string(fields: dict[str, Any], name: str, request_id: str | None) -> str:
    value = fields.get(name)
    if value is None:
        raise MissingField(f"The frame has no {name}.", request_id=request_id)
    if not isinstance(value, str):
        raise MistypedField(f"{name} must be a string.", request_id=request_id)
    return value


def _headers(fields: dict[str, Any], request_id: str | None) -> dict[str, str]:
    headers = fields.get("headers")
    if headers is None:
        return {}
    if not isinstance(headers, dict):
        raise MistypedField("headers must be an object.", request_id=request_id)
    if len(headers) > MAX_HEADERS:
        raise FrameTooLarge(f"There are {len(headers)} headers; {MAX_HEADERS} is the most.", request_id=request_id)
    size = 0
    for name, value in headers.items():
        if not isinstance(value, str):
            raise MistypedField("Every header must be a string.", request_id=request_id)
        size += len(name) + len(value)
    if size > MAX_HEADER_BYTES:
        raise FrameTooLarge(
            f"The headers have {size} characters; {MAX_HEADER_BYTES} is the most.", request_id=request_id
        )
    return headers


def _body(fields: dict[str, Any], request_id: str | None) -> Body:
    text, base64 = fields.get("body"), fields.get("body_base64")
    if text is None and base64 is None:
        return Body()
    if text is not None and base64 is not None:
        raise TwoBodies("The frame has both body and body_base64.", request_id=request_id)
    name, value, limit = (
        ("body", text, MAX_BODY_BYTES) if base64 is None else ("body_base64", base64, _MAX_BASE64_CHARS)
    )
    if not isinstance(value, str):
        raise MistypedField(f"{name} must be a string.", request_id=request_id)
    if len(value) > limit:
        raise FrameTooLarge(f"The body is larger than {MAX_BODY_BYTES} octets.", request_id=request_id)
    return Body(text=text, base64=base64)


def _error(fields: dict[str, Any], request_id: str | None) -> dict[str, Any] | None:
    error = fields.get("error")
    if error is None:
        return None
    if not isinstance(error, dict):
        raise MistypedField("error must be an object.", request_id=request_id)
    return error
