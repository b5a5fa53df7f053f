"""The relay's rules, with no sockets: who is registered, which answer belongs to which request.

Feed it what arrives (``peer_frame``, ``requester_frame`` …) and do what it returns: a list of frames to
send and sockets to close. ``now`` is any monotonic time in seconds. Sockets are known by the link objects
that the shell made; the hub keeps nothing else about them.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections import OrderedDict
from dataclasses import dataclass, field, replace

from meshdesk.protocol.envelope_errors import BadFrame, FrameTooLarge
from meshdesk.protocol.envelopes import (
    Body,
    Cancel,
    ErrorFrame,
    Registered,
    Request,
    Response,
    emit_cancel,
    emit_error,
    emit_registered,
    emit_request,
    emit_response,
    parse_from_peer,
    parse_from_requester,
    parse_register,
)
from meshdesk.relay.limits import RelayLimits

CLOSE_PROTOCOL = 4400
CLOSE_PEER_ID_TAKEN = 4403
CLOSE_LOGIN_LATE = 4408
CLOSE_REPLACED = 4409
CLOSE_BUSY = 1013
CLOSE_LEAVING = 1012


@dataclass(eq=False, slots=True)
class PeerLink:
    """One ``/ws`` socket. ``peer_id`` is None until it has registered."""

    opened_at: float = 0.0
    peer_id: str | None = None
    closed: bool = False
    bad_frames: int = 0
    waiting: dict[str, Pending] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class RequesterLink:
    """One ``/rpc/{peer_id}`` socket."""

    peer_id: str
    active_at: float = 0.0
    closed: bool = False
    bad_frames: int = 0
    waiting: dict[str, Pending] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Pending:
    """One request on its way: the requester's id for it, the relay's own, and when its answer is late."""

    requester: RequesterLink
    peer: PeerLink
    requester_id: str
    relay_id: str
    accept_stream: bool
    late_at: float
    streaming: bool = False


@dataclass(frozen=True, slots=True)
class Send:
    """Send ``frame`` as a text frame."""

    link: PeerLink | RequesterLink
    frame: bytes


@dataclass(frozen=True, slots=True)
class Close:
    link: PeerLink | RequesterLink
    code: int
    reason: str


Action = Send | Close


@dataclass(slots=True)
class HubCounts:
    """What happened since the start; the shell turns it into metrics."""

    registrations: int = 0
    replaced: int = 0
    refused_registrations: int = 0
    requests: int = 0
    responses: int = 0
    stream_frames: int = 0
    cancelled: int = 0
    stray_responses: int = 0
    failures: dict[str, int] = field(default_factory=dict)


class Hub:
    """The state machine. Not thread-safe; one event at a time."""

    def __init__(self, limits: RelayLimits | None = None):
        self.limits = limits or RelayLimits()
        self.counts = HubCounts()
        self._peers: dict[str, PeerLink] = {}
        self._logins: set[PeerLink] = set()
        self._requesters: set[RequesterLink] = set()
        self._secrets: OrderedDict[str, bytes] = OrderedDict()
        """Hashes of the secrets, the longest unused first."""
        self._pending: dict[str, Pending] = {}
        """By the relay's own id, the one that is late first."""

    @property
    def peers(self) -> int:
        return len(self._peers)

    @property
    def requesters(self) -> int:
        return len(self._requesters)

    @property
    def in_flight(self) -> int:
        return len(self._pending)

    # Peers

    def peer_opened(self, now: float) -> PeerLink:
        link = PeerLink(opened_at=now)
        self._logins.add(link)
        return link

    def peer_frame(self, link: PeerLink, frame: str | bytes, now: float) -> list[Action]:
        if link.closed:
            return []
        if link.peer_id is None:
            return self._register(link, frame)
        try:
            response = parse_from_peer(frame)
        except BadFrame as error:
            return self._bad_peer_frame(link, error)
        pending = link.waiting.get(response.request_id or "")
        if pending is None:
            # Given up, answered twice, or never asked.
            self.counts.stray_responses += 1
            return []
        return self._answer(pending, response, now)

    def peer_gone(self, link: PeerLink) -> list[Action]:
        """The socket is gone: whoever waits for it learns so at once."""
        link.closed = True
        self._logins.discard(link)
        if link.peer_id is not None and self._peers.get(link.peer_id) is link:
            del self._peers[link.peer_id]
        return self._fail_all(link, "the peer's connection to the relay was lost")

    # Requesters

    def requester_opened(self, peer_id: str, now: float) -> RequesterLink:
        """A peer that is not here now may come; so each request is answered, not the connection refused."""
        link = RequesterLink(peer_id, active_at=now)
        self._requesters.add(link)
        return link

    def requester_frame(self, link: RequesterLink, frame: str | bytes, now: float) -> list[Action]:
        if link.closed:
            return []
        link.active_at = now
        try:
            asked = parse_from_requester(frame)
        except FrameTooLarge as error:
            return [self._failure(link, error.request_id, 413, error.code, error.message, delivered=False)]
        except BadFrame as error:
            return self._bad_requester_frame(link, error)
        if isinstance(asked, Cancel):
            return self._cancel(link, asked.request_id)
        return self._pass_on(link, asked, now)

    def requester_gone(self, link: RequesterLink) -> list[Action]:
        """Nobody waits any more: the peer may stop its work."""
        link.closed = True
        self._requesters.discard(link)
        actions: list[Action] = []
        for pending in list(link.waiting.values()):
            self._forget(pending)
            self.counts.cancelled += 1
            actions.append(Send(pending.peer, emit_cancel(Cancel(pending.relay_id))))
        return actions

    # Time

    def on_time(self, now: float) -> list[Action]:
        """Give up what is late. Call it every second or so."""
        actions: list[Action] = []
        for link in [link for link in self._logins if link.opened_at + self.limits.login_s <= now]:
            actions += self._close_peer(link, CLOSE_LOGIN_LATE, "login_late", "No registration came in time.")
        for pending in [pending for pending in self._pending.values() if pending.late_at <= now]:
            self._forget(pending)
            actions.append(Send(pending.peer, emit_cancel(Cancel(pending.relay_id))))
            actions.append(self._late(pending))
        for requester in [each for each in self._requesters if not each.waiting]:
            if requester.active_at + self.limits.idle_requester_s <= now:
                actions.append(self._close_requester(requester, 1000, "idle"))
        return actions

    # Registration

    def _register(self, link: PeerLink, frame: str | bytes) -> list[Action]:
        try:
            register = parse_register(frame)
        except BadFrame as error:
            self.counts.refused_registrations += 1
            return self._close_peer(link, CLOSE_PROTOCOL, error.code, error.message)
        older = self._peers.get(register.peer_id)
        digest = None if register.secret is None else hashlib.sha256(register.secret.encode("utf-8")).digest()
        if not self._may_have(register.peer_id, digest):
            self.counts.refused_registrations += 1
            return self._close_peer(link, CLOSE_PEER_ID_TAKEN, "peer_id_taken", "This peer id belongs to another peer.")
        if older is None and len(self._peers) >= self.limits.peers:
            self.counts.refused_registrations += 1
            return self._close_peer(link, CLOSE_BUSY, "relay_full", "This relay has as many peers as it takes.")
        actions: list[Action] = []
        if older is not None:
            self.counts.replaced += 1
            actions += self._close_peer(
                older, CLOSE_REPLACED, "replaced", "The same peer registered again from another connection."
            )
        self._logins.discard(link)
        self._peers[register.peer_id] = link
        if digest is not None:
            self._remember(register.peer_id, digest)
        link.peer_id = register.peer_id
        self.counts.registrations += 1
        actions.append(Send(link, emit_registered(Registered(register.peer_id, self.limits.shown()))))
        return actions

    def _may_have(self, peer_id: str, digest: bytes | None) -> bool:
        """Whether whoever has this secret may be ``peer_id``: it is nobody's, or the secret is its own."""
        known = self._secrets.get(peer_id)
        if known is None:
            return peer_id not in self._peers
        return digest is not None and hmac.compare_digest(known, digest)

    def _remember(self, peer_id: str, digest: bytes) -> None:
        self._secrets[peer_id] = digest
        self._secrets.move_to_end(peer_id)
        if len(self._secrets) > self.limits.secrets:
            # The longest unused of those that are not here now, so that no live peer can be impersonated.
            oldest = next((each for each in self._secrets if each not in self._peers), peer_id)
            if oldest != peer_id:
                del self._secrets[oldest]

    # Requests and answers

    def _pass_on(self, link: RequesterLink, request: Request, now: float) -> list[Action]:
        peer = self._peers.get(link.peer_id)
        if peer is None:
            return [self._refuse(link, request, 404, "unknown_peer", f"No peer {link.peer_id} is at this relay.")]
        if request.request_id in link.waiting:
            return [self._refuse(link, request, 400, "bad_request_id", "This request_id is still under way.")]
        if len(link.waiting) >= self.limits.in_flight_per_requester:
            return [self._refuse(link, request, 429, "too_many", "Too many requests are under way on this socket.")]
        if len(peer.waiting) >= self.limits.in_flight_per_peer:
            return [self._refuse(link, request, 429, "too_many", "Too many requests are under way at this peer.")]
        pending = Pending(
            link,
            peer,
            request.request_id,
            secrets.token_hex(16),
            request.accept_stream,
            now + self.limits.first_answer_s,
        )
        self._pending[pending.relay_id] = pending
        link.waiting[pending.requester_id] = pending
        peer.waiting[pending.relay_id] = pending
        self.counts.requests += 1
        return [Send(peer, emit_request(replace(request, request_id=pending.relay_id), to_peer=True))]

    def _answer(self, pending: Pending, response: Response, now: float) -> list[Action]:
        wrong = self._wrong_order(pending, response)
        if wrong is not None:
            self._forget(pending)
            cancel = Send(pending.peer, emit_cancel(Cancel(pending.relay_id)))
            return [cancel, self._fail(pending, 502, "bad_answer", wrong)]
        if response.stream is None:
            self.counts.responses += 1
        else:
            self.counts.stream_frames += 1
            pending.streaming = True
        ends = response.stream in (None, "end")
        if ends:
            self._forget(pending)
        else:
            pending.late_at = now + self.limits.first_answer_s
        pending.requester.active_at = now
        return [Send(pending.requester, emit_response(replace(response, request_id=pending.requester_id)))]

    @staticmethod
    def _wrong_order(pending: Pending, response: Response) -> str | None:
        """What is wrong with this frame at this point of the answer, or None."""
        if response.stream is None:
            return "The peer answered whole in the middle of a stream." if pending.streaming else None
        if not pending.accept_stream:
            return "The peer streamed an answer that was to come whole."
        if (response.stream == "start") == pending.streaming:
            return "The peer streamed an answer out of order."
        return None

    def _cancel(self, link: RequesterLink, request_id: str) -> list[Action]:
        pending = link.waiting.get(request_id)
        if pending is None:
            return []
        self._forget(pending)
        self.counts.cancelled += 1
        return [Send(pending.peer, emit_cancel(Cancel(pending.relay_id)))]

    def _forget(self, pending: Pending) -> None:
        del self._pending[pending.relay_id]
        del pending.requester.waiting[pending.requester_id]
        del pending.peer.waiting[pending.relay_id]

    # Failures

    def _refuse(self, link: RequesterLink, request: Request, status: int, code: str, message: str) -> Send:
        return self._failure(link, request.request_id, status, code, message, delivered=False)

    def _late(self, pending: Pending) -> Send:
        return self._fail(
            pending, 504, "peer_timeout", f"The peer did not answer within {self.limits.first_answer_s:g} s."
        )

    def _fail_all(self, link: PeerLink, why: str) -> list[Action]:
        actions: list[Action] = []
        for pending in list(link.waiting.values()):
            self._forget(pending)
            actions.append(self._fail(pending, 502, "peer_gone", f"The answer did not come: {why}."))
        return actions

    def _fail(self, pending: Pending, status: int, code: str, message: str) -> Send:
        """End a request that the peer was sent. After a stream's start only its end can carry the error."""
        if pending.streaming:
            return self._broken_off(pending, code, message)
        return self._failure(pending.requester, pending.requester_id, status, code, message, delivered=True)

    def _failure(
        self, link: RequesterLink, request_id: str | None, status: int, code: str, message: str, *, delivered: bool
    ) -> Send:
        """The relay's own failure, as an answer. ``delivered`` True means the peer was sent the request."""
        self.counts.failures[code] = self.counts.failures.get(code, 0) + 1
        error = {"code": code, "message": message, "delivered": delivered}
        body = Body(text=json.dumps({"error": error}, ensure_ascii=False))
        headers = {"content-type": "application/json"}
        return Send(link, emit_response(Response(request_id, status, headers, body, error=error)))

    def _broken_off(self, pending: Pending, code: str, message: str) -> Send:
        """A streamed answer whose status has gone out can only end with an error."""
        self.counts.failures[code] = self.counts.failures.get(code, 0) + 1
        error = {"code": code, "message": message, "delivered": True}
        return Send(pending.requester, emit_response(Response(pending.requester_id, stream="end", error=error)))

    def _bad_peer_frame(self, link: PeerLink, error: BadFrame) -> list[Action]:
        link.bad_frames += 1
        actions: list[Action] = []
        pending = link.waiting.get(error.request_id or "")
        if pending is not None:
            self._forget(pending)
            actions.append(self._fail(pending, 502, "bad_answer", f"The peer's answer cannot be read: {error.message}"))
        if link.bad_frames >= self.limits.bad_frames:
            actions += self._close_peer(link, CLOSE_PROTOCOL, error.code, error.message)
        return actions

    def _bad_requester_frame(self, link: RequesterLink, error: BadFrame) -> list[Action]:
        link.bad_frames += 1
        actions: list[Action] = [
            self._failure(link, error.request_id, error.status, error.code, error.message, delivered=False)
        ]
        if link.bad_frames >= self.limits.bad_frames:
            actions.append(self._close_requester(link, CLOSE_PROTOCOL, error.code))
            actions += self.requester_gone(link)
        return actions

    def _close_peer(self, link: PeerLink, code: int, error_code: str, message: str) -> list[Action]:
        """Tell the peer why, close its socket, and fail what waits for it."""
        actions: list[Action] = [Send(link, emit_error(ErrorFrame(error_code, message))), Close(link, code, error_code)]
        return actions + self.peer_gone(link)

    def _close_requester(self, link: RequesterLink, code: int, reason: str) -> Close:
        link.closed = True
        self._requesters.discard(link)
        return Close(link, code, reason)
