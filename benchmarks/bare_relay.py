"""The yardstick: the least a relay can be. It pairs ``/rpc/ID`` with ``/ws/ID`` and passes frames on unread."""

from __future__ import annotations

import asyncio

from websockets.asyncio.server import ServerConnection, serve

peers: dict[str, ServerConnection] = {}
requesters: dict[str, ServerConnection] = {}


async def connected(socket: ServerConnection) -> None:
    assert socket.request is not None
    role, name = socket.request.path.strip("/").split("/")
    mine, theirs = (peers, requesters) if role == "ws" else (requesters, peers)
    mine[name] = socket
    async for frame in socket:
        await theirs[name].send(frame)


async def run() -> None:
    async with serve(connected, "127.0.0.1", 0, compression=None, max_size=None) as server:
        print(next(iter(server.sockets)).getsockname()[1], flush=True)
        await server.serve_forever()


def main() -> None:
    asyncio.run(run())
