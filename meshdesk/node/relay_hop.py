"""The relay way: one WebSocket to ``wss://RELAY/rpc/PEER`` for the Route Session, one request at a time."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI

from meshdesk.node.events import Way
from meshdesk.node.hop import CONNECT_TIMEOUT_S, HopAnswer, HopRequest, HopUnavailable
from meshdesk.node.reachability import UnreachableAddresses
from meshdesk.protocol.envelopes import (
    MAX_FRAME_BYTES,
    RelayFailure,
    Response,
    emit_cancel,
    emit_request,
    parse_requester_frame,
)
from meshdesk.protocol.errors import ProtocolError

log = logging.getLogger(__name__)

CLOSE_TIMEOUT_S = 2.0
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
            )
        except (OSError, TimeoutError, InvalidHandshake, InvalidURI, EOFError) as error:
            reason = _reason(error)
            if isinstance(error, TimeoutError):
                self._unreachable.failed(self._relay, reason)
            raise HopUnavailable(
                f"The relay {self._relay} cannot be reached: {reason}.", delivered=False
            ) from error
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
        frame = emit_request(
            request_id=request_id,
            method=request.method,
            path=request.path,
            headers=request.headers,
            body=request.body,
        )
        try:
            async with asyncio.timeout(request.deadline_s):
                await self._socket.send(frame, text=True)
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
        except ProtocolError as error:
            await self._drop()
            raise HopUnavailable(f"The relay {self._relay} sent what is no answer: {error.message}") from error
        if isinstance(response, RelayFailure):
            raise HopUnavailable(
                f"The relay {self._relay} could not pass it on: {response.message}", delivered=response.delivered
            )
        headers = {name.lower(): value for name, value in response.headers.items()}
        return HopAnswer(response.status, headers, response.body)

    async def close(self) -> None:
        """Close the Route Session's socket."""
        await self._drop()

    async def _receive(self, socket: ClientConnection, request_id: str) -> Response | RelayFailure:
        for _ in range(MAX_STRAY_FRAMES):
            answer = parse_requester_frame(await socket.recv(decode=False))
            if answer.request_id == request_id or answer.request_id is None:
                return answer
        raise ProtocolError("it keeps answering requests that were not asked.")

    async def _cancel(self, request_id: str) -> None:
        """Tell the peer that nobody waits any more; a socket that takes longer than a moment is dropped."""
        if self._socket is None:
            return
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                await self._socket.send(emit_cancel(request_id), text=True)
        except (TimeoutError, ConnectionClosed):
            await self._drop()

    async def _drop(self) -> None:
        socket, self._socket = self._socket, None
        if socket is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(2 * CLOSE_TIMEOUT_S):
                    await socket.close()


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
