"""Reaching a head at its own endpoint, by plain HTTP."""

from __future__ import annotations

import asyncio
import errno
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import aiohttp

from meshdesk.tracker.avoidance import Avoided
from meshdesk.tracker.config import TrackerConfig
from meshdesk.tracker.dialling import CheckedResolver
from meshdesk.tracker.head_answer import HeadAnswer, HeadFailed, HeadRequest, HeadUnreachable, media_type


class HeadDirect:
    """The direct way to every head. Use between ``start`` and ``close``.

    An endpoint that swallows the dial is left alone for a while; one that refuses costs nothing to ask again.
    """

    def __init__(self, config: TrackerConfig, *, clock: Callable[[], float] = time.monotonic):
        self._config = config
        self._unreachable = Avoided(config.avoid_endpoint_s, clock)
        self._client: aiohttp.ClientSession | None = None

    async def start(self) -> None:
        self._client = aiohttp.ClientSession(
            # A connection a chat: a hang-up closes it, and a chat is long enough to be worth its dial.
            connector=aiohttp.TCPConnector(
                limit=2 * self._config.max_chats,
                force_close=True,
                resolver=CheckedResolver(allow_loopback=self._config.allow_loopback),
            ),
            auto_decompress=False,
            trust_env=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(
                total=None, connect=2 * self._config.connect_s, sock_connect=self._config.connect_s
            ),
        )

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()

    def why_not(self, endpoint: str) -> str | None:
        """Why this endpoint is not worth a dial now, or None."""
        return self._unreachable.why(endpoint)

    @asynccontextmanager
    async def ask(self, endpoint: str, request: HeadRequest) -> AsyncIterator[HeadAnswer]:
        """Send the chat; leaving the block closes the connection, which ends the head's work.

        HeadUnreachable if the endpoint cannot be dialled, HeadFailed if it does not answer.
        """
        response = await self._send(endpoint, request)
        try:
            yield _DirectAnswer(response, request.silence_s)
        finally:
            response.close()

    async def _send(self, endpoint: str, request: HeadRequest) -> aiohttp.ClientResponse:
        assert self._client is not None, "not started"
        try:
            async with asyncio.timeout(request.first_s):
                response = await self._client.post(
                    endpoint + request.path,
                    data=request.body,
                    headers={**request.headers, "Accept-Encoding": "identity"},
                    allow_redirects=False,
                )
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            reason = _reason(error)
            if not _refused(error):
                self._unreachable.add(endpoint, reason)
            raise HeadUnreachable(f"The head's endpoint cannot be reached: {reason}.") from error
        except TimeoutError as error:
            raise HeadFailed(f"The head gave no sign of life within {request.first_s:g} s.") from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            # Perhaps no head at all: a private address means another machine in another network.
            raise HeadFailed(f"The head did not answer: {_reason(error)}.", other_way=True) from error
        self._unreachable.forgive(endpoint)
        return response


class _DirectAnswer:
    def __init__(self, response: aiohttp.ClientResponse, silence_s: float):
        self._response = response
        self._silence_s = silence_s
        self.status = response.status
        self.content_type = media_type(response.headers)

    async def chunk(self) -> bytes:
        try:
            async with asyncio.timeout(self._silence_s):
                return await self._response.content.readany()
        except TimeoutError as error:
            raise HeadFailed(f"The head fell silent for {self._silence_s:g} s.", delivered=True) from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise HeadFailed(f"The head's answer broke off: {_reason(error)}.", delivered=True) from error


def _refused(error: BaseException) -> bool:
    return isinstance(error, aiohttp.ClientConnectorError) and error.os_error.errno == errno.ECONNREFUSED


def _reason(error: BaseException) -> str:
    # Never str(error) of a connector: it names the address, which is not the client's business.
    if isinstance(error, TimeoutError):
        return "it timed out"
    if isinstance(error, aiohttp.ClientConnectorError):
        return error.os_error.strerror or "the connection failed"
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "it closed the connection"
    return type(error).__name__
