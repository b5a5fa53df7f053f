"""The one stream of the log: everything this process and its shard's child have to say, in memory and on disk."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import hashlib
import logging
import re
import threading
import warnings
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from meshdesk.volunteer.fault_hooks import CrashFile, FaultHooks
from meshdesk.volunteer.log_file import LogFile
from meshdesk.volunteer.log_records import FAULT_LOGGER, LogLine, LogRing, origin_of
from meshdesk.volunteer.log_redaction import the_filter

MESSAGE_CHARACTERS = 16_000
DETAILS_CHARACTERS = 64_000
EARLY_FAULTS = 20
KNOWN_GROUPS = 500
LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}

_FRAME = re.compile(r'^\s+File "(.*)", line \d+, in (.*)$', re.MULTILINE)
_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), 127, *range(0x80, 0xA0)) if chr(code) not in "\t\n"}


@dataclass(frozen=True, slots=True)
class Fault:
    """Something nobody caught. Faults of one ``group`` came about in the same place in the same way."""

    line: LogLine
    group: str


class LogStream:
    """Log, warnings and uncaught exceptions of this process, from ``install`` to ``close``."""

    def __init__(self, directory: Path, level: str, ring: LogRing) -> None:
        self.directory = directory
        self.ring = ring
        self._root = logging.getLogger()
        self._meshdesk = logging.getLogger("meshdesk")
        self._levels_before = (self._root.level, self._meshdesk.level)
        self._warnings_before = warnings.showwarning
        self._listeners: list[Callable[[Fault], None]] = []
        self._early: deque[Fault] = deque(maxlen=EARLY_FAULTS)
        self._groups: dict[str, None] = {}
        # A garbage collection under it may log a fault in its turn.
        self._lock = threading.RLock()
        self._closed = False

        self._crash = CrashFile(directory)
        self._file = LogFile(directory)
        self._handler = _StreamHandler(ring, self._file, self._fault)
        # Handlers of others see the same records; what is secret to one is to all.
        self._others = [handler for handler in _all_handlers() if the_filter() not in handler.filters]
        for handler in (*self._others, self._handler):
            handler.addFilter(the_filter())
        self._root.addHandler(self._handler)
        self.set_level(level)
        self._hooks = FaultHooks()
        warnings.showwarning = _show_warning
        atexit.register(self.close)
        if self._crash.last:
            first = self._crash.last.splitlines()[0]
            extra = {"details": self._crash.last}
            logging.getLogger(FAULT_LOGGER).error("The last run ended with a fault: %s", first, extra=extra)

    @classmethod
    def install(cls, directory: Path, level: str = "info", ring: LogRing | None = None) -> LogStream:
        """Begin to log into ``directory``; blocks for one small file. ``level`` is one of LEVELS."""
        return cls(directory, level, ring or LogRing())

    @property
    def path(self) -> Path:
        """The newest of the files; those before it have a number behind their name."""
        return self._file.path

    def set_level(self, level: str) -> None:
        """What meshdesk logs from now on. Libraries are held shorter: at DEBUG they tell of each frame they send."""
        chosen = LEVELS[level]
        self._meshdesk.setLevel(chosen)
        self._root.setLevel(logging.INFO if chosen <= logging.DEBUG else max(chosen, logging.WARNING))

    def attach_loop(self, loop: asyncio.AbstractEventLoop) -> None:
        """Log what goes wrong in ``loop`` outside of anybody's await, until ``close``."""
        self._hooks.attach_loop(loop)

    def listen_to_faults(self, told: Callable[[Fault], None]) -> Callable[[], None]:
        """Call ``told`` with the first fault of each group, those before it too; gives the call that ends it.

        It is called in the thread of the fault, and must return at once.
        """
        with self._lock:
            self._listeners.append(told)
            early = list(self._early)
            self._early.clear()
        for fault in early:
            told(fault)
        return lambda: self._listeners.remove(told) if told in self._listeners else None

    def flush(self, within_s: float = 2.0) -> bool:
        """Wait until what was logged is on disk; False if it took longer. Not for the event loop."""
        return self._file.flush(within_s)

    def close(self) -> None:
        """Give back what was taken, write what waits, end the thread. It may block: call it after the event loop."""
        if self._closed:
            return
        self._closed = True
        atexit.unregister(self.close)
        self._hooks.close()
        if warnings.showwarning is _show_warning:
            warnings.showwarning = self._warnings_before
        self._root.removeHandler(self._handler)
        for handler in self._others:
            handler.removeFilter(the_filter())
        self._root.setLevel(self._levels_before[0])
        self._meshdesk.setLevel(self._levels_before[1])
        self._handler.close()
        self._file.close()
        self._crash.close()

    def _fault(self, line: LogLine) -> None:
        fault = Fault(line, _group(line))
        with self._lock:
            if fault.group in self._groups or len(self._groups) >= KNOWN_GROUPS:
                return
            self._groups[fault.group] = None
            listeners = list(self._listeners)
            if not listeners:
                self._early.append(fault)
        for told in listeners:
            with contextlib.suppress(Exception):
                told(fault)


class _StreamHandler(logging.Handler):
    """Puts records into the ring, and from there into the file."""

    def __init__(self, ring: LogRing, file: LogFile, on_fault: Callable[[LogLine], None]) -> None:
        super().__init__()
        self._ring = ring
        self._file = file
        self._on_fault = on_fault

    def emit(self, record: logging.LogRecord) -> None:
        try:
            details = "\n".join(filter(None, (record.exc_text, record.__dict__.get("details"), record.stack_info)))
            line = self._ring.append(
                record.created,
                record.levelno,
                origin_of(record.name),
                record.name,
                _fitting(record.getMessage().rstrip(), MESSAGE_CHARACTERS),
                _fitting(details, DETAILS_CHARACTERS) if details else "",
            )
            self._file.put(line)
            if line.origin == "fault" and line.details:
                self._on_fault(line)
        except Exception:
            self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> None:
        """A record that cannot be logged is lost: logging itself would print it, secrets and all."""


def _all_handlers() -> list[logging.Handler]:
    named = [each for each in list(logging.root.manager.loggerDict.values()) if isinstance(each, logging.Logger)]
    loggers = [logging.getLogger(), *named]
    handlers = {id(handler): handler for logger in loggers for handler in logger.handlers}
    if logging.lastResort is not None:
        handlers[id(logging.lastResort)] = logging.lastResort
    return list(handlers.values())


def _fitting(text: str, characters: int) -> str:
    if len(text) > characters:
        text = f"{text[: characters // 4]}\n… {len(text) - characters:,} characters …\n{text[-characters * 3 // 4 :]}"
    return text if text.isprintable() else text.translate(_CONTROLS)


def _group(line: LogLine) -> str:
    """Told by the frames and the kind of exception: line numbers do not matter, nor what the exception says."""
    frames = _FRAME.findall(line.details)
    kind = line.details.rstrip().rpartition("\n")[2].partition(":")[0]
    return hashlib.sha256(repr((frames, kind)).encode("utf-8", "replace")).hexdigest()[:16]


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: object = None,
    line: str | None = None,
) -> None:
    place = f"{Path(filename).name}:{lineno}"
    logging.getLogger("py.warnings").warning("%s: %s (%s)", category.__name__, message, place)
