"""The answering side of the control socket: what a running meshdesk can be asked and told by its own user."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import logging
import os
import secrets
import socket
import sys
from collections.abc import AsyncIterator
from typing import Any, Protocol

import orjson

from meshdesk.protocol.errors import MeshdeskError
from meshdesk.volunteer.control_places import Place, own_directory
from meshdesk.volunteer.control_protocol import (
    MAX_REQUEST_BYTES,
    BadControl,
    Command,
    ControlError,
    Request,
    encode_end,
    encode_error,
    encode_item,
    encode_result,
    parse_request,
)

log = logging.getLogger(__name__)

MAX_CLIENTS = 32
READ_S = 5.0
WRITE_S = 10.0
"""How long a client may leave an answer unread."""
CALL_S = 15.0
HANDING_OVER_TURNS = 4
DOCTOR_S = 140.0


class Controlled(Protocol):
    """What can be controlled. A call that is not possible raises NotPossible, whose sentence is answered.

    Calls return once what they ask for is on its way; the status says how far it has come.
    """

    def status(self) -> dict[str, Any]: ...

    def watch(self) -> AsyncIterator[dict[str, Any]]:
        """The status now and after each change."""

    async def join(self) -> None: ...

    async def leave(self) -> None: ...

    async def pause(self, seconds: float | None) -> None: ...

    async def resume(self) -> None: ...

    async def quit(self) -> None: ...

    def logs(self, follow: bool) -> AsyncIterator[dict[str, Any]]: ...

    def hops(self, follow: bool) -> AsyncIterator[dict[str, Any]]: ...

    async def doctor(self) -> list[dict[str, Any]]: ...

    def show(self, window: str) -> None: ...


class ControlServer:
    """Listens at ``place``, whose lock the caller holds, between ``start`` and ``close``."""

    def __init__(self, controlled: Controlled, place: Place):
        self._controlled = controlled
        self._place = place
        self._token = "" if place.unix else secrets.token_urlsafe(32)
        self._server: asyncio.Server | None = None
        self._clients: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Listen; a socket that a crash left behind is replaced. Raises NoPlace or OSError."""
        listening = await asyncio.to_thread(self._bind)
        try:
            limit = MAX_REQUEST_BYTES
            if self._place.unix:
                self._server = await asyncio.start_unix_server(self._accept, sock=listening, limit=limit)
            else:
                self._server = await asyncio.start_server(self._accept, sock=listening, limit=limit)
        except BaseException:
            listening.close()
            raise

    async def close(self) -> None:
        """Listen no more, cut off whoever still listens, and clear the place."""
        if self._server is None:
            return
        await self._let_in_who_knocked()
        self._server.close()
        clients = list(self._clients)
        for client in clients:
            client.cancel()
        await asyncio.gather(*clients, return_exceptions=True)
        await self._server.wait_closed()
        self._server = None
        with contextlib.suppress(OSError):
            await asyncio.to_thread(self._place.path.unlink, missing_ok=True)

    async def _let_in_who_knocked(self) -> None:
        """Accept no more, and see those through whom asyncio is about to hand over.

        A server that is closed between the two loses their sockets, which then complain that nobody closed them.
        """
        assert self._server is not None
        loop = asyncio.get_running_loop()
        with contextlib.suppress(NotImplementedError):
            for listening in self._server.sockets:
                loop.remove_reader(listening.fileno())
        for _ in range(HANDING_OVER_TURNS):
            await asyncio.sleep(0)

    def _bind(self) -> socket.socket:
        own_directory(self._place)
        path = self._place.path
        path.unlink(missing_ok=True)
        if not self._place.unix:
            listening = socket.create_server(("127.0.0.1", 0))
            self._tell_port(listening.getsockname()[1])
            return listening
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            if sys.platform == "linux":
                # The file is then never there with wider rights, not even for a moment.
                os.fchmod(listening.fileno(), 0o600)
            listening.bind(str(path))
            path.chmod(0o600)
            listening.listen(MAX_CLIENTS)
        except BaseException:
            listening.close()
            raise
        return listening

    def _tell_port(self, port: int) -> None:
        partial = self._place.path.with_suffix(".partial")
        partial.unlink(missing_ok=True)
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(orjson.dumps({"port": port, "token": self._token}))
        partial.replace(self._place.path)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Own the client from its first moment; asyncio would start a task that nobody knows yet."""
        full = len(self._clients) >= MAX_CLIENTS
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer, full), name="control client")
        self._clients.add(task)
        task.add_done_callback(self._clients.discard)
        # Also of one that was cancelled before it began.
        task.add_done_callback(lambda _: writer.transport.abort())

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, full: bool) -> None:
        try:
            if full:
                await _write(writer, encode_error(ControlError("Too many commands listen at once.")))
            else:
                await self._answer(reader, writer)
            writer.close()
            await writer.wait_closed()
        except (OSError, TimeoutError):
            # The client has gone, or does not read.
            log.debug("a command went away", exc_info=True)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await self._read(reader)
            if request is None:
                return
            if request.command in (Command.WATCH, Command.LOGS, Command.HOPS):
                await self._stream(request, reader, writer)
                return
            limit = DOCTOR_S if request.command is Command.DOCTOR else CALL_S
            async with asyncio.timeout(limit):
                result = await self._call(request)
            answer = encode_result(result)
        except MeshdeskError as error:
            answer = encode_error(error)
        except TimeoutError:
            answer = encode_error(ControlError("It took too long and was given up.", hint="See the log."))
        except OSError:
            raise
        except Exception as error:
            log.exception("a command failed")
            answer = encode_error(ControlError(f"This is a fault of meshdesk ({type(error).__name__}: {error})."))
        await _write(writer, answer)

    async def _read(self, reader: asyncio.StreamReader) -> Request | None:
        """The request; None from who only looks whether somebody listens."""
        try:
            async with asyncio.timeout(READ_S):
                line = await reader.readuntil(b"\n")
        except asyncio.IncompleteReadError as error:
            if not error.partial:
                return None
            raise BadControl("The line is cut short.") from None
        except asyncio.LimitOverrunError:
            raise BadControl("The line is too long.") from None
        except TimeoutError:
            raise BadControl("No command came.") from None
        request = parse_request(line)
        if not hmac.compare_digest(request.token.encode(), self._token.encode()):
            raise BadControl("The command does not know this meshdesk's token.")
        return request

    async def _call(self, request: Request) -> Any:
        controlled = self._controlled
        match request.command:
            case Command.JOIN:
                await controlled.join()
            case Command.LEAVE:
                await controlled.leave()
            case Command.PAUSE:
                await controlled.pause(request.args["seconds"])
            case Command.RESUME:
                await controlled.resume()
            case Command.QUIT:
                await controlled.quit()
            case Command.SHOW:
                controlled.show(request.args["window"])
            case Command.DOCTOR:
                return await controlled.doctor()
        return controlled.status()

    async def _stream(self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Items until there are no more or the client goes: it says nothing more, so its end is all that can come."""
        sending = asyncio.ensure_future(self._send_items(request, writer))
        leaving = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sending, leaving):
                task.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)
        if not sending.cancelled():
            sending.result()

    async def _send_items(self, request: Request, writer: asyncio.StreamWriter) -> None:
        match request.command:
            case Command.WATCH:
                items = self._controlled.watch()
            case Command.LOGS:
                items = self._controlled.logs(request.args["follow"])
            case _:
                items = self._controlled.hops(request.args["follow"])
        async with contextlib.aclosing(items) as closing:  # type: ignore[type-var]
            async for item in closing:
                await _write(writer, encode_item(item))
        await _write(writer, encode_end())


async def _write(writer: asyncio.StreamWriter, line: bytes) -> None:
    writer.write(line)
    async with asyncio.timeout(WRITE_S):
        await writer.drain()
