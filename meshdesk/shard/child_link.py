"""One life of a shard's child process as its parent sees it: started, spoken to in frames, ended.

Answers are matched to orders by number straight from the pipe's callback: no task and no queue lies
between a child's answer and whoever awaits it.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from meshdesk.protocol.errors import MeshdeskError
from meshdesk.shard.child_environment import child_environment as child_environment
from meshdesk.shard.child_environment import compute_environment
from meshdesk.shard.child_messages import error_from_fields, info_from_frame, spec_to_fields
from meshdesk.shard.child_process import ChildProcess
from meshdesk.shard.child_stderr import StderrLines
from meshdesk.shard.errors import ShardUnavailable
from meshdesk.shard.ipc import BadFrame, Frame, FrameReader, encode_frame
from meshdesk.shard.shard_events import ShardLoading
from meshdesk.shard.spec import ShardInfo, ShardSpec

WORKER_MODULE = "meshdesk.shard.worker"
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
        self._process: ChildProcess | None = None
        self._reader = FrameReader()
        self._stderr = StderrLines()
        self._orders: dict[int, _Order] = {}
        self._numbers = itertools.count(1)
        self._hang_timer: asyncio.TimerHandle | None = None
        self._linger_timer: asyncio.TimerHandle | None = None
        self._answered_at = 0.0
        self._why = ""

    @classmethod
    async def launch(
        cls, spec: ShardSpec, on_loading: Callable[[ShardLoading], None], like: ShardInfo | None = None
    ) -> ChildLink:
        """Start a child and tell it what to load, in the dtypes of ``like`` if given.

        ShardUnavailable if no process can be started.
        """
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
                WORKER_MODULE,
                env=compute_environment(dict(os.environ)),
                **options,
            )
        except OSError as error:
            raise ShardUnavailable(f"The shard's process cannot be started: {error.strerror}.") from error
        dtypes = None if like is None else (like.compute_dtype, like.wire_dtype)
        link._write({"op": "load", "spec": spec_to_fields(spec), "dtypes": dtypes})
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
        if self._process is not None:
            self._process.kill()

    async def stop(self, within_s: float) -> None:
        """End the orders, which ends the child at once; kill it if it is still there after ``within_s``."""
        self._why = self._why or "it was stopped"
        if self._transport is not None:
            stdin = self._transport.get_pipe_transport(0)
            if stdin is not None and not stdin.is_closing():
                # Not close(): that would first wait for octets the child may never read.
                cast(asyncio.WriteTransport, stdin).abort()
        done, _ = await asyncio.wait([self.ended], timeout=within_s)
        if not done:
            self.kill("it did not stop")
            await self.ended

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)
        if self._transport.get_returncode() is None:
            self._process = ChildProcess(self._transport.get_pid())

    def process_exited(self) -> None:
        if self._process is not None:
            self._process.close()

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
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            self.kill(f"it broke the protocol ({type(error).__name__})")

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1 and self._linger_timer is None:
            # A child that closed its answers is of no more use. Nearly always it is just ending.
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
            # All that may turn out malformed comes before the order is taken off the books.
            refusal = error_from_fields(frame.header.get("error")) if frame.op == "refusal" else None
            order = self._orders.pop(frame.header["number"], None)
            self._answered_at = self._loop.time()
            if order is not None and order.answer is not None and not order.answer.done():
                if refusal is None:
                    order.answer.set_result(frame)
                else:
                    order.answer.set_exception(refusal)
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
