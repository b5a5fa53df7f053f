"""A role as a child process: started with --json, followed by its lines, ended with its starter."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import sys
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import orjson

from meshdesk.protocol.errors import MeshdeskError
from meshdesk.shard.child_link import child_environment
from meshdesk.volunteer.debugging import debugging

role_log = logging.getLogger("meshdesk.role")
"""What the roles write to their own logs, for whoever keeps one log of all."""

_OWN_LINE = re.compile(r"\d{4}-\d\d-\d\d [\d:,]+ (?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL) (?P<said>.+)")
"""A line of a role's log; its time is now, near enough, and its level becomes the record's."""

STOP_S = 8.0
LINE_BYTES = 1 << 20
TAIL_LINES = 30
_PREFIX = "meshdesk: "

Fields = dict[str, Any]


class RoleFailed(MeshdeskError):
    """A program of the mesh did not start, or ended while it was needed."""

    code = "role_failed"


class ChildRole:
    """One meshdesk role in a process of its own. ``on_event`` gets each of its JSON lines and must not block."""

    def __init__(self, name: str, arguments: Sequence[str], on_event: Callable[[Fields], None] | None = None):
        self.name = name
        self._arguments = arguments
        self._on_event = on_event
        self._process: asyncio.subprocess.Process | None = None
        self._readers: list[asyncio.Task[None]] = []
        self._errors: deque[str] = deque(maxlen=TAIL_LINES)
        self._ready: asyncio.Future[Fields] | None = None
        self._ended: asyncio.Task[RoleFailed] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    async def start(self, within_s: float) -> Fields:
        """Start it and give its ready line; RoleFailed with its own last sentence if it ends or is too slow."""
        loop = asyncio.get_running_loop()
        self._ready = loop.create_future()
        try:
            self._process = process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",
                "-m",
                "meshdesk",
                *self._arguments,
                "--json",
                "--exit-with-parent",
                # It is never written to: its end tells the child that this process is gone.
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                limit=LINE_BYTES,
                env=child_environment(dict(os.environ)),
                **_own_group(),
            )
        except OSError as error:
            raise RoleFailed(f"The {self.name} cannot be started: {error.strerror}.") from error
        assert process.stdout is not None and process.stderr is not None
        self._readers = [
            asyncio.create_task(self._read_events(process.stdout), name=f"{self.name} events"),
            asyncio.create_task(self._read_errors(process.stderr), name=f"{self.name} log"),
        ]
        self._ended = asyncio.create_task(self._wait_end(), name=f"{self.name} end")
        waiting: set[asyncio.Future[Any]] = {self._ready, self._ended}
        await asyncio.wait(waiting, timeout=within_s, return_when=asyncio.FIRST_COMPLETED)
        if self._ready.done():
            return self._ready.result()
        if self._ended.done():
            raise self._ended.result()
        raise RoleFailed(f"The {self.name} was not ready within {within_s:.0f} s. {self._last_sentence()}".rstrip())

    async def ended(self) -> RoleFailed:
        """Wait until it ends by itself; the error says why."""
        assert self._ended is not None, "it is not started"
        return await asyncio.shield(self._ended)

    async def stop(self) -> None:
        """SIGTERM, and after STOP_S SIGKILL. Harmless if it has ended or was never started."""
        process = self._process
        if process is None:
            return
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
        try:
            async with asyncio.timeout(STOP_S):
                await process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        assert process.stdin is not None
        process.stdin.close()
        tasks = [*self._readers, *([self._ended] if self._ended else [])]
        # A grandchild that still holds the pipes must not hold up the stop.
        _, late = await asyncio.wait(tasks, timeout=STOP_S) if tasks else (set(), set())
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late)

    async def _read_events(self, stream: asyncio.StreamReader) -> None:
        async for line in stream:
            try:
                fields = orjson.loads(line)
            except orjson.JSONDecodeError:
                continue
            if not isinstance(fields, dict):
                continue
            if fields.get("event") == "ready" and self._ready is not None and not self._ready.done():
                self._ready.set_result(fields)
            if self._on_event is not None:
                self._on_event(fields)

    async def _read_errors(self, stream: asyncio.StreamReader) -> None:
        async for line in stream:
            text = line.decode(errors="replace").rstrip()
            self._errors.append(text)
            own = _OWN_LINE.fullmatch(text)
            level = logging.getLevelNamesMapping()[own["level"]] if own else logging.INFO
            role_log.log(level, "%s: %s", self.name, own["said"] if own else text)
            if debugging():
                print(f"[{self.name}] {text}", file=sys.stderr)

    async def _wait_end(self) -> RoleFailed:
        assert self._process is not None
        code = await self._process.wait()
        await asyncio.wait(self._readers, timeout=STOP_S)
        return RoleFailed(f"The {self.name} ended: {self._last_sentence() or f'exit code {code}.'}")

    def _last_sentence(self) -> str:
        """What it said for people last, else the last line of its log."""
        said = [line.removeprefix(_PREFIX) for line in self._errors if line.startswith(_PREFIX)]
        return said[-1] if said else (self._errors[-1] if self._errors else "")


def _own_group() -> dict[str, Any]:
    """Ctrl-C in a terminal shall reach the starter alone, which then ends its children in order."""
    if sys.platform == "win32":
        import subprocess

        return {"creationflags": subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"process_group": 0}
