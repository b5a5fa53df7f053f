"""meshdesk as a person or another program runs it: a real process, its output read as it comes."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import psutil

ROOT = Path(__file__).resolve().parents[2]
LINE_S = 90.0
END_S = 30.0


def environment(data: Path, extra: Mapping[str, str] = {}) -> dict[str, str]:
    """The environment of a program whose kept files go to ``data``."""
    return {
        **os.environ,
        "MESHDESK_DATA": str(data),
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNINGS": "error::ResourceWarning",
        "COLUMNS": "200",
        **extra,
    }


def run(arguments: Sequence[str], data: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run meshdesk to its end."""
    options = {"timeout": LINE_S, "stdin": subprocess.DEVNULL, **options}
    if "input" in options:
        del options["stdin"]
    return subprocess.run(
        [sys.executable, "-m", "meshdesk", *arguments],
        capture_output=True,
        text=True,
        env=environment(data, options.pop("extra", {})),
        check=False,
        **options,
    )


class Program:
    """One meshdesk process that runs beside the test."""

    def __init__(self, process: subprocess.Popen[bytes]):
        self.process = process
        self.errors: list[str] = []
        self._out = b""
        self._read = 0
        self._ended = False
        self._changed = threading.Condition()
        self._threads = [
            threading.Thread(target=self._read_output, daemon=True),
            threading.Thread(target=self._read_errors, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def line(self, within_s: float = LINE_S) -> str:
        """The next line of standard output."""
        self._wait(lambda: b"\n" in self._out[self._read :], within_s)
        end = self._out.index(b"\n", self._read) + 1
        line, self._read = self._out[self._read : end], end
        return line.decode()

    def line_with(self, text: str) -> str:
        """The next line that holds ``text``; those before it are thrown away."""
        deadline = time.monotonic() + LINE_S
        while True:
            line = self.line(deadline - time.monotonic())
            if text in line:
                return line

    def wait_for_more(self) -> None:
        """Until standard output holds more than the lines taken so far and white space."""
        self._wait(lambda: bool(self._out[self._read :].strip()), LINE_S)

    def wait_for_error(self, text: str) -> None:
        """Until a line of standard error holds ``text``."""
        self._wait(lambda: any(text in line for line in self.errors), LINE_S)

    def _wait(self, holds: Callable[[], bool], within_s: float) -> None:
        with self._changed:
            came = self._changed.wait_for(lambda: holds() or self._ended, within_s)
            if not holds():
                what = "it ended" if came else "it did not come"
                raise AssertionError(f"{what}:\n{self._out.decode()}\n{''.join(self.errors)}")

    def fields(self) -> dict[str, Any]:
        """The next line as JSON."""
        fields = orjson.loads(self.line())
        assert isinstance(fields, dict)
        return fields

    def descendants(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def end(self) -> int:
        """Wait until it has ended and all its output is read; the exit code."""
        code = self.process.wait(END_S)
        for thread in self._threads:
            thread.join(END_S)
        return code

    def _read_output(self) -> None:
        assert self.process.stdout is not None
        while data := os.read(self.process.stdout.fileno(), 65536):
            with self._changed:
                self._out += data
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._changed:
                self.errors.append(line.decode())
                self._changed.notify_all()


@contextlib.contextmanager
def started(arguments: Sequence[str], data: Path, **extra: str) -> Iterator[Program]:
    """Start meshdesk; whatever is left of it at the end is killed."""
    with subprocess.Popen(
        [sys.executable, "-m", "meshdesk", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(data, extra),
        preexec_fn=_as_in_a_terminal,
    ) as process:
        program = Program(process)
        try:
            yield program
        finally:
            if process.poll() is None:
                process.kill()
            program.end()


def _as_in_a_terminal() -> None:
    """A shell's background job, as a whole test run may be one, has its children ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def none_left(processes: Sequence[psutil.Process], within_s: float = 10.0) -> list[psutil.Process]:
    """Those of ``processes`` that still run after ``within_s``."""
    _, alive = psutil.wait_procs(processes, timeout=within_s)
    return alive
