"""Work on model files that needs heavy libraries or the network, done in a child process of its own.

Parent side: ``run_job`` starts ``python -m MODULE``, follows its progress and gives its result.
Child side: ``serve_job`` runs the work and speaks JSON lines on what was its standard output.
"""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import orjson

from meshdesk.protocol.errors import MeshdeskError

TAIL_LINES = 20
END_S = 5.0
STOP_POLL_S = 0.25


@dataclass(frozen=True, slots=True)
class ModelProgress:
    """How far the making of a model's files is: ``step`` in words, ``done`` of ``total`` octets (0: not known)."""

    step: str
    done: int = 0
    total: int = 0


OnProgress = Callable[[ModelProgress], None]
Report = Callable[[str, int, int], None]


class ModelUnavailable(MeshdeskError):
    """The model's files could not be made or fetched."""

    code = "model_unavailable"
    status = 503


class ModelStopped(MeshdeskError):
    """Somebody no longer wants the model; what was made so far is kept where it can be continued."""

    code = "model_stopped"
    status = 503


def run_job(
    module: str,
    arguments: Sequence[str],
    *,
    what: str,
    environment: Mapping[str, str],
    silence_s: float,
    on_progress: OnProgress,
    stopped: threading.Event | None = None,
) -> str:
    """Run ``python -m module`` and give the string it ends with; blocks, so never on an event loop.

    Raises ModelUnavailable with the child's own sentence, or if it dies, or if it shows no progress for
    ``silence_s``; ModelStopped within STOP_POLL_S after another thread sets ``stopped``. ``what`` says in
    the error's sentence what failed. The child never outlives this call.
    """
    try:
        child = subprocess.Popen(
            [sys.executable, "-P", "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment),
        )
    except OSError as error:
        raise ModelUnavailable(f"{what} failed: no process could be started ({error.strerror}).") from error
    lines: queue.Queue[bytes | None] = queue.Queue(1000)
    tail: deque[bytes] = deque(maxlen=TAIL_LINES)
    readers = [
        threading.Thread(target=_read_lines, args=(child.stdout, lines.put), daemon=True),
        threading.Thread(target=_read_lines, args=(child.stderr, lambda line: tail.append(line or b"")), daemon=True),
    ]
    for reader in readers:
        reader.start()
    try:
        result = _follow(lines, what, silence_s, on_progress, stopped or threading.Event())
    finally:
        with contextlib.suppress(OSError):
            assert child.stdin is not None
            child.stdin.close()
        if sys.exc_info()[0] is not None:
            child.kill()
        try:
            child.wait(END_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        # Whoever reads must not wait on a full queue for a follower that has gone.
        with contextlib.suppress(queue.Empty):
            while True:
                lines.get_nowait()
        for reader in readers:
            reader.join(END_S)
        for stream in (child.stdout, child.stderr):
            assert stream is not None
            stream.close()
    if result is None:
        last = next((line for line in reversed(tail) if line.strip()), b"").decode(errors="replace").strip()
        raise ModelUnavailable(f"{what} failed: its process ended ({last or f'code {child.returncode}'}).")
    return result


def _read_lines(stream: Any, put: Callable[[bytes | None], None]) -> None:
    with contextlib.suppress(ValueError, OSError):
        for line in stream:
            put(line)
    put(None)


def _follow(
    lines: queue.Queue[bytes | None],
    what: str,
    silence_s: float,
    on_progress: OnProgress,
    stopped: threading.Event,
) -> str | None:
    """The child's result; None if it ended without one."""
    moved_at, last = time.monotonic(), None
    while True:
        if stopped.is_set():
            raise ModelStopped(f"{what} was stopped.")
        left = moved_at + silence_s - time.monotonic()
        try:
            line = lines.get(timeout=max(0.0, min(STOP_POLL_S, left)))
        except queue.Empty:
            if left > STOP_POLL_S:
                continue
            raise ModelUnavailable(f"{what} failed: it made no progress for {silence_s:.0f} s.") from None
        if line is None:
            return None
        try:
            fields = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if "result" in fields:
            return str(fields["result"])
        if "error" in fields:
            raise ModelUnavailable(f"{what} failed: {fields['error']}", hint=fields.get("hint"))
        progress = ModelProgress(str(fields["step"]), int(fields["done"]), int(fields["total"]))
        if progress != last:
            moved_at, last = time.monotonic(), progress
            on_progress(progress)


class JobFailed(Exception):
    """Raised by a job's work, in the child: a sentence for the parent, and what to do about it."""

    def __init__(self, sentence: str, hint: str | None = None):
        super().__init__(sentence)
        self.hint = hint


def serve_job(work: Callable[[Report], str]) -> NoReturn:
    """Child side: do ``work`` and end the process. It ends at once when its parent is gone."""
    from meshdesk.shard.child_setup import die_with_parent, take_pipes

    die_with_parent()
    orders, answers = take_pipes()
    threading.Thread(target=_end_with, args=(orders,), daemon=True).start()

    def send(fields: dict[str, Any]) -> None:
        os.write(answers, orjson.dumps(fields) + b"\n")

    def report(step: str, done: int = 0, total: int = 0) -> None:
        send({"step": step, "done": done, "total": total})

    try:
        send({"result": work(report)})
    except JobFailed as error:
        send({"error": str(error), "hint": error.hint})
    except Exception as error:
        import traceback

        traceback.print_exc()
        send({"error": f"{str(error).splitlines()[0][:300] if str(error) else type(error).__name__}"})
    sys.stderr.flush()
    os._exit(0)


def _end_with(orders: int) -> None:
    """The parent never writes; the end of the pipe means that it is gone, also where no kernel tells us."""
    while os.read(orders, 4096):
        pass
    os._exit(0)
