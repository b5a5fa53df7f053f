"""The node's HTTP server: the paths, their bounds, and start and stop."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from meshdesk.node.forward_handler import MAX_FORWARD_BYTES, ForwardHandler
from meshdesk.protocol.errors import MeshdeskError
from meshdesk.protocol.sampling import MAX_HEADER_CHARS

log = logging.getLogger(__name__)

SHUTDOWN_TIMEOUT_S = 3.0
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class PortInUse(MeshdeskError):
    """The address to listen on is not to be had."""

    code = "port_in_use"
    exit_code = 4


class NodeServer:
    """An aiohttp server on ``host:port`` (port 0: a free one) with the node's paths."""

    def __init__(
        self,
        *,
        host: str,
        port: int,
        forward: ForwardHandler,
        chat: tuple[Handler, Handler] | None,
        health: Callable[[], dict[str, Any]],
        metrics: Callable[[], bytes],
    ):
        self._host = host
        self._port = port
        self._health = health
        self._metrics = metrics
        self._runner: web.AppRunner | None = None
        app = web.Application(client_max_size=MAX_FORWARD_BYTES + 1024, middlewares=[_errors_as_json])
        app.router.add_post("/forward", forward.forward)
        app.router.add_delete("/sessions/{session}", forward.close_session)
        app.router.add_get("/health", self._get_health)
        app.router.add_get("/metrics", self._get_metrics)
        if chat is not None:
            app.router.add_post("/v1/chat/completions", chat[0])
            app.router.add_post("/v1/completions", chat[1])
        self._app = app

    async def start(self) -> None:
        # handler_cancellation: a client that hangs up must end the work done for it.
        self._runner = web.AppRunner(
            self._app,
            handler_cancellation=True,
            access_log=None,
            max_field_size=MAX_HEADER_CHARS + 4096,
            keepalive_timeout=120,
            shutdown_timeout=SHUTDOWN_TIMEOUT_S,
        )
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self._host, self._port).start()
        except OSError as error:
            await self._runner.cleanup()
            raise _listen_error(error, self._host, self._port) from error
        self._port = self._runner.addresses[0][1]

    @property
    def port(self) -> int:
        """The port listened on, once started."""
        return self._port

    @property
    def url(self) -> str:
        """The base URL on this machine, once started."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(self._host, self._host)
        return f"http://[{host}]:{self._port}" if ":" in host else f"http://{host}:{self._port}"

    async def stop(self) -> None:
        """Stop listening, give requests under way a moment, then cancel them."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _get_health(self, _: web.Request) -> web.Response:
        return web.json_response(self._health())

    async def _get_metrics(self, _: web.Request) -> web.Response:
        return web.Response(body=self._metrics(), headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"})


def _listen_error(error: OSError, host: str, port: int) -> MeshdeskError:
    if error.errno == errno.EADDRINUSE:
        return PortInUse(
            f"Port {port} on {host} is already in use by another program.", hint="Choose another with --port."
        )
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        return PortInUse(f"This computer has no address {host}.", hint="Choose another with --host.")
    return PortInUse(f"Cannot listen on {host} port {port}: {error.strerror or error}.")


@web.middleware
async def _errors_as_json(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Every refusal is JSON with a code and a sentence, aiohttp's own and our bugs included."""
    try:
        return await handler(request)
    except web.HTTPException as error:
        code = {404: "not_found", 405: "method_not_allowed", 413: "too_large"}.get(error.status, "bad_request")
        fields = {"error": {"code": code, "message": f"{request.method} {request.path}: {error.reason}."}}
        return web.json_response(fields, status=error.status)
    except MeshdeskError as error:
        return web.json_response(error.to_body(), status=error.status)
    except asyncio.CancelledError:
        raise
    except ConnectionError:
        raise
    except Exception:
        log.exception("%s %s failed", request.method, request.path)
        failure = MeshdeskError("This node has a fault; its log says more.")
        return web.json_response(failure.to_body(), status=failure.status)
