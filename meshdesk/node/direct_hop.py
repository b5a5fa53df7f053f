"""The direct way: plain HTTP to the node's own endpoint, over kept-alive connections."""

from __future__ import annotations

import asyncio
import errno
import io

import aiohttp

from meshdesk.node.events import Way
from meshdesk.node.hop import CONNECT_TIMEOUT_S, HopAnswer, HopRequest, HopUnavailable
from meshdesk.node.reachability import UnreachableAddresses

MAX_ANSWER_BYTES = 24 * 1024 * 1024
LARGE_BODY_BYTES = 1024 * 1024


def direct_client() -> aiohttp.ClientSession:
    """The HTTP client a node shares among all its direct hops.

    Proxies of the environment are not used: a peer's address is dialled as it is or not at all.
    """
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=256, limit_per_host=32, keepalive_timeout=60),
        auto_decompress=False,
        trust_env=False,
        cookie_jar=aiohttp.DummyCookieJar(),
    )


class DirectHop:
    """``endpoint`` dialled over ``client``; an endpoint that swallows the dial is left alone for a while.

    One that refuses costs nothing, and is dialled again: its node may just be restarting.
    """

    way = Way.DIRECT

    def __init__(self, endpoint: str, client: aiohttp.ClientSession, unreachable: UnreachableAddresses):
        self._endpoint = endpoint.rstrip("/")
        self._client = client
        self._unreachable = unreachable

    async def request(self, request: HopRequest) -> HopAnswer:
        """See Hop.request."""
        why = self._unreachable.why(self._endpoint)
        if why is not None:
            raise HopUnavailable(f"{self._endpoint} was not reachable a moment ago ({why}).", delivered=False)
        timeout = aiohttp.ClientTimeout(total=request.deadline_s, sock_connect=CONNECT_TIMEOUT_S)
        try:
            async with self._client.request(
                request.method,
                self._endpoint + request.path,
                headers=request.headers,
                data=request_body(request.body),
                timeout=timeout,
                allow_redirects=False,
            ) as response:
                body = await self._read(response)
                self._unreachable.answered(self._endpoint)
                headers = {name.lower(): value for name, value in response.headers.items()}
                return HopAnswer(response.status, headers, body)
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            reason = _reason(error)
            if not _refused(error):
                self._unreachable.failed(self._endpoint, reason)
            raise HopUnavailable(f"{self._endpoint} cannot be reached: {reason}.", delivered=False) from error
        except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as error:
            raise HopUnavailable(f"{self._endpoint} did not answer: {_reason(error)}.") from error

    async def close(self) -> None:
        """The connections belong to the shared client; nothing of this session is held."""

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        if (response.content_length or 0) > MAX_ANSWER_BYTES:
            raise HopUnavailable(f"{self._endpoint} announced an answer of {response.content_length} octets.")
        chunks: list[bytes] = []
        size = 0
        async for chunk in response.content.iter_any():
            size += len(chunk)
            if size > MAX_ANSWER_BYTES:
                raise HopUnavailable(f"{self._endpoint} sent an answer of more than {MAX_ANSWER_BYTES} octets.")
            chunks.append(chunk)
        return b"".join(chunks)


def request_body(octets: bytes) -> bytes | io.BytesIO | None:
    """What aiohttp is given to send: a large body as a file, which it writes piece by piece."""
    return io.BytesIO(octets) if len(octets) >= LARGE_BODY_BYTES else octets or None


def _refused(error: BaseException) -> bool:
    return isinstance(error, aiohttp.ClientConnectorError) and error.os_error.errno == errno.ECONNREFUSED


def _reason(error: BaseException) -> str:
    if isinstance(error, (TimeoutError, asyncio.TimeoutError)):
        return "it timed out"
    if isinstance(error, aiohttp.ClientConnectorError):
        return error.os_error.strerror or str(error.os_error)
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "it closed the connection"
    return str(error) or type(error).__name__
