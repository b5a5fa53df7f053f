"""One request that came in by relay, answered by the node: whole, or as a stream.

Most are made of the node's own HTTP server. A forward, of which there is one a token, goes to the node's
handler at once: the detour over a socket of the same process would cost more than the rest of the bridge.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping

import aiohttp

from meshdesk.node.bridge_protocol import Serve, answer_headers, is_text
from meshdesk.node.direct_hop import request_body
from meshdesk.node.forward_handler import ForwardAnswer
from meshdesk.protocol.envelopes import MAX_BODY_BYTES, Body, Response

CONNECT_TIMEOUT_S = 5.0
SILENCE_TIMEOUT_S = 300.0
"""A forward may compute for long; the relay itself waits no longer than this."""

Send = Callable[[Response], Awaitable[None]]
Forward = Callable[[Mapping[str, str], bytes], Awaitable[ForwardAnswer]]
"""Headers and body of a ``POST /forward`` in, the node's answer out."""


async def answer_forward(request: Serve, forward: Forward, send: Send) -> int:
    """Have the node's handler answer, and send that; the status answered."""
    answer = await forward(request.headers, request.body)
    body = Body.of(answer.body, text=is_text(answer.headers.get("content-type", "")))
    await send(Response(request.request_id, answer.status, answer_headers(answer.headers), body))
    return answer.status


class LocalCall:
    """``request`` on ``local_url``. Cancelling ``answer`` closes the connection, which ends the work behind it."""

    def __init__(self, client: aiohttp.ClientSession, local_url: str, request: Serve):
        self._client = client
        self._local_url = local_url
        self._request = request

    async def answer(self, send: Send) -> int:
        """Send the node's answer by ``send``; the status answered."""
        asked = self._request
        streaming = False
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_S, sock_read=SILENCE_TIMEOUT_S)
        try:
            async with self._client.request(
                asked.method,
                self._local_url + asked.path,
                headers=asked.headers,
                data=request_body(asked.body),
                timeout=timeout,
                allow_redirects=False,
            ) as response:
                streaming = asked.accept_stream and response.content_type == "text/event-stream"
                if streaming:
                    await self._stream(response, send)
                else:
                    await self._whole(response, send)
                return response.status
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            # Not ConnectionClosed: that is the relay's side, and the caller's to handle.
            failure = {"code": "local_failure", "message": f"The node's own server failed: {_reason(error)}."}
            if streaming:
                await send(Response(asked.request_id, stream="end", error=failure))
            else:
                await self._refuse(send, 502, failure)
            return 502

    async def _whole(self, response: aiohttp.ClientResponse, send: Send) -> None:
        octets = bytearray()
        async for chunk in response.content.iter_any():
            octets += chunk
            if len(octets) > MAX_BODY_BYTES:
                message = f"The node's answer is larger than {MAX_BODY_BYTES} octets."
                await self._refuse(send, 502, {"code": "too_large", "message": message})
                return
        body = Body.of(bytes(octets), text=is_text(response.headers.get("Content-Type", "")))
        await send(Response(self._request.request_id, response.status, answer_headers(response.headers), body))

    async def _stream(self, response: aiohttp.ClientResponse, send: Send) -> None:
        request_id = self._request.request_id
        await send(Response(request_id, response.status, answer_headers(response.headers), stream="start"))
        async for chunk in response.content.iter_any():
            await send(Response(request_id, body=Body.of(chunk, text=True), stream="chunk"))
        await send(Response(request_id, stream="end"))

    async def _refuse(self, send: Send, status: int, error: dict[str, str]) -> None:
        body = Body(text=json.dumps({"error": error}))
        await send(Response(self._request.request_id, status, {"content-type": "application/json"}, body))


def _reason(error: BaseException) -> str:
    if isinstance(error, (TimeoutError, asyncio.TimeoutError)):
        return "it did not answer in time"
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "it closed the connection"
    return str(error) or type(error).__name__
