"""The node's registration with its tracker: announce, keep alive, announce again when forgotten, leave."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import random
from collections.abc import Callable
from typing import Any

import aiohttp

from meshdesk.node.events import DirectProbed, Event, TrackerLost, TrackerRegistered
from meshdesk.protocol.errors import MeshdeskError

log = logging.getLogger(__name__)

REQUEST_TIMEOUT_S = 10.0
LEAVE_TIMEOUT_S = 2.0
FIRST_BACKOFF_S = 0.5
MAX_BACKOFF_S = 30.0
DEFAULT_HEARTBEAT_S = 15.0


class TrackerRefused(MeshdeskError):
    """The tracker will not have this node as it announced itself; trying again is of no use."""

    code = "tracker_refused"
    status = 502
    exit_code = 3


class TrackerUnreachable(MeshdeskError):
    """The tracker did not answer, or not as a tracker does."""

    code = "tracker_unreachable"
    status = 502


class TrackerLink:
    """Keeps one node registered at ``tracker_url`` until it is stopped.

    ``record`` gives the registration as it is now, ``secret`` proves a later one is the same node's.
    ``load`` gives the number of chats and forwards under way. ``on_route_key`` gets the key of each
    registration. ``on_refused`` is called once if the tracker refuses for good.
    """

    def __init__(
        self,
        *,
        tracker_url: str,
        node_id: str,
        secret: str,
        record: Callable[[], dict[str, Any]],
        load: Callable[[], int],
        client: aiohttp.ClientSession,
        publish: Callable[[Event], None],
        on_route_key: Callable[[bytes], None],
        on_refused: Callable[[MeshdeskError], None],
    ):
        self._url = tracker_url.rstrip("/")
        self._node_id = node_id
        self._secret = secret
        self._record = record
        self._load = load
        self._client = client
        self._publish = publish
        self._on_route_key = on_route_key
        self._on_refused = on_refused
        self._task: asyncio.Task[None] | None = None
        self._lost = False
        self._hurry = asyncio.Event()
        self.registered = asyncio.Event()

    def hurry(self) -> None:
        """Register anew at once: the address may be another, or the computer slept past its deadline."""
        self._hurry.set()

    async def probe(self) -> None:
        """Ask the tracker whether it can dial this node, and publish what it says; harmless where it cannot tell."""
        try:
            status, fields = await self._ask("POST", f"/v1/nodes/{self._node_id}/probe", None)
        except TrackerUnreachable as error:
            log.debug("no probe: %s", error.message)
            return
        endpoint, reachable, reason = (fields.get(name) for name in ("endpoint", "reachable", "reason"))
        # An older tracker knows nothing of it and answers 404.
        if status == 200 and isinstance(reason, str) and (reachable is None or isinstance(reachable, bool)):
            self._publish(DirectProbed(endpoint=str(endpoint or ""), reachable=reachable, reason=reason[:64]))

    def start(self) -> None:
        self._task = asyncio.create_task(self._keep_registered(), name="tracker link")

    async def stop(self) -> None:
        """Leave the tracker, so that no new chat is sent here, and end the task."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        if self.registered.is_set():
            self.registered.clear()
            with contextlib.suppress(TrackerUnreachable):
                await self._ask("DELETE", f"/v1/nodes/{self._node_id}", None, LEAVE_TIMEOUT_S)

    async def _keep_registered(self) -> None:
        failures = 0
        while True:
            try:
                heartbeat_s = await self._register()
                failures = 0
                await self._beat(heartbeat_s)
            except TrackerRefused as error:
                self._lose(error.message, None)
                self._on_refused(error)
                return
            except TrackerUnreachable as error:
                ceiling = min(MAX_BACKOFF_S, FIRST_BACKOFF_S * 2.0**failures)
                failures = min(failures + 1, 16)
                delay = random.uniform(0, ceiling)
                self._lose(error.message, delay)
                await self._sleep(delay)

    async def _register(self) -> float:
        """Announce the node; the seconds between heartbeats that the tracker wants."""
        body = {**self._record(), "node_id": self._node_id, "secret": self._secret}
        status, fields = await self._ask("POST", "/v1/nodes", body)
        if status in (400, 403, 409, 413, 422):
            raise TrackerRefused(f"The tracker refused this node: {_sentence(fields, status)}")
        if status not in (200, 201):
            raise TrackerUnreachable(f"The tracker did not take this node: {_sentence(fields, status)}")
        key, heartbeat_s = fields.get("route_key"), fields.get("heartbeat_s", DEFAULT_HEARTBEAT_S)
        try:
            self._on_route_key(bytes.fromhex(str(key)))
            heartbeat_s = min(300.0, max(0.05, float(heartbeat_s)))
        except (TypeError, ValueError):
            raise TrackerUnreachable("The tracker's answer to the registration is malformed.") from None
        self.registered.set()
        self._lost = False
        self._publish(TrackerRegistered(tracker=self._url))
        log.info("registered with the tracker at %s", self._url)
        return heartbeat_s

    async def _beat(self, heartbeat_s: float) -> None:
        """Heartbeats until the tracker forgets this node (then register again) or stops answering."""
        while True:
            # Spread, so that nodes that started together do not all call in the same instant.
            if await self._sleep(heartbeat_s * random.uniform(0.85, 1.0)):
                return
            status, fields = await self._ask("POST", f"/v1/nodes/{self._node_id}/heartbeat", {"load": self._load()})
            if status in (401, 403, 404):
                log.info("the tracker has forgotten this node; registering again")
                self.registered.clear()
                return
            if status != 200:
                raise TrackerUnreachable(f"The tracker did not take the heartbeat: {_sentence(fields, status)}")

    async def _sleep(self, seconds: float) -> bool:
        """Sleep, or less if somebody calls ``hurry``: then True."""
        try:
            async with asyncio.timeout(seconds):
                await self._hurry.wait()
        except TimeoutError:
            return False
        self._hurry.clear()
        return True

    def _lose(self, reason: str, retry_in_s: float | None) -> None:
        self.registered.clear()
        if not self._lost:
            log.warning("lost the tracker at %s: %s", self._url, reason)
        self._lost = True
        self._publish(TrackerLost(tracker=self._url, reason=reason, retry_in_s=retry_in_s))

    async def _ask(
        self, method: str, path: str, body: dict[str, Any] | None, timeout_s: float = REQUEST_TIMEOUT_S
    ) -> tuple[int, dict[str, Any]]:
        try:
            async with self._client.request(
                method,
                self._url + path,
                json=body,
                headers={"Authorization": f"Bearer {self._secret}"},
                timeout=aiohttp.ClientTimeout(total=timeout_s, sock_connect=5.0),
                allow_redirects=False,
            ) as response:
                fields = await response.json(content_type=None)
                return response.status, fields if isinstance(fields, dict) else {}
        except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as error:
            raise TrackerUnreachable(f"The tracker at {self._url} does not answer: {_reason(error)}.") from error


def _reason(error: Exception) -> str:
    """The system's words; the event loop's own would show a Python tuple."""
    if isinstance(error, asyncio.TimeoutError):
        return "it timed out"
    if isinstance(error, aiohttp.ClientConnectorError):
        number = error.os_error.errno
        words = os.strerror(number) if number is not None and number > 0 else error.os_error.strerror or str(error)
        return words.lower()
    return str(error) or type(error).__name__


def _sentence(fields: dict[str, Any], status: int) -> str:
    error = fields.get("error")
    if not isinstance(error, dict) or not isinstance(error.get("message"), str):
        return f"it answered {status}."
    hint = error.get("hint")
    return f"{error['message'][:500]} {hint[:500] if isinstance(hint, str) else ''}".strip()
