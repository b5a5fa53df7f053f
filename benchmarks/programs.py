"""The other processes of a benchmark: a relay of ours, the bare one, and peers that answer for it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator

import psutil

ECHO_PEER = """
import asyncio, sys
from websockets.asyncio.client import connect
async def main():
    async with connect(sys.argv[1], compression=None, max_size=None, proxy=None) as socket:
        print("ready", flush=True)
        async for frame in socket:
            await socket.send(frame)
asyncio.run(main())
"""


@contextlib.asynccontextmanager
async def program(*arguments: str) -> AsyncIterator[tuple[str, psutil.Process]]:
    """A Python process, its first line on stdout, and a look at what it uses."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=os.environ,
    )
    assert process.stdout is not None
    draining: asyncio.Task[bytes] | None = None
    try:
        line = (await asyncio.wait_for(process.stdout.readline(), 60)).decode().strip()
        draining = asyncio.create_task(process.stdout.read())
        yield line, psutil.Process(process.pid)
    finally:
        process.terminate()
        await process.wait()
        if draining is not None:
            await draining


@contextlib.asynccontextmanager
async def bare_relay() -> AsyncIterator[tuple[str, psutil.Process]]:
    """The bare relay's base URL."""
    async with program("-c", "from benchmarks.bare_relay import main; main()") as (port, process):
        yield f"ws://127.0.0.1:{port}", process


@contextlib.asynccontextmanager
async def our_relay() -> AsyncIterator[tuple[str, psutil.Process]]:
    """meshdesk's relay as a person starts it; its base URL."""
    async with program("-m", "meshdesk", "relay", "--json", "--port", "0") as (line, process):
        yield json.loads(line)["url"], process


@contextlib.asynccontextmanager
async def echo_peer(url: str) -> AsyncIterator[None]:
    """A peer of the bare relay that sends every frame back."""
    async with program("-c", ECHO_PEER, url):
        yield
