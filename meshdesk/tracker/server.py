"""The tracker's HTTP server: its parts put together, started and stopped."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import time
from collections.abc import Awaitable, Callable

from aiohttp import web

from meshdesk import __version__
from meshdesk.protocol.errors import MeshdeskError
from meshdesk.protocol.openai_request import openai_error
from meshdesk.tracker.chat_proxy import ChatProxy
from meshdesk.tracker.config import TrackerConfig
from meshdesk.tracker.endpoint_probe import EndpointProbe
from meshdesk.tracker.head_direct import HeadDirect
from meshdesk.tracker.head_relay import HeadRelay
from meshdesk.tracker.metrics import TrackerMetrics
from meshdesk.tracker.nodes_api import NodesApi
from meshdesk.tracker.openai_api import OpenAIApi
from meshdesk.tracker.registry import Registry
from meshdesk.tracker.route_choice import RouteChooser
from meshdesk.tracker.tracker_errors import ListenFailed

log = logging.getLogger(__name__)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class TrackerServer:
    """One tracker. ``start`` once, ``stop`` once; ``url`` is its base URL in between."""

    def __init__(self, config: TrackerConfig | None = None, *, clock: Callable[[], float] = time.monotonic):
        self.config = config = config or TrackerConfig()
        self.registry = Registry(config, clock=clock)
        self._chooser = RouteChooser(self.registry, config, clock=clock)
        self._direct = HeadDirect(config, clock=clock)
        self._relay = HeadRelay(config, clock=clock)
        self._probe = EndpointProbe(config, clock=clock)
        self._metrics = TrackerMetrics()
        self._chats = ChatProxy(config, self.registry, self._chooser, self._direct, self._relay, self._metrics)
        self._metrics.observe(nodes=lambda: len(self.registry.live()), running=lambda: self._chats.running)
        self._runner: web.AppRunner | None = None
        self._port = config.port
        self._started_at = 0.0

    @property
    def port(self) -> int:
        """The port listened on, once started."""
        return self._port

    @property
    def url(self) -> str:
        """The base URL on this machine, once started."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(self.config.host, self.config.host)
        return f"http://[{host}]:{self._port}" if ":" in host else f"http://{host}:{self._port}"

    async def start(self) -> None:
        """Listen; ListenFailed, with nothing left running, if the address is not to be had."""
        self._started_at = time.monotonic()
        await self._direct.start()
        await self._relay.start()
        await self._probe.start()
        self._runner = web.AppRunner(
            self._app(),
            # A client that hangs up must end the work done for it.
            handler_cancellation=True,
            access_log=None,
            keepalive_timeout=75,
            shutdown_timeout=self.config.shutdown_s,
        )
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self.config.host, self.config.port).start()
        except OSError as error:
            await self.stop()
            raise _listen_failed(error, self.config.host, self.config.port) from error
        self._port = self._runner.addresses[0][1]
        log.info("tracker listens at %s", self.url)

    async def stop(self) -> None:
        """Stop listening, give chats under way a moment, then cancel them."""
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()
        await self._probe.close()
        await self._relay.close()
        await self._direct.close()

    def _app(self) -> web.Application:
        app = web.Application(client_max_size=self.config.max_chat_body, middlewares=[_errors_as_json])
        NodesApi(self.config, self.registry, self._chooser, self._probe).add_routes(app.router)
        OpenAIApi(self._chooser, self._chats).add_routes(app.router)
        app.router.add_get("/health", self._health)
        app.router.add_get("/metrics", self._get_metrics)
        return app

    async def _health(self, _: web.Request) -> web.Response:
        models = self._chooser.models()
        return web.json_response(
            {
                "status": "ok",
                "version": __version__,
                "nodes": len(self.registry.live()),
                "models": {state.name: "ready" if state.ready else "incomplete" for state in models},
                "chats": self._chats.running,
                "uptime_s": round(time.monotonic() - self._started_at, 1),
            }
        )

    async def _get_metrics(self, _: web.Request) -> web.Response:
        self._metrics.count_registry(self.registry.registrations, self.registry.expired)
        return web.Response(
            body=self._metrics.exposition(), headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"}
        )


def _listen_failed(error: OSError, host: str, port: int) -> ListenFailed:
    if error.errno == errno.EADDRINUSE:
        return ListenFailed(
            f"Port {port} on {host} is already in use by another program.", hint="Choose another with --port."
        )
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        return ListenFailed(f"This computer has no address {host}.", hint="Choose another with --host.")
    return ListenFailed(f"Cannot listen on {host} port {port}: {error.strerror or error}.")


def _answer(request: web.Request, error: MeshdeskError) -> web.Response:
    """In OpenAI form where OpenAI's clients look, in ours where nodes do."""
    nodes = request.path == "/v1/nodes" or request.path.startswith("/v1/nodes/")
    openai = request.path.startswith("/v1/") and not nodes
    return web.json_response(openai_error(error) if openai else error.to_body(), status=error.status)


@web.middleware
async def _errors_as_json(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Every refusal is JSON with a code and a sentence, aiohttp's own and our bugs included."""
    try:
        return await handler(request)
    except web.HTTPException as error:
        kind = _HTTP_ERRORS.get(error.status, _BadHttp)
        response = _answer(request, kind(f"{request.method} {request.path}: {error.reason}."))
        if "Allow" in error.headers:
            response.headers["Allow"] = error.headers["Allow"]
        return response
    except MeshdeskError as error:
        return _answer(request, error)
    except (asyncio.CancelledError, ConnectionError):
        raise
    except Exception:
        log.exception("%s %s failed", request.method, request.path)
        return _answer(request, MeshdeskError("This tracker has a fault; its log says more."))


class _BadHttp(MeshdeskError):
    code = "bad_request"
    status = 400


class _NotFound(MeshdeskError):
    code = "not_found"
    status = 404


class _MethodNotAllowed(MeshdeskError):
    code = "method_not_allowed"
    status = 405


_HTTP_ERRORS: dict[int, type[MeshdeskError]] = {404: _NotFound, 405: _MethodNotAllowed}
