"""One life of a shard's child process as its parent sees it: started, spoken to in frames, ended.

Answers are matched to orders by number straight from the pipe's callback: no task and no queue lies
between a child's answer and whoever awaits it.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import meshdesk
from meshdesk.protocol.errors import MeshdeskError
from meshdesk.shard.child_messages import error_from_fields, info_from_frame, spec_to_fields
from meshdesk.shard.errors import ShardError, ShardUnavailable
from meshdesk.shard.ipc import BadFrame, Frame, FrameReader, encode_frame
from meshdesk.shard.shard_events import ShardLoading
from meshdesk.shard.spec import ShardInfo, ShardSpec

child_log = logging.getLogger("meshdesk.shard.child")

LINE_CHARACTERS = 2_000
LINES_PER_WINDOW = 100
LINE_WINDOW_S = 10.0
TAIL_LINES = 8
LINGER_S = 2.0


@dataclass(slots=True)
class _Order:
    """An order without an answer yet. ``answer`` is None once nobody waits for it any more."""

    answer: asyncio.Future[Frame] | None
    due_after_s: float | None
    """How long the child may take for it once it is the oldest and nothing else was answered."""


class ChildLink(asyncio.SubprocessProtocol):
    """A child process and the orders that are open in it.

    ``ready`` gives the ShardInfo or the typed error the child could not load with; ``ended`` gives
    the reason when the process is gone and its pipes are read to the end. Neither is ever cancelled
    by this class.
    """

    def __init__(self, on_loading: Callable[[ShardLoading], None]) -> None:
        loop = asyncio.get_running_loop()
        self.ready: asyncio.Future[ShardInfo] = loop.create_future()
        self.ended: asyncio.Future[str] = loop.create_future()
        self.progressed_at = loop.time()
        self._loop = loop
        self._on_loading = on_loading
        self._transport: asyncio.SubprocessTransport | None = None
        self._reader = FrameReader()
        self._stderr = _StderrLines()
        self._orders: dict[int, _Order] = {}
        self._numbers = itertools.count(1)
        self._hang_timer: asyncio.TimerHandle | None = None
        self._linger_timer: asyncio.TimerHandle | None = None
        self._answered_at = 0.0
        self._why = ""

    @classmethod
    async def launch(cls, spec: ShardSpec, on_loading: Callable[[ShardLoading], None]) -> ChildLink:
        """Start a child and tell it what to load; ShardUnavailable if no process can be started."""
        loop = asyncio.get_running_loop()
        options: dict[str, Any] = {}
        if sys.platform == "win32":
            import subprocess

            options["creationflags"] = subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP
        else:
            # Its own process group, so that Ctrl-C in a terminal reaches the parent alone.
            options["process_group"] = 0
        try:
            _, link = await loop.subprocess_exec(
                lambda: cls(on_loading),
                sys.executable,
                "-P",
                "-m",
                "meshdesk.shard.worker",
                env=child_environment(dict(os.environ)),
                **options,
            )
        except OSError as error:
            raise ShardUnavailable(f"The shard's process cannot be started: {error.strerror}.") from error
        link._write({"op": "load", "spec": spec_to_fields(spec)})
        return link

    @property
    def pid(self) -> int | None:
        return self._transport.get_pid() if self._transport else None

    @property
    def open_orders(self) -> int:
        """Orders without an answer, also those nobody waits for any more."""
        return len(self._orders)

    async def order(
        self,
        fields: dict[str, Any],
        payload: bytes | bytearray | memoryview = b"",
        *,
        hang_s: float | None = None,
    ) -> Frame:
        """Send one order and wait for its answer; raises the typed error the child refuses with.

        If the waiter is cancelled the order is taken back where it has not begun. A child that answers
        nothing for ``hang_s`` seconds while this order is its oldest is taken for hung and killed.
        """
        if self.ended.done() or self._transport is None:
            raise self._gone()
        number = next(self._numbers)
        data = encode_frame({**fields, "number": number}, payload)
        answer: asyncio.Future[Frame] = self._loop.create_future()
        self._orders[number] = _Order(answer, hang_s)
        self._write_octets(data)
        self._watch()
        try:
            return await answer
        except asyncio.CancelledError:
            order = self._orders.get(number)
            if order is not None:
                order.answer = None
                self._write({"op": "cancel", "number": number})
            raise

    def kill(self, why: str) -> None:
        """End the process now; ``why`` becomes the reason it is reported with."""
        self._why = self._why or why
        if self._transport is not None and self._transport.get_returncode() is None:
            try:
                self._transport.kill()
            except ProcessLookupError:
                pass

    async def stop(self, within_s: float) -> None:
        """End the orders, which ends the child at once; kill it if it is still there after ``within_s``."""
        self._why = self._why or "it was stopped"
        if self._transport is not None:
            stdin = self._transport.get_pipe_transport(0)
            if stdin is not None:
                # Not close(): that would first wait for octets the child may never read.
                cast(asyncio.WriteTransport, stdin).abort()
        done, _ = await asyncio.wait([self.ended], timeout=within_s)
        if not done:
            self.kill("it did not stop")
            await self.ended

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)

    def pipe_data_received(self, fd: int, data: bytes | str) -> None:
        assert isinstance(data, bytes)
        if fd == 2:
            self._stderr.feed(data)
            return
        try:
            for frame in self._reader.feed(data):
                self._take(frame)
        except BadFrame as error:
            self.kill(f"it broke the protocol ({error.message})")

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1 and self._linger_timer is None:
            # A child that closed its answers is of no more use. Nearly always it is just ending; killing it
            # at this moment would race with the loop's own wait for its exit code.
            self._linger_timer = self._loop.call_later(LINGER_S, self.kill, "it closed its pipes")

    def connection_lost(self, exc: Exception | None) -> None:
        self._stderr.end()
        returncode = self._transport.get_returncode() if self._transport else None
        if self._transport is not None:
            self._transport.close()
        for timer in (self._hang_timer, self._linger_timer):
            if timer is not None:
                timer.cancel()
        self._why = self._why or self._describe_exit(returncode)
        if not self.ended.done():
            self.ended.set_result(self._why)
        orders, self._orders = self._orders, {}
        for order in orders.values():
            if order.answer is not None and not order.answer.done():
                order.answer.set_exception(self._gone())
        if not self.ready.done():
            self.ready.set_exception(self._gone())
            self.ready.exception()  # Nobody may be waiting for it, and that is no fault.

    def _take(self, frame: Frame) -> None:
        if frame.op in ("answer", "refusal"):
            self._answered_at = self._loop.time()
            order = self._orders.pop(frame.header.get("number", 0), None)
            if order is not None and order.answer is not None and not order.answer.done():
                if frame.op == "answer":
                    order.answer.set_result(frame)
                else:
                    order.answer.set_exception(error_from_fields(frame.header.get("error")))
        elif frame.op == "phase":
            self.progressed_at = self._loop.time()
            fields = frame.header
            self._on_loading(ShardLoading(fields["phase"], int(fields["done"]), int(fields["total"])))
        elif frame.op == "ready" and not self.ready.done():
            self.ready.set_result(info_from_frame(frame))
        elif frame.op == "failed" and not self.ready.done():
            error = error_from_fields(frame.header.get("error"))
            self._why = error.message
            self.ready.set_exception(error)
            self.ready.exception()
        else:
            raise BadFrame(f"The child sent {frame.op!r} out of turn.")

    def _write(self, header: dict[str, Any]) -> None:
        self._write_octets(encode_frame(header))

    def _write_octets(self, data: bytes) -> None:
        stdin = self._transport.get_pipe_transport(0) if self._transport else None
        if stdin is not None:
            cast(asyncio.WriteTransport, stdin).write(data)

    def _watch(self) -> None:
        """Keep a timer on the oldest order that has a limit, counted from the last sign of life."""
        if self._hang_timer is None:
            self._answered_at = max(self._answered_at, self._loop.time())
            limit = next((order.due_after_s for order in self._orders.values() if order.due_after_s), None)
            if limit is not None:
                self._hang_timer = self._loop.call_at(self._answered_at + limit, self._look, limit)

    def _look(self, limit: float) -> None:
        self._hang_timer = None
        limits = [order.due_after_s for order in self._orders.values() if order.due_after_s]
        if not limits:
            return
        due = self._answered_at + limits[0]
        if self._loop.time() >= due:
            self.kill(f"it computed for {limits[0]:.0f} s without an answer")
        else:
            self._hang_timer = self._loop.call_at(due, self._look, limits[0])

    def _gone(self) -> MeshdeskError:
        why = self._why or "it is gone"
        return ShardUnavailable(f"The shard's process ended: {why}.", retry_after=1.0, delivered=None)

    def _describe_exit(self, returncode: int | None) -> str:
        if returncode is None:
            return "its pipes broke"
        if returncode < 0:
            try:
                name = signal.Signals(-returncode).name
            except ValueError:
                name = f"signal {-returncode}"
            memory = " (the system does this when memory runs out)" if name == "SIGKILL" else ""
            return f"it was ended by {name}{memory}"
        last = self._stderr.last()
        return f"it ended with code {returncode}" + (f" after: {last}" if last else "")


class _StderrLines:
    """A child's standard error as log lines: bounded in length and number, the last few kept."""

    def __init__(self) -> None:
        self._rest = b""
        self._tail: deque[str] = deque(maxlen=TAIL_LINES)
        self._window_began = 0.0
        self._in_window = 0

    def feed(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._log(line)
        if len(self._rest) > 4 * LINE_CHARACTERS:
            self._log(self._rest)
            self._rest = b""

    def end(self) -> None:
        if self._rest:
            self._log(self._rest)
            self._rest = b""

    def last(self) -> str:
        return self._tail[-1] if self._tail else ""

    def _log(self, line: bytes) -> None:
        text = line.decode("utf-8", "replace").rstrip()[:LINE_CHARACTERS]
        if not text:
            return
        self._tail.append(text)
        now = time.monotonic()
        if now - self._window_began > LINE_WINDOW_S:
            self._window_began, self._in_window = now, 0
        self._in_window += 1
        if self._in_window <= LINES_PER_WINDOW:
            child_log.warning("%s", text)
        elif self._in_window == LINES_PER_WINDOW + 1:
            child_log.warning("The shard's process writes too much; what follows is left out for a while.")


def child_environment(environment: dict[str, str]) -> dict[str, str]:
    """The environment of a child: no network for the libraries, no tokens, and this meshdesk to import."""
    for secret in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HUGGINGFACE_HUB_TOKEN"):
        environment.pop(secret, None)
    # The parent may have found meshdesk by a path the child would not look at.
    home = str(Path(meshdesk.__file__).resolve().parent.parent)
    paths = [home, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    return {
        **environment,
        "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths)),
        "PYTHONUNBUFFERED": "1",
        "PYTHONIOENCODING": "utf-8",
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }


def as_shard_error(error: BaseException) -> MeshdeskError:
    """Any failure as a typed error."""
    return error if isinstance(error, MeshdeskError) else ShardError(f"The shard failed ({type(error).__name__}).")
