"""Small real servers for the other side of the tracker's wire: heads over HTTP, and a bare relay."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed

PIECES = ("Hel", "lo – ", "👋")
DONE = b"data: [DONE]\n\n"


def event(fields: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(fields, ensure_ascii=False).encode() + b"\n\n"


def chunk(text: str, finish_reason: str | None = None, *, chat: bool = True) -> dict[str, Any]:
    said = {"delta": {"content": text}} if chat else {"text": text}
    choice = {"index": 0, "finish_reason": finish_reason, "logprobs": None, **said}
    kind = "chat.completion.chunk" if chat else "text_completion"
    return {"id": "chatcmpl-1", "object": kind, "created": 1, "model": "m", "choices": [choice]}


def events(pieces: Sequence[str] = PIECES, *, chat: bool = True) -> list[bytes]:
    """The stream of a whole answer, an element an event."""
    middle = [event(chunk(piece, chat=chat)) for piece in pieces]
    return [*middle, event(chunk("", "stop", chat=chat)), DONE]


def whole(text: str = "".join(PIECES), *, chat: bool = True) -> dict[str, Any]:
    said = {"message": {"role": "assistant", "content": text}} if chat else {"text": text}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion" if chat else "text_completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "logprobs": None, **said}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
    }


def error_body(code: str, message: str, **fields: Any) -> dict[str, Any]:
    return {"error": {"message": message, "type": "server_error", "param": None, "code": code, **fields}}


@dataclass
class Asked:
    """One chat as a head got it."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    def header(self, name: str) -> str:
        return {key.lower(): value for key, value in self.headers.items()}[name.lower()]


Behaviour = Callable[[web.Request, Asked], Awaitable[web.StreamResponse]]


class Head:
    """An HTTP head that answers as ``behaviour`` says; by default as a good one."""

    def __init__(self, behaviour: Behaviour | None = None):
        self.behaviour = behaviour or answer
        self.asked: list[Asked] = []
        self.got = asyncio.Event()
        self.cancelled = asyncio.Event()
        self.finished = asyncio.Event()
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Head:
        app = web.Application()
        app.router.add_post("/v1/{path:.*}", self._serve)
        self._runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def stop(self) -> None:
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()

    @property
    def url(self) -> str:
        assert self._runner is not None
        return f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        asked = Asked(request.path, dict(request.headers), await request.json())
        self.asked.append(asked)
        self.got.set()
        try:
            return await self.behaviour(request, asked)
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        finally:
            self.finished.set()


async def begin_stream(request: web.Request, *parts: bytes) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
    await response.prepare(request)
    for part in parts:
        await response.write(part)
    return response


async def answer(request: web.Request, asked: Asked) -> web.StreamResponse:
    """A good head: streamed or whole, as asked."""
    chat = asked.path.endswith("/chat/completions")
    if asked.body.get("stream"):
        return await begin_stream(request, *events(chat=chat))
    return web.json_response(whole(chat=chat))


def refuse(status: int, code: str, message: str, **fields: Any) -> Behaviour:
    async def behaviour(_: web.Request, __: Asked) -> web.StreamResponse:
        return web.json_response(error_body(code, message, **fields), status=status)

    return behaviour


async def hang(_: web.Request, __: Asked) -> web.StreamResponse:
    """Takes the question and never says a word."""
    await asyncio.Event().wait()
    raise AssertionError("unreachable")


async def cut(request: web.Request, _: Asked) -> web.StreamResponse:
    """Closes the connection instead of answering."""
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


def start_then(*parts: bytes, cut_off: bool) -> Behaviour:
    """Streams ``parts``, then breaks the connection, or waits until it is given up."""

    async def behaviour(request: web.Request, _: Asked) -> web.StreamResponse:
        response = await begin_stream(request, *parts)
        if cut_off:
            assert request.transport is not None
            request.transport.abort()
            return response
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    return behaviour


Frames = Callable[["Relay", ServerConnection, dict[str, Any]], Awaitable[None]]


class Relay:
    """A bare websockets server that plays relay and peer at once: ``behaviour`` answers each request frame."""

    def __init__(self, behaviour: Frames):
        self.behaviour = behaviour
        self.frames: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.cancelled = asyncio.Event()
        self.closed = asyncio.Event()
        self._server: Server | None = None

    async def __aenter__(self) -> Relay:
        self._server = await serve(self._serve, "127.0.0.1", 0, compression=None, max_size=24 * 1024 * 1024)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        await self._server.wait_closed()

    def addr(self, peer_id: str) -> str:
        assert self._server is not None
        return f"ws://127.0.0.1:{next(iter(self._server.sockets)).getsockname()[1]}/rpc/{peer_id}"

    @property
    def asked(self) -> list[Asked]:
        requests = [frame for frame in self.frames if "path" in frame]
        return [Asked(each["path"], each["headers"], json.loads(each["body"])) for each in requests]

    async def _serve(self, socket: ServerConnection) -> None:
        assert socket.request is not None
        self.paths.append(socket.request.path)
        try:
            async for frame in socket:
                fields = json.loads(frame)
                self.frames.append(fields)
                if fields.get("type") == "relay-http-cancel":
                    self.cancelled.set()
                else:
                    await self.behaviour(self, socket, fields)
        except ConnectionClosed:
            pass
        finally:
            self.closed.set()


async def send(socket: ServerConnection, request: dict[str, Any], **fields: Any) -> None:
    await socket.send(json.dumps({"request_id": request["request_id"], **fields}))


async def start_stream(socket: ServerConnection, request: dict[str, Any], **fields: Any) -> None:
    headers = {"content-type": "text/event-stream; charset=utf-8"}
    await send(socket, request, stream="start", status=200, headers=headers, **fields)


async def stream_frames(_: Relay, socket: ServerConnection, request: dict[str, Any]) -> None:
    """A good head behind the relay: streamed if asked for, whole if not."""
    chat = request["path"].endswith("/chat/completions")
    if json.loads(request["body"]).get("stream"):
        await start_stream(socket, request)
        for part in events(chat=chat):
            await send(socket, request, stream="chunk", body=part.decode())
        await send(socket, request, stream="end")
    else:
        headers = {"content-type": "application/json"}
        await send(socket, request, status=200, headers=headers, body=json.dumps(whole(chat=chat)))


def relay_failure(status: int, code: str, *, delivered: bool) -> Frames:
    """The relay's own failure, as the protocol has it."""

    async def behaviour(_: Relay, socket: ServerConnection, request: dict[str, Any]) -> None:
        error = {"code": code, "message": "Not here.", "delivered": delivered}
        headers = {"content-type": "application/json"}
        body = json.dumps({"error": error})
        await send(socket, request, status=status, headers=headers, body=body, error=error)

    return behaviour
