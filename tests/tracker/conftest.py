from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import aiohttp
import pytest_asyncio

from meshdesk.tracker.config import TrackerConfig
from meshdesk.tracker.server import TrackerServer
from tests.tracker.records import registration

StartTracker = Callable[..., Awaitable[TrackerServer]]
Join = Callable[..., Awaitable[bytes]]


@pytest_asyncio.fixture
async def start_tracker() -> AsyncIterator[StartTracker]:
    """Start a tracker that takes loopback addresses; settings as for TrackerConfig."""
    started: list[TrackerServer] = []

    async def start(**settings: Any) -> TrackerServer:
        tracker = TrackerServer(TrackerConfig(**{"allow_loopback": True, "shutdown_s": 0.2, **settings}))
        await tracker.start()
        started.append(tracker)
        return tracker

    yield start
    for tracker in started:
        await tracker.stop()


@pytest_asyncio.fixture
async def tracker(start_tracker: StartTracker) -> TrackerServer:
    return await start_tracker()


@pytest_asyncio.fixture
async def client() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


@pytest_asyncio.fixture
async def join(client: aiohttp.ClientSession) -> Join:
    """Register a node; gives its route key."""

    async def register(tracker: TrackerServer, node_id: str, start: int = 0, end: int = 30, **fields: Any) -> bytes:
        body = registration(node_id, start, end, **{"endpoint": None, **fields})
        async with client.post(tracker.url + "/v1/nodes", json=body) as response:
            assert response.status == 200, await response.text()
            return bytes.fromhex((await response.json())["route_key"])

    return register
