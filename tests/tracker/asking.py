"""Asking a tracker as a client does."""

from __future__ import annotations

from typing import Any

import aiohttp

from meshdesk.tracker.server import TrackerServer
from tests.tracker.heads import chunk, event
from tests.tracker.records import MODEL

QUESTION: dict[str, Any] = {"model": MODEL, "messages": [{"role": "user", "content": "Hi"}]}
FIRST = event(chunk("Hel"))


def ask(client: aiohttp.ClientSession, tracker: TrackerServer, path: str = "chat/completions", **fields: Any) -> Any:
    return client.post(f"{tracker.url}/v1/{path}", json=QUESTION | {"stream": True} | fields)


async def error_of(response: aiohttp.ClientResponse) -> dict[str, Any]:
    error = (await response.json())["error"]
    assert error.keys() >= {"message", "type", "param", "code"}
    return dict(error)


async def metrics(client: aiohttp.ClientSession, tracker: TrackerServer) -> str:
    async with client.get(tracker.url + "/metrics") as response:
        return await response.text()
