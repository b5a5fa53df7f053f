"""A real HTTP server on loopback whose answers a test writes."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class LocalServer:
    """Stands where a node's HTTP server stands. ``handler`` may be exchanged at any time."""

    def __init__(self, handler: Handler | None = None, port: int = 0):
        self.handler = handler or echo
        self.cancelled = asyncio.Event()
        self.requests: list[str] = []
        self._port = port
        app = web.Application(client_max_size=2**25)
        app.router.add_route("*", "/{path:.*}", self._serve)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.5)
        self.url = ""

    async def start(self) -> None:
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port).start()
        self._port = self._runner.addresses[0][1]
        self.url = f"http://127.0.0.1:{self._port}"

    async def stop(self) -> None:
        await self._runner.cleanup()

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(f"{request.method} {request.path}")
        try:
            return await self.handler(request)
        except asyncio.CancelledError:
            self.cancelled.set()
            raise


async def echo(request: web.Request) -> web.StreamResponse:
    return web.Response(
        body=await request.read(),
        headers={
            "Content-Type": "application/octet-stream",
            "x-meshnet-shape": request.headers.get("X-Meshnet-Shape", ""),
        },
    )


@asynccontextmanager
async def local_server(handler: Handler | None = None) -> AsyncIterator[LocalServer]:
    server = LocalServer(handler)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


@contextmanager
def swallowing_port() -> Iterator[int]:
    """A port where dials get no answer at all, as at an address behind somebody's NAT."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(0)
    fillers = []
    for _ in range(3):
        # The backlog of a listener that never accepts; once it is full the kernel drops further dials.
        filler = socket.socket()
        filler.setblocking(False)
        filler.connect_ex(listener.getsockname())
        fillers.append(filler)
    try:
        yield int(listener.getsockname()[1])
    finally:
        for each in (*fillers, listener):
            each.close()
