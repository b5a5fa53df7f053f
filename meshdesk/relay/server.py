"""The relay's sockets: a thin shell that feeds the hub and does what it says."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import http
import ipaddress
import json
import logging
import re
import socket
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from meshdesk.protocol.errors import MeshdeskError
from meshdesk.relay.hub import CLOSE_LEAVING, Action, Hub, PeerLink, RequesterLink, Send
from meshdesk.relay.limits import RelayLimits
from meshdesk.relay.metrics import RelayMetrics
from meshdesk.relay.outlet import Outlet

log = logging.getLogger(__name__)

TICK_S = 0.5
OPEN_TIMEOUT_S = 10.0
CLOSE_TIMEOUT_S = 2.0
PING_S = 20.0
WRITE_LIMIT = 256 * 1024
"""A socket with less than this waiting counts as keeping up, so small frames never wait for a drain."""
_RPC = re.compile(r"/rpc/([A-Za-z0-9_-]{1,64})")


class RelayPortInUse(MeshdeskError):
    """The address to listen on is not to be had."""

    code = "port_in_use"
    exit_code = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayConfig:
    """Where to listen (port 0: a free one), and the relay's numbers."""

    host: str = "127.0.0.1"
    port: int = 0
    limits: RelayLimits = field(default_factory=RelayLimits)


class RelayServer:
    """``/ws`` for peers, ``/rpc/{peer_id}`` for requesters, ``/health`` and ``/metrics``."""

    def __init__(self, config: RelayConfig | None = None):
        self.config = config or RelayConfig()
        self._hub = Hub(self.config.limits)
        self._metrics = RelayMetrics(self._hub)
        self._outlets: dict[PeerLink | RequesterLink, Outlet] = {}
        self._sockets: Counter[str] = Counter()
        self._closing: set[asyncio.Task[None]] = set()
        self._server: Server | None = None
        self._ticking: asyncio.Task[None] | None = None
        self._port = self.config.port

    async def start(self) -> None:
        """Listen. Raises RelayPortInUse with a sentence if that cannot be."""
        try:
            self._server = await serve(
                self._connected,
                self.config.host,
                self.config.port,
                process_request=self._process_request,
                # Compressing activations costs far more time than it saves octets.
                compression=None,
                max_size=self.config.limits.frame_bytes,
                max_queue=4,
                write_limit=WRITE_LIMIT,
                open_timeout=OPEN_TIMEOUT_S,
                close_timeout=CLOSE_TIMEOUT_S,
                ping_interval=PING_S,
                ping_timeout=PING_S,
                server_header=None,
            )
        except OSError as error:
            raise _listen_error(error, self.config.host, self.config.port) from error
        self._port = next(iter(self._server.sockets)).getsockname()[1]
        self._ticking = asyncio.create_task(self._tick(), name="relay tick")

    async def stop(self) -> None:
        """Tell every socket that the relay leaves (1012), so that peers look elsewhere at once; then end."""
        if self._ticking is not None:
            self._ticking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._ticking
        if self._server is not None:
            self._server.close(code=CLOSE_LEAVING, reason="the relay is stopping")
            # A socket that does not read would hold up its closing handshake.
            stalled = asyncio.get_running_loop().call_later(2 * CLOSE_TIMEOUT_S, self._cut_all)
            await self._server.wait_closed()
            stalled.cancel()
        if self._closing:
            await asyncio.wait(set(self._closing))

    @property
    def port(self) -> int:
        """The port listened on, once started."""
        return self._port

    @property
    def url(self) -> str:
        """The base URL for bridges and requesters, ``ws://HOST:PORT``."""
        return "ws://" + self._address()

    @property
    def http_url(self) -> str:
        """The base URL of ``/health`` and ``/metrics``."""
        return "http://" + self._address()

    def _address(self) -> str:
        host = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(self.config.host, self.config.host)
        return f"[{host}]:{self._port}" if ":" in host else f"{host}:{self._port}"

    def _process_request(self, connection: ServerConnection, request: Request) -> Response | None:
        """Plain HTTP answers, and refusals before a socket is opened; None lets the handshake go on."""
        path = request.path.partition("?")[0]
        if path == "/health":
            return _response(200, "application/json", json.dumps(self._metrics.health()).encode())
        if path == "/metrics":
            return _response(200, "text/plain; version=0.0.4; charset=utf-8", self._metrics.exposition())
        if path != "/ws" and not _RPC.fullmatch(path):
            return _refusal(404, "not_found", "This relay has /ws, /rpc/{peer_id}, /health and /metrics.")
        if path == "/ws" and "Origin" in request.headers:
            return _refusal(403, "no_browsers", "A web page cannot be a peer.")
        if request.headers.get("Upgrade", "").lower() != "websocket":
            return _refusal(426, "upgrade_required", "This path speaks WebSocket.")
        address = _address_of(connection)
        if not _is_loopback(address) and self._sockets[address] >= self.config.limits.sockets_per_address:
            return _refusal(429, "too_many", "Too many sockets are open from this address.")
        return None

    async def _connected(self, connection: ServerConnection) -> None:
        address = _address_of(connection)
        self._sockets[address] += 1
        try:
            assert connection.request is not None
            match = _RPC.fullmatch(connection.request.path.partition("?")[0])
            if match is None:
                await self._serve_peer(connection)
            else:
                await self._serve_requester(connection, match[1])
        finally:
            self._sockets[address] -= 1
            if not self._sockets[address]:
                del self._sockets[address]

    async def _serve_peer(self, connection: ServerConnection) -> None:
        link = self._hub.peer_opened(time.monotonic())
        self._outlets[link] = Outlet(connection, self.config.limits)
        try:
            while True:
                frame = await connection.recv(decode=False)
                self._do(self._hub.peer_frame(link, frame, time.monotonic()))
        except ConnectionClosed:
            pass
        finally:
            self._do(self._hub.peer_gone(link))
            del self._outlets[link]

    async def _serve_requester(self, connection: ServerConnection, peer_id: str) -> None:
        link = self._hub.requester_opened(peer_id, time.monotonic())
        self._outlets[link] = Outlet(connection, self.config.limits)
        try:
            while True:
                frame = await connection.recv(decode=False)
                for action in self._hub.requester_frame(link, frame, time.monotonic()):
                    if isinstance(action, Send) and isinstance(action.link, PeerLink):
                        outlet = self._outlets.get(action.link)
                        if outlet is not None:
                            await outlet.pass_on(action.frame)
                    else:
                        self._do([action])
        except ConnectionClosed:
            pass
        finally:
            self._do(self._hub.requester_gone(link))
            del self._outlets[link]

    def _do(self, actions: Iterable[Action]) -> None:
        for action in actions:
            outlet = self._outlets.get(action.link)
            if outlet is None:
                continue
            if isinstance(action, Send):
                outlet.put(action.frame)
            else:
                task = asyncio.create_task(outlet.close(action.code, action.reason), name="relay close")
                self._closing.add(task)
                task.add_done_callback(self._closing.discard)

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            now = time.monotonic()
            self._do(self._hub.on_time(now))
            for outlet in list(self._outlets.values()):
                if outlet.cut_if_stalled(now):
                    self._metrics.slow_readers_cut += 1

    def _cut_all(self) -> None:
        for outlet in self._outlets.values():
            outlet.cut()


def _response(status: int, content_type: str, body: bytes) -> Response:
    headers = Headers(
        {"Content-Type": content_type, "Content-Length": str(len(body)), "Connection": "close"},
    )
    return Response(status, http.HTTPStatus(status).phrase, headers, body)


def _refusal(status: int, code: str, message: str) -> Response:
    body = json.dumps({"error": {"code": code, "message": message}}).encode()
    return _response(status, "application/json", body)


def _address_of(connection: ServerConnection) -> str:
    peer = connection.remote_address
    return str(peer[0]) if peer else ""


def _is_loopback(address: str) -> bool:
    """A reverse proxy on this machine dials from here for everybody, so it is not counted as one address."""
    try:
        return ipaddress.ip_address(address.partition("%")[0]).is_loopback
    except ValueError:
        return False


def _listen_error(error: OSError, host: str, port: int) -> RelayPortInUse:
    if error.errno == errno.EADDRINUSE:
        return RelayPortInUse(
            f"Port {port} on {host} is already in use by another program.", hint="Choose another with --port."
        )
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        return RelayPortInUse(f"This computer has no address {host}.", hint="Choose another with --host.")
    return RelayPortInUse(f"Cannot listen on {host} port {port}: {error.strerror or error}.")
