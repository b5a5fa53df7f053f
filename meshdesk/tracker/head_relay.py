"""Reaching a head behind NAT: through its relay, with the answer streamed back frame by frame."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import ssl
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

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
from meshdesk.tracker.avoidance import Avoided
from meshdesk.tracker.config import TrackerConfig
from meshdesk.tracker.dialling import allowed_address
from meshdesk.tracker.head_answer import HeadAnswer, HeadFailed, HeadRequest, HeadUnreachable, media_type, plain

CANCEL_S = 0.5
CLOSE_S = 1.0
MAX_STRAY_FRAMES = 16
"""Frames of requests nobody made, in a row, after which the relay is thought to be confused."""


class HeadRelay:
    """The way through a relay to every head: one socket and one request a chat. Use between ``start`` and ``close``."""

    def __init__(self, config: TrackerConfig, *, clock: Callable[[], float] = time.monotonic):
        self._config = config
        self._unreachable = Avoided(config.avoid_relay_s, clock)
        self._tls: ssl.SSLContext | None = None
        self._goodbyes: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        # Reads the system's certificates, which takes too long for the loop.
        self._tls = await asyncio.to_thread(ssl.create_default_context)

    async def close(self) -> None:
        """Wait for the goodbyes under way; each is bounded."""
        if self._goodbyes:
            await asyncio.wait(set(self._goodbyes), timeout=CANCEL_S + 2 * CLOSE_S)

    @asynccontextmanager
    async def ask(self, relay_addr: str, request: HeadRequest) -> AsyncIterator[HeadAnswer]:
        """Send the chat; leaving the block before the answer's end cancels it at the peer.

        HeadUnreachable if relay or peer cannot be reached, HeadFailed if the peer does not answer.
        """
        socket = await self._connect(relay_addr)
        exchange = _Exchange(socket, request.silence_s)
        try:
            await exchange.send(request)
            yield exchange
        finally:
            # A client's hang-up cancels this task, so the goodbye is said by one of its own.
            task = asyncio.create_task(exchange.say_goodbye(), name="relay goodbye")
            self._goodbyes.add(task)
            task.add_done_callback(self._goodbyes.discard)

    async def _connect(self, relay_addr: str) -> ClientConnection:
        relay = relay_addr.rpartition("/rpc/")[0]
        why = self._unreachable.why(relay)
        if why is not None:
            raise HeadUnreachable(f"The head's relay was not reachable a moment ago ({why}).")
        parts = urlsplit(relay_addr)
        secure = parts.scheme == "wss"
        port = parts.port or (443 if secure else 80)
        try:
            async with asyncio.timeout(self._config.relay_connect_s):
                host = await allowed_address(parts.hostname or "", port, allow_loopback=self._config.allow_loopback)
                # The host is given, so a redirect cannot lead to another machine, and no proxy is asked.
                socket = await connect(
                    relay_addr,
                    host=host,
                    port=port,
                    ssl=self._tls if secure else None,
                    proxy=None,
                    compression=None,
                    max_size=MAX_FRAME_BYTES,
                    max_queue=4,
                    open_timeout=None,
                    close_timeout=CLOSE_S,
                )
        except (OSError, TimeoutError, InvalidHandshake, EOFError, ValueError) as error:
            reason = _reason(error)
            if isinstance(error, TimeoutError):
                self._unreachable.add(relay, reason)
            raise HeadUnreachable(f"The head's relay cannot be reached: {reason}.") from error
        self._unreachable.forgive(relay)
        return socket


class _Exchange:
    """One request on one socket, and its answer: whole, or streamed as start, chunk and end."""

    def __init__(self, socket: ClientConnection, silence_s: float):
        self._socket = socket
        self._silence_s = silence_s
        self._request_id = secrets.token_hex(16)
        self._ready = b""
        self._ended = False
        self.status = 0
        self.content_type = ""

    async def send(self, request: HeadRequest) -> None:
        """Ask, and wait for the head of the answer."""
        frame = emit_request(
            Request(self._request_id, "POST", request.path, request.headers, Body.of(request.body, text=True), True)
        )
        try:
            async with asyncio.timeout(request.first_s):
                await self._socket.send(frame, text=True)
                first = await self._receive()
        except TimeoutError as error:
            raise HeadFailed(f"The head gave no sign of life within {request.first_s:g} s.") from error
        if first.stream not in (None, "start"):
            raise HeadFailed("The head's answer does not start with its start.", delivered=True)
        self._ended = first.stream is None
        if first.error is not None:
            sentence = f"The head's relay could not pass the chat on: {_message(first)}"
            if first.error.get("delivered") is False:
                raise HeadUnreachable(sentence)
            raise HeadFailed(sentence)
        self.status = first.status
        self.content_type = media_type(first.headers)
        self._ready = self._octets(first)

    async def chunk(self) -> bytes:
        """See HeadAnswer."""
        while not self._ready and not self._ended:
            try:
                async with asyncio.timeout(self._silence_s):
                    frame = await self._receive()
            except TimeoutError as error:
                raise HeadFailed(f"The head fell silent for {self._silence_s:g} s.", delivered=True) from error
            if frame.stream not in ("chunk", "end"):
                raise HeadFailed("The head answered twice.", delivered=True)
            self._ended = frame.stream == "end"
            if frame.error is not None:
                raise HeadFailed(f"The head's answer broke off: {_message(frame)}", delivered=True)
            self._ready = self._octets(frame)
        ready, self._ready = self._ready, b""
        return ready

    async def say_goodbye(self) -> None:
        """Cancel what is not finished, and close the socket; takes at most a few seconds."""
        with contextlib.suppress(TimeoutError, ConnectionClosed):
            if not self._ended:
                async with asyncio.timeout(CANCEL_S):
                    await self._socket.send(emit_cancel(Cancel(self._request_id)), text=True)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(2 * CLOSE_S):
                await self._socket.close()

    async def _receive(self) -> Response:
        """The next frame of this request; HeadFailed if the socket closes or speaks of something else."""
        try:
            for _ in range(MAX_STRAY_FRAMES):
                frame = parse_to_requester(await self._socket.recv(decode=False))
                if frame.request_id in (self._request_id, None):
                    return frame
        except ConnectionClosed as error:
            reason = error.rcvd.reason if error.rcvd is not None else ""
            raise HeadFailed(f"The head's relay closed the connection: {plain(reason) or 'it was cut'}.") from error
        except ProtocolError as error:
            raise HeadFailed(f"The head's relay sent what is no answer: {error.message}") from error
        raise HeadFailed("The head's relay keeps answering what was not asked.")

    def _octets(self, frame: Response) -> bytes:
        try:
            return frame.body.octets()
        except ProtocolError as error:
            raise HeadFailed(f"The head's answer cannot be read: {error.message}", delivered=True) from error


def _message(frame: Response) -> str:
    message = (frame.error or {}).get("message")
    return plain(message) if isinstance(message, str) else "it did not say why."


def _reason(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "it timed out"
    if isinstance(error, OSError):
        return error.strerror or "the connection failed"
    return plain(str(error)) or type(error).__name__
