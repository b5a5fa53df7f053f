"""``/v1/chat/completions`` and ``/v1/completions`` on a head: OpenAI form in, OpenAI form out."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator
from typing import Any

from aiohttp import web

from meshdesk.node.answer import AnswerText, OpenAIForm, Piece
from meshdesk.node.detokenize import Decoder
from meshdesk.node.generation import Generation, Token
from meshdesk.node.head import ChatOutcome, Head
from meshdesk.node.pipeline import Seam
from meshdesk.protocol.errors import MeshdeskError
from meshdesk.protocol.openai_request import ChatRequest, openai_error, parse_chat_request

log = logging.getLogger(__name__)

KEEP_ALIVE_S = 10.0
"""A silent stream is cut by proxies on its way; a comment line this often keeps it open."""


class ChatHandler:
    """Serves chats from ``head``; ``decoder`` turns ids into text, ``model`` is the id shown to clients."""

    def __init__(self, head: Head, decoder: Decoder, model: str, default_max_tokens: int):
        self._head = head
        self._decoder = decoder
        self._model = model
        self._default_max_tokens = default_max_tokens

    async def chat_completions(self, request: web.Request) -> web.StreamResponse:
        return await self._serve(request, chat=True)

    async def completions(self, request: web.Request) -> web.StreamResponse:
        return await self._serve(request, chat=False)

    async def _serve(self, request: web.Request, *, chat: bool) -> web.StreamResponse:
        try:
            session, hops = self._head.read_route(request.headers)
            asked = parse_chat_request(await request.read(), chat=chat)
            prompt_ids = await self._head.encode(asked)
            limit = self._head.max_tokens(asked, len(prompt_ids), self._default_max_tokens)
            form = OpenAIForm(asked, self._model, session, len(prompt_ids))
            async with self._head.chat(session, hops, prompt_ids, asked) as (generation, seams, outcome):
                text = AnswerText(self._decoder, asked.stop, limit)
                answer = _Answer(generation, seams, text, outcome)
                if asked.stream:
                    return await self._stream(request, asked, answer, form)
                return await self._whole(asked, answer, form, prompt_ids)
        except MeshdeskError as error:
            log.info("chat refused: %s", error.message)
            return web.json_response(openai_error(error), status=error.status)

    def _echo(self, asked: ChatRequest, prompt_ids: list[int]) -> str:
        if not asked.echo or asked.is_chat:
            return ""
        return asked.prompt if isinstance(asked.prompt, str) else self._decoder.decode(prompt_ids)

    async def _whole(
        self, asked: ChatRequest, answer: _Answer, form: OpenAIForm, prompt_ids: list[int]
    ) -> web.StreamResponse:
        shown = [self._echo(asked, prompt_ids)]
        tokens: list[Token] = []
        async for token, piece in answer.pieces():
            tokens.append(token)
            shown.append(piece.text)
        return web.json_response(form.whole("".join(shown), answer.finish_reason, tokens, answer.new_warnings()))

    async def _stream(
        self, request: web.Request, asked: ChatRequest, answer: _Answer, form: OpenAIForm
    ) -> web.StreamResponse:
        """Server-sent events. The first token decides the status, so an error before it is a plain error answer."""
        pieces = answer.pieces()
        first = asyncio.ensure_future(anext(pieces))
        response = web.StreamResponse(
            headers={"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache"}
        )
        started = False

        async def send(fields: dict[str, Any] | None) -> None:
            if fields is not None:
                await response.write(b"data: " + json.dumps(fields, ensure_ascii=False).encode() + b"\n\n")

        async def start() -> None:
            nonlocal started
            started = True
            await response.prepare(request)
            await send(form.first_chunk())

        following = first
        try:
            while True:
                done, _ = await asyncio.wait({following}, timeout=KEEP_ALIVE_S)
                if not done:
                    if not started:
                        await start()
                    await response.write(b": still working\n\n")
                    continue
                try:
                    token, piece = following.result()
                except StopAsyncIteration:
                    break
                if not started:
                    await start()
                # Ask for the next token before this one is written: the client's pace must not hold it up.
                following = asyncio.ensure_future(anext(pieces))
                # Let that task hand its forward to the shard, so that this one's words are written meanwhile.
                await asyncio.sleep(0)
                await send(form.chunk(piece, token, answer.new_warnings()))
            await send(form.usage_chunk(answer.tokens))
            await response.write(b"data: [DONE]\n\n")
        except MeshdeskError as error:
            if not started:
                raise
            answer.failed(error)
            await send(openai_error(error))
            await response.write(b"data: [DONE]\n\n")
        finally:
            following.cancel()
            await asyncio.wait({following})
            await pieces.aclose()
        return response


class _Answer:
    """One chat's tokens with their text, and how it ended."""

    def __init__(self, generation: Generation, seams: list[Seam], text: AnswerText, outcome: ChatOutcome):
        self._generation = generation
        self._seams = seams
        self._text = text
        self._outcome = outcome
        self._warned: list[str] = []
        self.finish_reason = "stop"

    @property
    def tokens(self) -> int:
        return self._text.tokens

    async def pieces(self) -> AsyncGenerator[tuple[Token, Piece], None]:
        tokens = self._generation.tokens()
        try:
            async for token in tokens:
                piece = self._text.push(token)
                self._outcome.tokens = self._text.tokens
                if piece.finish_reason is not None:
                    self.finish_reason = self._outcome.finish_reason = piece.finish_reason
                yield token, piece
                if piece.finish_reason is not None:
                    return
        finally:
            await tokens.aclose()

    def new_warnings(self) -> list[str]:
        """What went wrong on the way since the last call, a sentence each."""
        warnings = [*self._generation.warnings, *(warning for seam in self._seams for warning in seam.ways.warnings)]
        new = [warning for warning in warnings if warning not in self._warned]
        self._warned.extend(new)
        return new

    def failed(self, error: MeshdeskError) -> None:
        self._outcome.finish_reason, self._outcome.error = "error", error.message
