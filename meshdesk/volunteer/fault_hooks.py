"""Whatever nobody caught goes into the log: of the main thread, other threads, finalisers, the event loop.

All of it is logged under FAULT_LOGGER with its traceback; nothing is printed as it is, for the text of an
exception may hold a secret.
"""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import io
import logging
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from meshdesk.volunteer.log_records import FAULT_LOGGER
from meshdesk.volunteer.log_redaction import redacted_exception

log = logging.getLogger(FAULT_LOGGER)

CRASH_FILE = "crash.txt"
CRASH_BYTES = 64 << 10
_LoopHandler = Callable[[asyncio.AbstractEventLoop, dict[str, Any]], object]


class FaultHooks:
    """Takes the interpreter's hooks from its making to ``close``, which gives them back."""

    def __init__(self) -> None:
        self._before = (sys.excepthook, threading.excepthook, sys.unraisablehook)
        # Bound methods are made anew at each look; one of each is kept to be told apart later.
        self._hooks = (self._uncaught, self._uncaught_in_thread, self._unraisable)
        sys.excepthook, threading.excepthook, sys.unraisablehook = self._hooks
        self._loops: list[tuple[asyncio.AbstractEventLoop, _LoopHandler | None]] = []

    def attach_loop(self, loop: asyncio.AbstractEventLoop) -> None:
        """Log what goes wrong in ``loop`` outside of anybody's await."""
        # qasync's loop cannot tell its handler; it begins with none.
        before = loop.get_exception_handler() if hasattr(loop, "get_exception_handler") else None
        self._loops.append((loop, before))
        loop.set_exception_handler(self._failed_in_loop)

    def close(self) -> None:
        """Give back every hook that still is ours."""
        uncaught, in_thread, unraisable = self._hooks
        if sys.excepthook is uncaught:
            sys.excepthook = self._before[0]
        if threading.excepthook is in_thread:
            threading.excepthook = self._before[1]
        if sys.unraisablehook is unraisable:
            sys.unraisablehook = self._before[2]
        for loop, before in self._loops:
            with contextlib.suppress(Exception):
                loop.set_exception_handler(before)
        self._loops.clear()

    def _uncaught(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            log.info("interrupted from the keyboard")
            return
        error = error.with_traceback(trace) if error is not None else kind()
        _report("in the app", error)
        if sys.stderr is not None:
            # It may be the end of the program, and whoever started it in a terminal wants to know why.
            with contextlib.suppress(OSError, ValueError):
                print(redacted_exception(error), file=sys.stderr)

    def _uncaught_in_thread(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_type is not SystemExit:
            name = args.thread.name if args.thread is not None else "that has ended"
            _report(f"in thread {name}", args.exc_value or args.exc_type())

    def _unraisable(self, args: sys.UnraisableHookArgs) -> None:
        # The object itself is on its way out; only its kind is told.
        _report(f"in the clean-up of {type(args.object).__name__}", args.exc_value or args.exc_type())

    def _failed_in_loop(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        message = str(context.get("message", "no reason given"))
        error = context.get("exception")
        task = context.get("task") or context.get("future")
        where = f" ({task.get_name()})" if isinstance(task, asyncio.Task) else ""
        if isinstance(error, OSError) or error is None:
            # Networks fail; what matters of it is told by whoever used the connection.
            logging.getLogger("asyncio").error("%s%s", message, where, exc_info=error)
        else:
            _report(f"in the event loop{where}: {message}", error)


def _report(where: str, error: BaseException) -> None:
    with contextlib.suppress(Exception):
        log.error("Not caught %s: %s", where, summary_of(error), exc_info=error)


def summary_of(error: BaseException) -> str:
    """``ValueError: no``, on one line."""
    try:
        said = " ".join(str(error).split())
    except Exception:
        said = ""
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


class CrashFile:
    """Where the interpreter writes what it did when it dies of a signal: read at the next start, gone after a good end.

    ``last`` is what the run before left; "" if it ended well. Blocks for one small file.
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / CRASH_FILE
        self._stream: io.BufferedWriter | None = None
        self._was_enabled = faulthandler.is_enabled()
        self.last = ""
        with contextlib.suppress(OSError):
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            with contextlib.suppress(FileNotFoundError), self._path.open("rb") as stream:
                self.last = stream.read(CRASH_BYTES).decode("utf-8", "replace").strip()
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            self._stream = os.fdopen(descriptor, "wb")
            faulthandler.enable(self._stream, all_threads=True)

    def close(self) -> None:
        """This run ended well: take the file away."""
        if self._stream is None:
            return
        faulthandler.disable()
        self._stream.close()
        self._stream = None
        with contextlib.suppress(OSError):
            self._path.unlink()
        if self._was_enabled and sys.__stderr__ is not None:
            with contextlib.suppress(OSError, ValueError):
                faulthandler.enable(sys.__stderr__)
