"""A relay on loopback, and bare WebSocket ends that know nothing of meshdesk but the ADR."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest_asyncio
from websockets.asyncio.client import ClientConnection, connect

from meshdesk.relay.limits import RelayLimits
from meshdesk.relay.server import RelayConfig, RelayServer

SECRET = "a-secret-of-its-own"


class Bare:
    """One socket that speaks JSON text frames, written by hand."""

    def __init__(self, socket: ClientConnection):
        self.socket = socket

    async def send(self, **fields: Any) -> None:
        await self.socket.send(json.dumps(fields))

    async def receive(self) -> dict[str, Any]:
        frame = await self.socket.recv()
        assert isinstance(frame, str), "frames are text"
        fields = json.loads(frame)
        assert isinstance(fields, dict)
        return fields

    async def ask(self, **fields: Any) -> dict[str, Any]:
        await self.send(**fields)
        return await self.receive()


class Ends:
    """Opens bare ends at ``relay`` and closes them at the end of the test."""

    def __init__(self, relay: RelayServer):
        self.relay = relay
        self._open: list[ClientConnection] = []

    async def dial(self, path: str) -> Bare:
        socket = await connect(self.relay.url + path, compression=None, max_size=None, close_timeout=0.5, proxy=None)
        self._open.append(socket)
        return Bare(socket)

    async def peer(self, peer_id: str = "peer-1", secret: str = SECRET) -> Bare:
        """A registered peer."""
        peer = await self.dial("/ws")
        answer = await peer.ask(type="register", peer_id=peer_id, secret=secret)
        assert (answer["type"], answer["peer_id"]) == ("registered", peer_id)
        return peer

    async def requester(self, peer_id: str = "peer-1") -> Bare:
        return await self.dial(f"/rpc/{peer_id}")

    async def close(self) -> None:
        for socket in self._open:
            # asyncio's abort() fails on a transport that was closed with octets waiting.
            with contextlib.suppress(AttributeError):
                await socket.close()


LIMITS = RelayLimits(first_answer_s=300)


@pytest_asyncio.fixture
async def ends() -> AsyncIterator[Ends]:
    """A relay with its usual numbers."""
    async for each in serve(LIMITS):
        yield each


async def serve(limits: RelayLimits) -> AsyncIterator[Ends]:
    relay = RelayServer(RelayConfig(limits=limits))
    await relay.start()
    ends = Ends(relay)
    try:
        yield ends
    finally:
        await ends.close()
        await relay.stop()
