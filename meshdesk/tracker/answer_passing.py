"""A head's answer on its way to the client: checked before its first octet goes out, streamed on after it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import orjson
from aiohttp import web

from meshdesk.protocol.openai_request import openai_error
from meshdesk.tracker.event_stream import EventTooLarge, WholeEvents, error_event, errors_in
from meshdesk.tracker.head_answer import HeadAnswer, HeadFailed, read_whole
from meshdesk.tracker.refusals import read_refusal

MAX_REFUSAL_BYTES = 64 * 1024
LINGER_S = 1.0
"""How long a head that has said [DONE] may take to end its answer, before that is taken for a hang-up."""


@dataclass(slots=True)
class Begun:
    """An answer whose first octets are here: ``first`` holds whole events, or all of an answer not streamed."""

    answer: HeadAnswer
    events: WholeEvents | None
    first: bytes


async def begin(answer: HeadAnswer, *, stream: bool) -> Begun:
    """Wait for the answer's first octets; HeadRefused or HeadFailed while nothing has gone to the client yet."""
    if answer.status != 200:
        raise read_refusal(answer.status, answer.content_type, await read_whole(answer, MAX_REFUSAL_BYTES))
    expected = "text/event-stream" if stream else "application/json"
    if answer.content_type != expected:
        # A stranger's page must not be shown under the tracker's name.
        raise HeadFailed("What answered at the head's address is no head.", other_way=True, delivered=True)
    if not stream:
        body = await read_whole(answer)
        try:
            fields = orjson.loads(body)
        except orjson.JSONDecodeError:
            fields = None
        if not isinstance(fields, dict) or not isinstance(fields.get("choices"), list):
            raise HeadFailed("The head's answer is no answer in OpenAI form.", delivered=True)
        return Begun(answer, None, body)
    events = WholeEvents()
    first = b""
    while not first:
        first = await _next_events(answer, events)
    return Begun(answer, events, first)


async def stream_on(
    request: web.Request, begun: Begun, *, stall_s: float, on_error: Callable[[dict[str, Any]], None]
) -> tuple[web.StreamResponse, HeadFailed | None]:
    """Stream a begun answer to the client. A failure on the way becomes the stream's last event and is returned.

    ``on_error`` gets the error of each error event that the head itself sent. A client that takes nothing
    for ``stall_s`` seconds, or hangs up, raises ConnectionError.
    """
    assert begun.events is not None, "not a streamed answer"
    response = web.StreamResponse(
        headers={
            "Content-Type": "text/event-stream; charset=utf-8",
            "Cache-Control": "no-cache",
            # Buffering proxies would hold tokens back.
            "X-Accel-Buffering": "no",
        }
    )
    await _to_client(request, response.prepare(request), stall_s)
    data: bytes = begun.first
    failure: HeadFailed | None = None
    try:
        while True:
            for error in errors_in(data):
                on_error(error)
            if data:
                await _to_client(request, response.write(data), stall_s)
            if begun.events.done:
                break
            data = await _next_events(begun.answer, begun.events)
    except HeadFailed as error_on_the_way:
        failure = error_on_the_way
        await _to_client(request, response.write(error_event(openai_error(failure))), stall_s)
    await _to_client(request, response.write_eof(), stall_s)
    if failure is None:
        await _linger(begun.answer)
    return response, failure


async def _next_events(answer: HeadAnswer, events: WholeEvents) -> bytes:
    chunk = await answer.chunk()
    if not chunk:
        raise HeadFailed("The head's answer ended before it was complete.", delivered=True)
    try:
        return events.push(chunk)
    except EventTooLarge as error:
        raise HeadFailed(f"The head's answer cannot be read: {error}.", delivered=True) from error


async def _to_client(request: web.Request, writing: Awaitable[Any], stall_s: float) -> None:
    try:
        async with asyncio.timeout(stall_s):
            await writing
    except TimeoutError:
        if request.transport is not None:
            request.transport.abort()
        raise ConnectionResetError("the client takes nothing of its answer") from None


async def _linger(answer: HeadAnswer) -> None:
    # Leaving now would look to the head like a hang-up, though its answer is complete.
    with contextlib.suppress(HeadFailed, TimeoutError):
        async with asyncio.timeout(LINGER_S):
            while await answer.chunk():
                pass
