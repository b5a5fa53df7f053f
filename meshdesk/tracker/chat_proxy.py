"""Chats: choose a route, tell the head, pass its answer on, and try another where that fails in time."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any

from aiohttp import web

from meshdesk.protocol.errors import MeshdeskError
from meshdesk.protocol.openai_request import BadChatRequest, ChatRequest, openai_error, parse_chat_request
from meshdesk.tracker.answer_passing import Begun, begin, stream_on
from meshdesk.tracker.config import TrackerConfig
from meshdesk.tracker.head_answer import HeadAnswer, HeadFailed, HeadRequest, HeadUnreachable, plain
from meshdesk.tracker.head_direct import HeadDirect
from meshdesk.tracker.head_relay import HeadRelay
from meshdesk.tracker.injection import inject
from meshdesk.tracker.metrics import ChatOutcome, TrackerMetrics, WayName
from meshdesk.tracker.refusals import HeadRefused, hop_at_fault, shown_to_client
from meshdesk.tracker.registration import NodeRecord
from meshdesk.tracker.registry import Registry
from meshdesk.tracker.route_choice import RouteChooser, Tried
from meshdesk.tracker.routing import Route
from meshdesk.tracker.tracker_errors import BodyLate, NoRoute, TrackerBusy, UnknownModel

log = logging.getLogger(__name__)

MAX_ROUTES = 3
"""Routes a chat is tried on before its client is told."""
RETRY_AFTER_S = 5


class ChatProxy:
    """``/v1/chat/completions`` and ``/v1/completions``. The tracker never sees an activation, only text."""

    def __init__(
        self,
        config: TrackerConfig,
        registry: Registry,
        chooser: RouteChooser,
        direct: HeadDirect,
        relay: HeadRelay,
        metrics: TrackerMetrics,
    ):
        self._config = config
        self._registry = registry
        self._chooser = chooser
        self._direct = direct
        self._relay = relay
        self._metrics = metrics
        self.running = 0

    async def chat_completions(self, request: web.Request) -> web.StreamResponse:
        return await self._handle_proxy_chat(request, chat=True)

    async def completions(self, request: web.Request) -> web.StreamResponse:
        return await self._handle_proxy_chat(request, chat=False)

    async def _handle_proxy_chat(self, request: web.Request, *, chat: bool) -> web.StreamResponse:
        """One chat, from the client's body to the last octet of its answer. Cancelled when the client hangs up."""
        try:
            body = await self._read(request)
            asked = parse_chat_request(body, chat=chat)
            with self._place():
                return await self._ask_heads(request, asked, body)
        except MeshdeskError as error:
            self._metrics.chat_ended(_outcome(error))
            return _error_answer(error.status, openai_error(error))
        except (asyncio.CancelledError, ConnectionError):
            self._metrics.chat_ended("hung_up")
            raise

    async def _read(self, request: web.Request) -> bytes:
        try:
            async with asyncio.timeout(self._config.client_body_s):
                return await request.read()
        except TimeoutError:
            raise BodyLate(f"The request's body did not come within {self._config.client_body_s:g} s.") from None
        except web.HTTPRequestEntityTooLarge:
            raise _BodyTooLarge(f"The request has more than {self._config.max_chat_body} octets.") from None

    @contextmanager
    def _place(self) -> Iterator[None]:
        if self.running >= self._config.max_chats:
            raise TrackerBusy(
                f"This tracker already carries {self.running} chats.", hint=f"Try again in {RETRY_AFTER_S} seconds."
            )
        self.running += 1
        try:
            yield
        finally:
            self.running -= 1

    async def _ask_heads(self, request: web.Request, asked: ChatRequest, body: bytes) -> web.StreamResponse:
        """Try up to MAX_ROUTES routes; answer with the last failure if none of them works."""
        started = time.monotonic()
        tried = Tried()
        failure: HeadFailed | None = None
        for _ in range(MAX_ROUTES):
            try:
                route = self._chooser.choose(asked.model, tried)
            except (NoRoute, UnknownModel):
                if failure is None:
                    raise
                break
            with self._chooser.hold(route):
                outcome = await self._try_route(request, asked, body, route, started)
            if isinstance(outcome, web.StreamResponse):
                return outcome
            failure = outcome
            if isinstance(failure, HeadRefused) and failure.final:
                break
            tried.routes.add(route.node_ids)
            self._learn(route, failure, tried)
        assert failure is not None, "a route was chosen, and gave neither an answer nor a failure"
        self._metrics.chat_ended("refused" if isinstance(failure, HeadRefused) and failure.final else "failed")
        return _error_answer(*shown_to_client(failure))

    async def _try_route(
        self, request: web.Request, asked: ChatRequest, body: bytes, route: Route, started: float
    ) -> web.StreamResponse | HeadFailed:
        """Ask the route's head by each way to it. A failure is returned while another try is still possible."""
        failure: HeadFailed = HeadUnreachable("The head of the route has just left the mesh.")
        head = self._registry.get(route.head.node_id)
        if head is None:
            return failure
        for way, address in self._ways(route.head):
            injection = inject(route, head.route_key, time.time(), stream=asked.stream)
            try:
                async with self._ask(way, address, asked, injection.headers, body) as answer:
                    begun = await begin(answer, stream=asked.stream)
                    self._metrics.head_asked(way, "answered")
                    self._metrics.first_byte(time.monotonic() - started)
                    log.info("session %s: %s answers, reached %s", injection.session, route.head.node_id, way)
                    return await self._pass_on(request, asked, route, begun)
            except HeadFailed as error:
                failure = error
                self._metrics.head_asked(way, "failed")
                log.info("session %s: head %s, %s: %s", injection.session, route.head.node_id, way, error.message)
                if not error.other_way:
                    break
        return failure

    def _ways(self, head: NodeRecord) -> list[tuple[WayName, str]]:
        """Direct first; an endpoint that swallowed a dial lately is only asked where there is no relay."""
        ways: list[tuple[WayName, str]] = []
        if head.endpoint is not None and (head.relay_addr is None or self._direct.why_not(head.endpoint) is None):
            ways.append(("direct", head.endpoint))
        if head.relay_addr is not None:
            ways.append(("relay", head.relay_addr))
        return ways

    def _ask(
        self, way: WayName, address: str, asked: ChatRequest, headers: dict[str, str], body: bytes
    ) -> AbstractAsyncContextManager[HeadAnswer]:
        config = self._config
        request = HeadRequest(
            path="/v1/chat/completions" if asked.is_chat else "/v1/completions",
            headers=headers,
            body=body,
            first_s=config.silence_s if asked.stream else config.whole_answer_s,
            silence_s=config.silence_s,
        )
        return self._direct.ask(address, request) if way == "direct" else self._relay.ask(address, request)

    async def _pass_on(
        self, request: web.Request, asked: ChatRequest, route: Route, begun: Begun
    ) -> web.StreamResponse:
        if not asked.stream:
            self._metrics.chat_ended("answered")
            return web.Response(body=begun.first, content_type="application/json")
        errors: list[dict[str, Any]] = []
        response, failure = await stream_on(request, begun, stall_s=self._config.client_stall_s, on_error=errors.append)
        for error in errors:
            self._blame_hop(route, hop_at_fault(error), plain(str(error.get("message", ""))))
        if failure is not None:
            log.warning("head %s failed in mid-answer: %s", route.head.node_id, failure.message)
            self._chooser.avoided.add(route.head.node_id, failure.message)
        self._metrics.chat_ended("broken_off" if errors or failure is not None else "answered")
        return response

    def _learn(self, route: Route, failure: HeadFailed, tried: Tried) -> None:
        """Remember what failed: for this chat in ``tried``, for the next ones in the chooser."""
        head = route.head.node_id
        if not isinstance(failure, HeadRefused) or failure.other_way:
            self._chooser.avoided.add(head, failure.message)
            tried.heads.add(head)
        elif failure.head_status == 429:
            # Busy is no fault, and its load says so to the next chats by itself.
            tried.heads.add(head)
        elif not self._blame_hop(route, failure.hop, failure.message, tried):
            tried.blamed.update(route.node_ids)

    def _blame_hop(self, route: Route, hop: int | None, reason: str, tried: Tried | None = None) -> bool:
        """Avoid the node that a head says failed. A head's word only makes others preferred, never excludes."""
        if hop is None or hop >= len(route.nodes):
            return False
        node_id = route.nodes[hop].node_id
        self._chooser.avoided.add(node_id, reason)
        if tried is not None:
            tried.blamed.add(node_id)
        return True


class _BodyTooLarge(BadChatRequest):
    code = "too_large"
    status = 413


def _outcome(error: MeshdeskError) -> ChatOutcome:
    if isinstance(error, NoRoute):
        return "no_route"
    return "busy" if isinstance(error, TrackerBusy) else "refused"


def _error_answer(status: int, body: dict[str, Any]) -> web.Response:
    headers = {"Retry-After": str(RETRY_AFTER_S)} if status == 429 else {}
    return web.json_response(body, status=status, headers=headers)
