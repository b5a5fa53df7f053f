"""The app as a process, drawn offscreen, with every warning an error; asked and told by its control socket."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil

from meshdesk.volunteer.control_client import ControlClient, NoAnswer, NotRunning
from meshdesk.volunteer.control_places import app_place
from meshdesk.volunteer.control_protocol import Command

READY_S = 40.0
END_S = 40.0
_SLOW = ("qasync", "took")
"""In Python's development mode the loop tells of every callback that takes long; that is no fault."""


class AppProgram:
    """One run of the app. The test's MESHDESK_DATA must be ``data``, for that is where its control socket is."""

    def __init__(self, data: Path, *options: str, platform: str = "offscreen", extra: dict[str, str] | None = None):
        assert os.environ["MESHDESK_DATA"] == str(data)
        self.data = data
        self.process = subprocess.Popen(
            [sys.executable, "-W", "error", "-X", "dev", "-m", "meshdesk", *options],
            env={**os.environ, "QT_QPA_PLATFORM": platform, **(extra or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def ask(self, command: Command, **args: Any) -> Any:
        return ControlClient(app_place()).ask(command, READY_S, **args)

    def wait_until_up(self) -> dict[str, Any]:
        """Its first status, as soon as it takes commands."""
        deadline = time.monotonic() + READY_S
        while time.monotonic() < deadline:
            assert self.process.poll() is None, self._said()
            with contextlib.suppress(NotRunning, NoAnswer):
                return dict(self.ask(Command.STATUS))
            time.sleep(0.05)
        raise AssertionError(f"it took no commands: {self._said()}")

    def wait_for(self, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first status for which ``holds``, as the app tells of each change."""
        deadline = time.monotonic() + READY_S
        status: dict[str, Any] = {}
        for status in self._statuses():
            if holds(status):
                return status
            if time.monotonic() > deadline:
                break
        raise AssertionError(f"never: {status}")

    def wait_for_phase(self, *phases: str) -> dict[str, Any]:
        return self.wait_for(lambda status: status["phase"] in phases)

    def _statuses(self) -> Iterator[dict[str, Any]]:
        yield from ControlClient(app_place()).follow(Command.WATCH)

    def descendants(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def end(self, by: signal.Signals | None = signal.SIGTERM) -> tuple[int, str]:
        """End it by a signal, or wait if something else has ended it; its exit code and what it wrote to stderr."""
        if by is not None and self.process.poll() is None:
            self.process.send_signal(by)
        try:
            _, errors = self.process.communicate(timeout=END_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            _, errors = self.process.communicate()
            raise AssertionError(f"it did not end: {errors.decode()}\n{self.log()[-3000:]}") from None
        return self.process.returncode, errors.decode()

    def log(self) -> str:
        path = self.data / "logs" / "meshdesk.log"
        return path.read_text() if path.exists() else ""

    def complaints(self) -> list[str]:
        """Lines of the log at ERROR, and of what nobody caught."""
        return [
            line
            for line in self.log().splitlines()
            if (" ERROR " in line or "Not caught" in line) and not all(word in line for word in _SLOW)
        ]

    def _said(self) -> str:
        if self.process.poll() is None:
            return self.log()[-2000:]
        _, errors = self.process.communicate()
        return f"it ended with {self.process.returncode}: {errors.decode()}"


@contextlib.contextmanager
def app_program(data: Path, *options: str, **more: Any) -> Iterator[AppProgram]:
    """The app, killed at the end if it still runs; its children go with it."""
    program = AppProgram(data, *options, **more)
    try:
        yield program
    finally:
        if program.process.poll() is None:
            program.process.kill()
        program.process.communicate()
