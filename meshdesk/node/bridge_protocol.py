"""The bridge's rules, with no sockets: what may be asked of the node, what is under way, what is answered."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from meshdesk.protocol.envelope_errors import BadFrame
from meshdesk.protocol.envelopes import (
    Body,
    Cancel,
    ErrorFrame,
    Register,
    Registered,
    Request,
    Response,
    emit_register,
    emit_response,
    parse_to_peer,
)

MAX_IN_FLIGHT = 32
FATAL_CODES = ("peer_id_taken",)
"""Errors that another try cannot mend."""

_ALLOWED = (
    ("POST", re.compile(r"/forward")),
    ("POST", re.compile(r"/v1/chat/completions")),
    ("POST", re.compile(r"/v1/completions")),
    ("GET", re.compile(r"/health")),
    ("DELETE", re.compile(r"/sessions/[A-Za-z0-9_-]{1,128}")),
)
_REQUEST_HEADERS = ("content-type", "accept")
_ANSWER_HEADERS = ("content-type", "cache-control", "retry-after")
_OUR_HEADERS = "x-meshnet-"


@dataclass(frozen=True, slots=True)
class Reply:
    """Send this frame to the relay."""

    frame: bytes


@dataclass(frozen=True, slots=True)
class Serve:
    """Make this request of the node's own HTTP server, and answer it."""

    request_id: str
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    accept_stream: bool


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Nobody waits for this request any more: end its work."""

    request_id: str


@dataclass(frozen=True, slots=True)
class Ready:
    """The relay took the registration."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The relay will close this socket; ``fatal`` if trying again is of no use."""

    code: str
    message: str
    fatal: bool


Action = Reply | Serve | GiveUp | Ready | Refused


class BridgeProtocol:
    """One connection of a bridge to its relay, from the registration to the loss of the socket."""

    def __init__(self, peer_id: str, secret: str, max_in_flight: int = MAX_IN_FLIGHT):
        self._peer_id = peer_id
        self._secret = secret
        self._max_in_flight = max_in_flight
        self._under_way: set[str] = set()
        self.ready = False

    @property
    def in_flight(self) -> int:
        return len(self._under_way)

    def hello(self) -> bytes:
        """The first frame to send."""
        return emit_register(Register(self._peer_id, self._secret))

    def receive(self, frame: bytes) -> list[Action]:
        """What one frame from the relay asks for. A frame that cannot be read is answered where it has an id."""
        try:
            read = parse_to_peer(frame)
            match read:
                case Registered():
                    self.ready = True
                    return [Ready()]
                case ErrorFrame():
                    return [Refused(read.code, read.message, read.code in FATAL_CODES)]
                case Cancel():
                    if read.request_id not in self._under_way:
                        return []
                    self._under_way.discard(read.request_id)
                    return [GiveUp(read.request_id)]
                case Request():
                    return [self._serve(read)]
        except BadFrame as error:
            if error.request_id is None:
                return []
            return [Reply(refusal(error.request_id, error.status, error.code, error.message))]

    def answer(self, request_id: str, response: Response) -> bytes | None:
        """The frame for an answer, or for one frame of a streamed answer; None if nobody waits for it any more."""
        if request_id not in self._under_way:
            return None
        if response.stream in (None, "end"):
            self._under_way.discard(request_id)
        return emit_response(response, to_relay=True)

    def _serve(self, request: Request) -> Action:
        if not is_allowed(request.method, request.path):
            message = f"This node does not take {request.method} {request.path[:200]} by relay."
            return Reply(refusal(request.request_id, 403, "not_allowed", message))
        if request.request_id in self._under_way:
            return Reply(refusal(request.request_id, 400, "bad_request_id", "This request_id is still under way."))
        if len(self._under_way) >= self._max_in_flight:
            message = "This node already has as many requests under way as it takes."
            return Reply(refusal(request.request_id, 429, "too_many", message))
        body = request.body.octets(request.request_id)
        self._under_way.add(request.request_id)
        headers = {
            name: value
            for name, value in request.headers.items()
            if name.lower() in _REQUEST_HEADERS or name.lower().startswith(_OUR_HEADERS)
        }
        return Serve(request.request_id, request.method, request.path, headers, body, request.accept_stream)


def is_allowed(method: str, path: str) -> bool:
    """True for the few paths of the node that strangers may call by relay; metrics and the rest stay at home."""
    return any(method == allowed and pattern.fullmatch(path) for allowed, pattern in _ALLOWED)


def answer_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of the node's answer that travel on, names in lower case."""
    return {
        name.lower(): value
        for name, value in headers.items()
        if name.lower() in _ANSWER_HEADERS or name.lower().startswith(_OUR_HEADERS)
    }


def is_text(content_type: str) -> bool:
    """Whether a body of this type travels as text; tensors and the unknown travel as base64."""
    kind = content_type.partition(";")[0].strip().lower()
    return kind.startswith("text/") or kind == "application/json"


def refusal(request_id: str, status: int, code: str, message: str) -> bytes:
    """An answer of the bridge's own, in the form of the node's refusals."""
    body = Body(text=json.dumps({"error": {"code": code, "message": message}}))
    return emit_response(Response(request_id, status, {"content-type": "application/json"}, body), to_relay=True)
