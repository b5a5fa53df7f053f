"""Two real nodes in this process, each with half of the real model in a child of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest_asyncio

from meshdesk.node.config import NodeConfig
from meshdesk.node.node import Node
from meshdesk.protocol.headers import ROUTE, SESSION
from meshdesk.protocol.routes import Hop, encode_route

MIDDLE, LAYERS = 15, 30


@dataclass
class Pair:
    """``head`` holds layers 0–14, ``tail`` the rest; they know no tracker, so any route is followed."""

    head: Node
    tail: Node
    client: aiohttp.ClientSession

    @property
    def route(self) -> str:
        return self.route_to(self.tail.url)

    def route_to(self, endpoint: str | None, relay_addr: str | None = None) -> str:
        return encode_route([Hop(endpoint, MIDDLE, LAYERS, relay_addr)])

    def open_chat(
        self,
        prompt: str | list[dict[str, str]] = "Name three colours.",
        *,
        route: str | None = None,
        session: str | None = None,
        path: str = "/v1/chat/completions",
        **fields: Any,
    ) -> Any:
        """The response of one chat, greedy unless told otherwise; an asynchronous context manager."""
        messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
        body = {"messages": messages} if "/chat/" in path else {"prompt": prompt}
        body |= {"temperature": 0, "max_tokens": 12, "meshdesk": {"hops": True}, **fields}
        headers = {ROUTE: self.route if route is None else route} | ({SESSION: session} if session else {})
        return self.client.post(self.head.url + path, json=body, headers=headers)

    async def chat(self, prompt: str | list[dict[str, str]] = "Name three colours.", **fields: Any) -> dict[str, Any]:
        """One whole answer, which must be a 200."""
        async with self.open_chat(prompt, **fields) as response:
            body: dict[str, Any] = await response.json()
            assert response.status == 200, body
            return body


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def pair(smollm2: Path) -> AsyncIterator[Pair]:
    head = Node(
        NodeConfig(
            model_path=smollm2,
            start_layer=0,
            end_layer=MIDDLE,
            threads=1,
            dtype="bfloat16",
            accept_unproven_routes=True,
            max_chats=2,
        )
    )
    tail = Node(NodeConfig(model_path=smollm2, start_layer=MIDDLE, end_layer=LAYERS, threads=1, dtype="bfloat16"))
    try:
        await head.start()
        await tail.start()
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=50)) as client:
            yield Pair(head, tail, client)
    finally:
        await head.stop()
        await tail.stop()


def text_of(answer: dict[str, Any]) -> str:
    choice = answer["choices"][0]
    return str(choice["message"]["content"] if "message" in choice else choice["text"])


def ids_of(answer: dict[str, Any]) -> list[int]:
    return list(answer["meshdesk"]["token_ids"])
