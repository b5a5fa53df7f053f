"""The child process that holds a shard: ``python -m meshdesk.shard.worker``, spoken to in frames over pipes.

Three threads: one reads orders and answers what needs no model, the main thread computes forwards in
the order they came, one turns chats into tokens. The end of the orders ends the process at once, also
in the middle of a computation.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
import time
import traceback
from typing import TYPE_CHECKING, Any, NoReturn

from meshdesk.protocol.errors import MeshdeskError
from meshdesk.shard.child_messages import (
    error_to_fields,
    info_to_frame,
    result_to_frame,
    spec_from_fields,
    work_from_frame,
)
from meshdesk.shard.child_setup import (
    compute_threads,
    die_with_parent,
    offer_to_the_oom_killer,
    resident_bytes,
    take_pipes,
)
from meshdesk.shard.errors import SessionEnded, ShardBusy, ShardError
from meshdesk.shard.families import check_family
from meshdesk.shard.ipc import BadFrame, Frame, FrameReader, encode_frame
from meshdesk.shard.load_reports import LoadReports
from meshdesk.shard.model_repo import read_model_repo
from meshdesk.shard.shard_events import ShardLoading
from meshdesk.shard.spec import ShardSpec
from meshdesk.shard.work_queue import Closing, Waiting, WorkQueue

if TYPE_CHECKING:
    from meshdesk.shard.engine import ShardEngine

EXIT_ORDERS_ENDED = 0
EXIT_NOT_LOADED = 3
EXIT_BAD_ORDERS = 4
_READ_BYTES = 1 << 20
_MAX_TEXTS_WAITING = 64


class Worker:
    """The state the threads share. Every answer is one write, so answers of different threads never mix."""

    def __init__(self, orders: int, answers: int) -> None:
        self._orders = orders
        self._answers = answers
        self._write_lock = threading.Lock()
        self._to_load: queue.Queue[tuple[ShardSpec, tuple[str, str] | None]] = queue.Queue(1)
        self._work = WorkQueue()
        self._texts: queue.Queue[Frame] = queue.Queue(_MAX_TEXTS_WAITING)
        self._engine: ShardEngine | None = None
        self._started_at = time.monotonic()
        self._forwards = 0
        self._computing = False

    def run(self) -> NoReturn:
        """Load what the first order says, then compute until the orders end."""
        threading.Thread(target=self._read_orders, name="orders", daemon=True).start()
        try:
            engine = self._load(*self._to_load.get())
        except MeshdeskError as error:
            self._send({"op": "failed", "error": error_to_fields(error)})
            os._exit(EXIT_NOT_LOADED)
        self._engine = engine
        threading.Thread(target=self._encode_texts, args=(engine,), name="texts", daemon=True).start()
        fields, payload = info_to_frame(engine.info)
        self._send({"op": "ready", **fields}, payload)
        while True:
            order = self._work.take(engine.sessions.next_expiry())
            if order is None:
                engine.sessions.expire()
            elif isinstance(order, Closing):
                self._answer(order.number, {"closed": engine.sessions.drop(order.session)})
            else:
                self._forward(engine, order)

    def _load(self, spec: ShardSpec, dtypes: tuple[str, str] | None) -> ShardEngine:
        report = LoadReports(self._report)
        report(ShardLoading("importing"))
        # Looked at before the seconds that torch takes: a model that cannot be served is refused at once.
        repo = read_model_repo(spec.model_path)
        check_family(repo.config)
        repo.check_layers(spec.start_layer, spec.end_layer)
        import torch

        from meshdesk.shard.engine import ShardEngine

        torch.set_num_threads(compute_threads(spec.threads))
        return ShardEngine.load(spec, report, dtypes)

    def _forward(self, engine: ShardEngine, waiting: Waiting) -> None:
        queue_ms = (time.perf_counter() - waiting.came_at) * 1000.0
        self._computing = True
        try:
            fields, payload = result_to_frame(engine.forward(waiting.work, queue_ms))
        except MeshdeskError as error:
            if isinstance(error, ShardError) and error.__cause__ is not None:
                traceback.print_exception(error.__cause__)
            self._refuse(waiting.number, error)
        else:
            self._forwards += 1
            self._answer(waiting.number, fields, payload)
        finally:
            self._computing = False

    def _read_orders(self) -> None:
        reader = FrameReader()
        try:
            while data := os.read(self._orders, _READ_BYTES):
                for frame in reader.feed(data):
                    self._take(frame)
        except BaseException:
            # Whatever it was, nobody reads orders any more; a child that cannot be spoken to must not stay.
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(EXIT_BAD_ORDERS)
        os._exit(EXIT_ORDERS_ENDED)

    def _take(self, frame: Frame) -> None:
        if frame.op == "load":
            dtypes = frame.header.get("dtypes")
            self._to_load.put_nowait((spec_from_fields(frame.header["spec"]), dtypes and tuple(dtypes)))
            return
        number = frame.header.get("number")
        if not isinstance(number, int):
            raise BadFrame("An order without a number.")
        if frame.op == "forward":
            try:
                waiting = Waiting(number, work_from_frame(frame))
            except MeshdeskError as error:
                self._refuse(number, error)
                return
            if not self._work.put(waiting):
                self._refuse(number, ShardBusy("Too many forwards wait already.", retry_after=1.0))
        elif frame.op == "cancel":
            if self._work.cancel(number):
                self._answer(number, {})
        elif frame.op == "close":
            for dropped in self._work.close(Closing(number, str(frame.header.get("session")))):
                self._refuse(dropped, SessionEnded("The session was closed while this forward waited."))
        elif frame.op == "stats":
            self._answer(number, self._stats())
        elif frame.op in ("encode_chat", "encode_text"):
            try:
                self._texts.put_nowait(frame)
            except queue.Full:
                self._refuse(number, ShardBusy("Too many chats wait to be read already.", retry_after=1.0))
        else:
            raise BadFrame(f"Nobody knows the order {frame.op!r}.")

    def _stats(self) -> dict[str, Any]:
        sessions = self._engine.sessions if self._engine else None
        return {
            "sessions": len(sessions) if sessions else 0,
            "kv_bytes": sessions.used_bytes if sessions else 0,
            "kv_budget_bytes": sessions.budget_bytes if sessions else 0,
            "queued": len(self._work),
            "computing": self._computing,
            "forwards": self._forwards,
            "rss_bytes": resident_bytes(),
            "uptime_s": time.monotonic() - self._started_at,
        }

    def _encode_texts(self, engine: ShardEngine) -> NoReturn:
        while True:
            frame = self._texts.get()
            number = frame.header["number"]
            try:
                if engine.text is None:
                    raise ShardError("The model on this node has no tokenizer.")
                if frame.op == "encode_chat":
                    ids = engine.text.encode_chat(frame.header.get("messages"))
                else:
                    ids = engine.text.encode_text(frame.header.get("text"))
            except MeshdeskError as error:
                self._refuse(number, error)
            except Exception as error:
                traceback.print_exc()
                self._refuse(number, ShardError(f"The tokenizer failed ({type(error).__name__})."))
            else:
                self._answer(number, {"token_ids": ids})

    def _report(self, loading: ShardLoading) -> None:
        self._send({"op": "phase", "phase": loading.phase, "done": loading.bytes_done, "total": loading.bytes_total})

    def _answer(self, number: int, fields: dict[str, Any], payload: bytes = b"") -> None:
        self._send({"op": "answer", "number": number, **fields}, payload)

    def _refuse(self, number: int, error: MeshdeskError) -> None:
        self._send({"op": "refusal", "number": number, "error": error_to_fields(error)})

    def _send(self, header: dict[str, Any], payload: bytes = b"") -> None:
        rest = memoryview(encode_frame(header, payload))
        with self._write_lock:
            while rest:
                rest = rest[os.write(self._answers, rest) :]


def main() -> None:
    """Entry point of the child."""
    die_with_parent()
    offer_to_the_oom_killer()
    Worker(*take_pipes()).run()


if __name__ == "__main__":
    main()
