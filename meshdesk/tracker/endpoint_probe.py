"""Dialling a node back at the endpoint it registered, so that it learns whether others can reach it there.

A computer cannot see from within whether its router, its firewall or WSL2 lets anybody in. The tracker
stands outside and tries: one short GET of ``/health``, on the node's own request and at most once in a
while for each node, by the same rules as every other dial to a registered address.
"""

from __future__ import annotations

import asyncio
import errno
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

import aiohttp
import orjson

from meshdesk.tracker.config import TrackerConfig
from meshdesk.tracker.dialling import CheckedResolver

MAX_ANSWER_BYTES = 64 * 1024
MAX_REMEMBERED = 10_000
MAX_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What the dial met. ``reason``: reachable, refused, timed-out, unreachable, not-this-node, no-endpoint or busy.

    ``reachable`` None: it was not tried.
    """

    reachable: bool | None
    reason: str
    ms: float | None = None


class EndpointProbe:
    """Probes endpoints between ``start`` and ``close``; remembers each answer for ``config.probe_every_s``."""

    def __init__(self, config: TrackerConfig, *, clock: Callable[[], float] = time.monotonic):
        self._config = config
        self._clock = clock
        self._client: aiohttp.ClientSession | None = None
        self._known: OrderedDict[tuple[str, str], tuple[float, ProbeResult]] = OrderedDict()
        self._running = 0

    async def start(self) -> None:
        self._client = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                force_close=True, resolver=CheckedResolver(allow_loopback=self._config.allow_loopback)
            ),
            auto_decompress=False,
            trust_env=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=2 * self._config.connect_s, sock_connect=self._config.connect_s),
        )

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()

    async def probe(self, node_id: str, endpoint: str | None) -> ProbeResult:
        """Whether ``node_id`` answers at ``endpoint``. Asked again soon, the same answer without a dial."""
        if endpoint is None:
            return ProbeResult(None, "no-endpoint")
        key, now = (node_id, endpoint), self._clock()
        known = self._known.get(key)
        if known is not None and now < known[0]:
            return known[1]
        if self._running >= MAX_AT_ONCE:
            return ProbeResult(None, "busy")
        self._running += 1
        try:
            result = await self._dial(node_id, endpoint)
        finally:
            self._running -= 1
        self._known.pop(key, None)
        self._known[key] = (self._clock() + self._config.probe_every_s, result)
        while len(self._known) > MAX_REMEMBERED:
            self._known.popitem(last=False)
        return result

    async def _dial(self, node_id: str, endpoint: str) -> ProbeResult:
        assert self._client is not None, "not started"
        started = time.perf_counter()
        try:
            async with self._client.get(endpoint + "/health", allow_redirects=False) as response:
                body = await response.content.read(MAX_ANSWER_BYTES)
        except TimeoutError:
            return ProbeResult(False, "timed-out")
        except aiohttp.ClientConnectorError as error:
            return ProbeResult(False, "refused" if error.os_error.errno == errno.ECONNREFUSED else "unreachable")
        except (aiohttp.ClientError, OSError, ValueError, asyncio.IncompleteReadError):
            # Something answers, but not as a node does: a private address means another machine here.
            return ProbeResult(False, "not-this-node")
        try:
            fields = orjson.loads(body)
        except orjson.JSONDecodeError:
            fields = None
        if not isinstance(fields, dict) or fields.get("node_id") != node_id:
            return ProbeResult(False, "not-this-node")
        return ProbeResult(True, "reachable", (time.perf_counter() - started) * 1000)
