"""RelayHttpBridge: the node's outbound WebSocket to its relay, which brings requests to the node's own server."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import Callable
from functools import partial
from urllib.parse import urlsplit

import aiohttp
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI

from meshdesk.node.bridge_call import Forward, LocalCall, answer_forward
from meshdesk.node.bridge_protocol import BridgeProtocol, GiveUp, Ready, Refused, Reply, Serve
from meshdesk.node.events import Event, RelayConnected, RelayLost, RelayMeasured, RelayRequestServed
from meshdesk.protocol.envelopes import MAX_FRAME_BYTES, Response
from meshdesk.protocol.errors import UsageError

log = logging.getLogger(__name__)

OPEN_TIMEOUT_S = 10.0
CLOSE_TIMEOUT_S = 2.0
PING_S = 20.0
MEASURE_S = 15.0
REGISTER_TIMEOUT_S = 10.0
FIRST_BACKOFF_S = 1.0
MAX_BACKOFF_S = 60.0
SETTLED_S = 30.0
"""A connection that stood this long ends the back-off: the next loss starts from the shortest delay again."""
CLOSE_REPLACED = 4409


class _Lost(Exception):
    """The connection is over; ``fatal`` if there shall be no other."""

    def __init__(self, reason: str, *, fatal: bool = False, replaced: bool = False):
        super().__init__(reason)
        self.reason = reason
        self.fatal = fatal
        self.replaced = replaced


class RelayHttpBridge:
    """Keeps one peer registered at ``relay_url`` and answers what comes in from ``local_url``.

    ``forward``, where given, answers ``POST /forward`` instead of the server at ``local_url``.

    Reconnects for ever, with full jitter between tries, unless the relay says that the peer id is another's.
    """

    def __init__(
        self,
        *,
        relay_url: str,
        peer_id: str,
        secret: str,
        local_url: str,
        on_event: Callable[[Event], None],
        forward: Forward | None = None,
    ):
        self._relay = base_url(relay_url)
        self._peer_id = peer_id
        self._secret = secret
        self._local_url = local_url
        self._publish = on_event
        self._forward = forward
        self._registered = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._client: aiohttp.ClientSession | None = None
        self._calls: dict[str, asyncio.Task[None]] = {}
        self._registered_at: float | None = None
        self._connection: ClientConnection | None = None
        self._hurry = asyncio.Event()
        self.fatal: str | None = None
        """Why the bridge has given up for good; None while it works or keeps trying."""

    @property
    def relay_addr(self) -> str:
        """Where requesters reach this peer; it stays the same over reconnects."""
        return f"{self._relay}/rpc/{self._peer_id}"

    @property
    def connected(self) -> bool:
        return self._registered.is_set()

    async def start(self) -> None:
        # Neither redirects, proxies nor cookies: the only server it ever calls is the node's own.
        self._client = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=60),
            auto_decompress=False,
            trust_env=False,
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        self._task = asyncio.create_task(self._keep_connected(), name="relay bridge")

    async def wait_registered(self, timeout_s: float) -> bool:
        """True as soon as the relay has taken the peer, False if it has not in time."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._registered.wait()
        except TimeoutError:
            return False
        return True

    async def stop(self) -> None:
        """Leave the relay with a closing handshake and end everything under way."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        if self._client is not None:
            await self._client.close()

    async def _keep_connected(self) -> None:
        failures = 0
        while True:
            self._registered_at = None
            try:
                await self._stay_connected()
            except _Lost as lost:
                end = lost
            except Exception:
                # Whatever is wrong with one connection, a volunteer's node must not drop off the mesh for good.
                log.exception("the relay bridge has a fault")
                end = _Lost("the bridge has a fault; the log says more")
            if self._registered_at is not None and time.monotonic() - self._registered_at >= SETTLED_S:
                failures = 0
            if end.fatal:
                self.fatal = end.reason
                log.error("the relay %s will not have this node: %s", self._relay, end.reason)
                self._publish(RelayLost(relay=self._relay, reason=end.reason))
                return
            ceiling = min(MAX_BACKOFF_S, FIRST_BACKOFF_S * 2.0**failures)
            failures = min(failures + 1, 16)
            # Two programs with one identity would throw each other out for ever at a quicker pace.
            delay = random.uniform(MAX_BACKOFF_S / 2, MAX_BACKOFF_S) if end.replaced else random.uniform(0, ceiling)
            log.info("relay %s: %s; next try in %.1f s", self._relay, end.reason, delay)
            self._publish(RelayLost(relay=self._relay, reason=end.reason, retry_in_s=delay))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(delay):
                    await self._hurry.wait()
                self._hurry.clear()
                failures = 0

    def reconnect(self, reason: str) -> None:
        """Give up the present connection and dial at once: it may be dead since the computer slept or moved."""
        self._hurry.set()
        connection = self._connection
        if connection is not None:
            log.info("relay %s: %s; connecting anew", self._relay, reason)
            # Not close(): a dead connection would not answer the closing handshake for seconds.
            with contextlib.suppress(AttributeError):
                connection.transport.abort()

    async def _stay_connected(self) -> None:
        """One connection, from the dial until it is lost. Always raises."""
        try:
            # A bridge dials the relay itself: proxies of the environment would be in the way of every token.
            connection = await connect(
                self._relay + "/ws",
                compression=None,
                max_size=MAX_FRAME_BYTES,
                max_queue=4,
                open_timeout=OPEN_TIMEOUT_S,
                close_timeout=CLOSE_TIMEOUT_S,
                ping_interval=PING_S,
                ping_timeout=PING_S,
                proxy=None,
                user_agent_header=None,
            )
        except (OSError, TimeoutError, InvalidHandshake, InvalidURI, EOFError) as error:
            raise _Lost(f"it cannot be reached: {_reason(error)}") from error
        self._connection = connection
        try:
            await self._converse(connection)
        except ConnectionClosed as error:
            received = error.rcvd
            reason = "the connection was cut" if received is None else received.reason or f"closed with {received.code}"
            raise _Lost(reason, replaced=received is not None and received.code == CLOSE_REPLACED) from error
        finally:
            self._connection = None
            self._registered.clear()
            await self._end_calls()
            # asyncio's abort() fails on a transport that was closed with octets waiting.
            with contextlib.suppress(AttributeError):
                await connection.close()

    async def _converse(self, connection: ClientConnection) -> None:
        protocol = BridgeProtocol(self._peer_id, self._secret)
        await connection.send(protocol.hello(), text=True)
        try:
            async with asyncio.timeout(REGISTER_TIMEOUT_S):
                while not protocol.ready:
                    await self._receive(protocol, connection)
        except TimeoutError:
            raise _Lost("it did not answer the registration") from None
        measuring = asyncio.create_task(self._measure(connection), name="relay latency")
        try:
            while True:
                await self._receive(protocol, connection)
        finally:
            measuring.cancel()
            await asyncio.wait({measuring})

    async def _measure(self, connection: ClientConnection) -> None:
        """Tell how long the way to the relay and back is, for people to see."""
        while True:
            started = time.perf_counter()
            try:
                async with asyncio.timeout(PING_S):
                    await (await connection.ping())
            except (TimeoutError, ConnectionClosed):
                return
            self._publish(RelayMeasured(relay=self._relay, ms=(time.perf_counter() - started) * 1000))
            await asyncio.sleep(MEASURE_S)

    async def _receive(self, protocol: BridgeProtocol, connection: ClientConnection) -> None:
        for action in protocol.receive(await connection.recv(decode=False)):
            match action:
                case Ready():
                    self._registered_at = time.monotonic()
                    self._registered.set()
                    log.info("registered with the relay at %s", self._relay)
                    self._publish(RelayConnected(relay=self._relay))
                case Refused():
                    raise _Lost(action.message, fatal=action.fatal, replaced=action.code == "replaced")
                case Reply():
                    await connection.send(action.frame, text=True)
                case Serve():
                    task = asyncio.create_task(self._serve(protocol, connection, action), name="relay request")
                    self._calls[action.request_id] = task
                    task.add_done_callback(partial(self._call_ended, action.request_id))
                case GiveUp():
                    call = self._calls.get(action.request_id)
                    if call is not None:
                        call.cancel()

    async def _serve(self, protocol: BridgeProtocol, connection: ClientConnection, request: Serve) -> None:
        """Answer one request from the node's own server; a lost connection ends it, as nobody can be told."""
        assert self._client is not None
        started = time.perf_counter()
        bytes_out = 0

        async def send(response: Response) -> None:
            nonlocal bytes_out
            frame = protocol.answer(request.request_id, response)
            if frame is not None:
                bytes_out += len(frame)
                await connection.send(frame, text=True)

        try:
            if self._forward is not None and (request.method, request.path) == ("POST", "/forward"):
                status = await answer_forward(request, self._forward, send)
            else:
                status = await LocalCall(self._client, self._local_url, request).answer(send)
        except ConnectionClosed:
            return
        self._publish(
            RelayRequestServed(
                method=request.method,
                path=request.path,
                status=status,
                ms=(time.perf_counter() - started) * 1000,
                bytes_in=len(request.body),
                bytes_out=bytes_out,
            )
        )

    def _call_ended(self, request_id: str, task: asyncio.Task[None]) -> None:
        self._calls.pop(request_id, None)
        if not task.cancelled() and task.exception() is not None:
            log.error("a request by relay failed", exc_info=task.exception())

    async def _end_calls(self) -> None:
        calls = list(self._calls.values())
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)


def base_url(relay_url: str) -> str:
    """``ws(s)://HOST[:PORT][/PREFIX]`` from what a person typed; UsageError if that is no relay's URL."""
    url = relay_url.strip().rstrip("/").removesuffix("/ws")
    for plain, web_socket in (("http://", "ws://"), ("https://", "wss://")):
        if url.startswith(plain):
            url = web_socket + url.removeprefix(plain)
    parts = urlsplit(url)
    if parts.scheme not in ("ws", "wss") or not parts.hostname or parts.query or parts.fragment or "@" in parts.netloc:
        raise UsageError(f"{relay_url!r} is not a relay's address.", hint="It looks like wss://relay.example.org.")
    return url


def _reason(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "it timed out"
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return str(error) or type(error).__name__
