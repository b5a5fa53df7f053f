"""A TCP proxy between a node and its relay that cuts and refuses connections by their path."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Self
from urllib.parse import urlsplit


class CutProxy:
    """Passes octets on to ``upstream`` (``ws://HOST:PORT``) until told otherwise."""

    def __init__(self, upstream: str):
        parts = urlsplit(upstream)
        self._upstream = (parts.hostname, parts.port)
        self._server: asyncio.Server | None = None
        self._live: dict[asyncio.StreamWriter, str] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._cut_path: str | None = None
        self.url = ""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        host, port = self._server.sockets[0].getsockname()[:2]
        self.url = f"ws://{host}:{port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for writer in list(self._live):
            writer.transport.abort()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self, path: str) -> None:
        """End the connections that were opened for ``path``, and refuse further ones."""
        self._cut_path = path
        for writer, opened_for in self._live.items():
            if opened_for == path:
                writer.transport.abort()

    def mend(self) -> None:
        self._cut_path = None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            request = await reader.readuntil(b"\r\n")
            path = request.split()[1].decode()
            if path == self._cut_path:
                writer.transport.abort()
                return
            self._live[writer] = path
            onward_reader, onward = await asyncio.open_connection(*self._upstream)
            onward.write(request)
            try:
                await asyncio.gather(_pass_on(reader, onward), _pass_on(onward_reader, writer))
            finally:
                onward.transport.abort()
        self._live.pop(writer, None)
        writer.transport.abort()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while octets := await reader.read(65536):
            writer.write(octets)
            await writer.drain()
    finally:
        writer.transport.abort()
