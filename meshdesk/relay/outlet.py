"""The writing side of one socket at the relay: what waits, since when, and when it is cut."""

from __future__ import annotations

import asyncio
import contextlib

from websockets.asyncio.server import ServerConnection, broadcast
from websockets.exceptions import ConnectionClosed
from websockets.protocol import State

from meshdesk.relay.limits import RelayLimits


class Outlet:
    """Bounds what the relay holds for one reader.

    Answers to a requester are never waited for, so that one slow requester cannot hold up the peer that
    serves others; it is cut when it already has ``queue_bytes`` waiting. Requests to a peer are waited
    for, one at a time, so that requesters feel a slow peer and the relay holds one frame for it.
    """

    def __init__(self, connection: ServerConnection, limits: RelayLimits):
        self._connection = connection
        self._limits = limits
        self._turn = asyncio.Lock()
        self._written = 0
        self._taken = 0
        self._taken_at = 0.0

    @property
    def waiting_bytes(self) -> int:
        """What has been written but not yet taken by the reader's side."""
        return self._connection.transport.get_write_buffer_size()

    def put(self, frame: bytes) -> None:
        """Write without waiting; a reader that is too far behind is cut instead."""
        if self.waiting_bytes > self._limits.queue_bytes:
            self.cut()
            return
        self._written += len(frame)
        broadcast([self._connection], frame, text=True)

    async def pass_on(self, frame: bytes) -> None:
        """Write when it is this frame's turn, and wait until the reader has room again; cut one that stalls."""
        async with self._turn:
            self._written += len(frame)
            try:
                async with asyncio.timeout(self._limits.stall_s):
                    await self._connection.send(frame, text=True)
            except TimeoutError:
                self.cut()
            except (ConnectionClosed, AttributeError):
                # AttributeError: as in close(). Its own handler notices too, and tells whoever waits.
                pass

    def cut_if_stalled(self, now: float) -> bool:
        """Called now and then: cut a reader that has something waiting and has taken nothing for ``stall_s``."""
        waiting = self.waiting_bytes
        taken = self._written - waiting
        if not waiting or taken != self._taken:
            self._taken, self._taken_at = taken, now
            return False
        if now - self._taken_at < self._limits.stall_s:
            return False
        self.cut()
        return True

    def cut(self) -> None:
        """Drop the connection with all that waits; a closing handshake would wait behind it."""
        if self._connection.state is not State.CLOSED:
            self._connection.transport.abort()

    async def close(self, code: int, reason: str) -> None:
        """The closing handshake, within the connection's own close timeout."""
        # AttributeError: asyncio's abort() fails on a transport that was closed with octets waiting.
        with contextlib.suppress(ConnectionClosed, AttributeError):
            await self._connection.close(code, reason)
