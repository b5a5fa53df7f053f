"""A tracker as its clients see it, on loopback: it answers chats as a test's script says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

Say = Callable[[dict[str, Any]], Awaitable[None]]
Script = Callable[["StandInTracker", Say], Awaitable[None]]


def hop(number: int, way: str, total_ms: float, token: int) -> dict[str, Any]:
    """One hop's timing as a head writes it; fifteen layers a hop."""
    start = 15 * number
    times = {"total_ms": total_ms, "compute_ms": total_ms / 4, "queue_ms": 0.0, "network_ms": total_ms * 3 / 4}
    return {"token_index": token, "hop": number, "start_layer": start, "end_layer": start + 15, "way": way} | times


def chunk(text: str, token: int | None = None, *, finish: str | None = None, **extension: Any) -> dict[str, Any]:
    """One chunk of a streamed answer; with ``token`` it brings that token's hops."""
    if token is not None:
        extension = {
            "token_ids": [token],
            "hops": [hop(0, "local", 9.0, token), hop(1, "relay", 21.0, token)],
        } | extension
    choice = {"index": 0, "delta": {"content": text} if text else {}, "finish_reason": finish}
    return {"id": "chatcmpl-1", "choices": [choice]} | ({"meshdesk": extension} if extension else {})


async def say_hello(_: StandInTracker, say: Say) -> None:
    """A good answer of three tokens."""
    for token, text in enumerate(("Hello", " from", " the mesh.")):
        await say(chunk(text, token))
    await say(chunk("", finish="stop"))


class StandInTracker:
    """``questions`` are the bodies it was asked; ``hung_up`` is set when a client goes away in mid-answer."""

    def __init__(self, script: Script = say_hello, models: tuple[str, ...] = ("SmolLM2-135M",)):
        self.script = script
        self.models: Any = [{"id": name, "meshdesk": {"ready": True, "missing_layers": []}} for name in models]
        self.nodes: Any = [{"node_id": "n1"}]
        self.refusal: tuple[int, dict[str, Any]] | None = None
        self.questions: list[dict[str, Any]] = []
        self.go_on = asyncio.Event()
        self.hung_up = asyncio.Event()
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> StandInTracker:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/v1/models", self._list_models)
        app.router.add_get("/v1/nodes", self._list_nodes)
        self._runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    @property
    def url(self) -> str:
        assert self._runner is not None
        return f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        self.questions.append(await request.json())
        if self.refusal is not None:
            status, error = self.refusal
            return web.json_response({"error": error}, status=status)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
        await response.prepare(request)

        async def say(fields: dict[str, Any]) -> None:
            await response.write(b"data: " + json.dumps(fields).encode() + b"\n\n")

        try:
            await say(chunk(""))
            await self.script(self, say)
            await response.write(b"data: [DONE]\n\n")
        except asyncio.CancelledError:
            self.hung_up.set()
            raise
        return response

    async def _list_models(self, _: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": self.models})

    async def _list_nodes(self, _: web.Request) -> web.Response:
        return web.json_response({"nodes": self.nodes})
