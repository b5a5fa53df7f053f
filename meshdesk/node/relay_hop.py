"""The relay way: one WebSocket to ``wss://RELAY/rpc/PEER`` for the Route Session, one request at a time."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import secrets
from collections.abc import Mapping
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI

from meshdesk.node.events import Way
from meshdesk.node.hop import CONNECT_TIMEOUT_S, HopAnswer, HopRequest, HopUnavailable
from meshdesk.node.reachability import UnreachableAddresses
from meshdesk.protocol.envelopes import (
    MAX_FRAME_BYTES,
    Body,
    Cancel,
    Request,
    Response,
    emit_cancel,
    emit_request,
    parse_to_requester,
)
from meshdesk.protocol.errors import ProtocolError

log = logging.getLogger(__name__)

CLOSE_TIMEOUT_S = 2.0
RELAY_FAILURES = {404: "unknown_peer", 502: "peer_gone", 504: "peer_timeout"}
MAX_STRAY_FRAMES = 16
"""Answers to requests given up earlier that are read past before the relay is thought to be confused."""


class RelayHop:
    """Opens its socket at the first request and keeps it for the generation.

    A relay that swallows the dial is remembered in ``unreachable``, so that several seams of a route do
    not each wait for the same dead relay. One that refuses at once may be dialled again at once.
    """

    way = Way.RELAY

    def __init__(self, relay_addr: str, unreachable: UnreachableAddresses):
        self._addr = relay_addr
        self._relay = relay_addr.partition("/rpc/")[0]
        self._unreachable = unreachable
        self._socket: ClientConnection | None = None

    @property
    def connected(self) -> bool:
        """True while the Route Session's socket stands."""
        return self._socket is not None and self._socket.close_code is None

    async def connect(self) -> None:
        """Open the socket if it does not stand; HopUnavailable if that fails within the connect timeout."""
        if self.connected:
            return
        await self._drop()
        try:
            self._socket = await connect(
                self._addr,
                compression=None,
                max_size=MAX_FRAME_BYTES,
                open_timeout=CONNECT_TIMEOUT_S,
                close_timeout=CLOSE_TIMEOUT_S,
                proxy=None,
                user_agent_header=None,
            )
        except (OSError, TimeoutError, InvalidHandshake, InvalidURI, EOFError) as error:
            reason = _reason(error)
            if isinstance(error, TimeoutError):
                self._unreachable.failed(self._relay, reason)
            raise HopUnavailable(f"The relay {self._relay} cannot be reached: {reason}.", delivered=False) from error
        self._unreachable.answered(self._relay)

    async def request(self, request: HopRequest) -> HopAnswer:
        """See Hop.request. The relay's own failures raise; the node's answers, whatever they say, are returned."""
        if not self.connected:
            why = self._unreachable.why(self._relay)
            if why is not None:
                raise HopUnavailable(
                    f"The relay {self._relay} was not reachable a moment ago ({why}).", delivered=False
                )
            await self.connect()
        assert self._socket is not None
        request_id = secrets.token_hex(16)
        frame = emit_request(Request(request_id, request.method, request.path, request.headers, Body.of(request.body)))
        try:
            async with asyncio.timeout(request.deadline_s):
                await _send(self._socket, frame)
                response = await self._receive(self._socket, request_id)
        except asyncio.CancelledError:
            await self._cancel(request_id)
            raise
        except TimeoutError as error:
            await self._cancel(request_id)
            raise HopUnavailable(
                f"No answer came through the relay {self._relay} within {request.deadline_s:g} s."
            ) from error
        except ConnectionClosed as error:
            await self._drop()
            raise HopUnavailable(f"The relay {self._relay} closed the connection: {_close_reason(error)}.") from error
        except ConnectionError as error:
            await self._drop()
            raise HopUnavailable(f"The relay {self._relay} is gone: {_reason(error)}.") from error
        except ProtocolError as error:
            await self._drop()
            raise HopUnavailable(f"The relay {self._relay} sent what is no answer: {error.message}") from error
        failure = response.error if response.error is not None else _failure_in_body(response)
        if failure is not None:
            raise self._failure(response.status, failure)
        headers = {name.lower(): value for name, value in response.headers.items()}
        try:
            return HopAnswer(response.status, headers, response.body.octets())
        except ProtocolError as error:
            raise HopUnavailable(f"The relay {self._relay} sent what is no answer: {error.message}") from error

    async def close(self) -> None:
        """Close the Route Session's socket."""
        await self._drop()

    async def _receive(self, socket: ClientConnection, request_id: str) -> Response:
        for _ in range(MAX_STRAY_FRAMES):
            answer = parse_to_requester(await socket.recv(decode=False))
            if answer.stream is None and (answer.request_id == request_id or answer.request_id is None):
                return answer
        raise ProtocolError("it keeps answering requests that were not asked.")

    def _failure(self, status: int, error: Mapping[str, Any]) -> HopUnavailable:
        """The relay's own failure: it says itself whether the node may have seen the request."""
        message, delivered = error.get("message"), error.get("delivered")
        reason = message[:500] if isinstance(message, str) else f"it answered {status}."
        return HopUnavailable(
            f"The relay {self._relay} could not pass it on: {reason}",
            delivered=delivered if isinstance(delivered, bool) else None,
        )

    async def _cancel(self, request_id: str) -> None:
        """Tell the peer that nobody waits any more; a socket that takes longer than a moment is dropped."""
        if self._socket is None:
            return
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                await _send(self._socket, emit_cancel(Cancel(request_id)))
        except (TimeoutError, ConnectionError, ConnectionClosed):
            await self._drop()

    async def _drop(self) -> None:
        socket, self._socket = self._socket, None
        if socket is not None:
            with contextlib.suppress(TimeoutError, AttributeError):
                async with asyncio.timeout(2 * CLOSE_TIMEOUT_S):
                    await socket.close()


async def _send(socket: ClientConnection, frame: bytes) -> None:
    try:
        await socket.send(frame, text=True)
    except AttributeError as error:
        # asyncio's abort(), which send() calls on a dying socket, fails on a transport that was closed with
        # octets waiting.
        raise ConnectionAbortedError("it was cut") from error


def _reason(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "it timed out"
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return str(error) or type(error).__name__


def _close_reason(error: ConnectionClosed) -> str:
    received = error.rcvd
    if received is None:
        return "it was cut"
    return received.reason or f"code {received.code}"


def _failure_in_body(response: Response) -> Mapping[str, Any] | None:
    """A relay that knows only the ADR's fields names its failure in the body alone, by codes no node answers with."""
    if response.status not in RELAY_FAILURES:
        return None
    try:
        fields = json.loads(response.body.text or "")
    except ValueError:
        return None
    error = fields.get("error") if isinstance(fields, dict) else None
    return error if isinstance(error, dict) and error.get("code") == RELAY_FAILURES[response.status] else None
