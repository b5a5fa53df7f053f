"""A screen of one's own with a tray, a mouse and a camera: Xvfb, trayer, xdotool and ImageMagick's import.

Everything started here is a child process, and ended with the screen.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO

import pytest
from PySide6.QtGui import QImage

PROGRAMS = ("Xvfb", "trayer", "xdotool", "import")
_MISSING = [program for program in PROGRAMS if shutil.which(program) is None]
needs_screen = pytest.mark.skipif(bool(_MISSING), reason=f"not installed: {', '.join(_MISSING)}")
DEADLINE_S = 10.0
STOP_S = 3.0
LOOK_AGAIN_S = 0.05

Box = tuple[int, int, int, int]
"""x, y, width and height in pixels of the screen."""


@dataclass
class Program:
    """A running child whose lines of output can be waited for."""

    process: subprocess.Popen[bytes]
    _read: bytearray = field(default_factory=bytearray)
    lines: list[str] = field(default_factory=list)

    def line(self, beginning: str, within_s: float = DEADLINE_S) -> str:
        """The rest of the next line that begins so; those before it are skipped. Fails with what was read."""
        stream = self.process.stdout
        assert stream is not None
        until = time.monotonic() + within_s
        while True:
            while b"\n" in self._read:
                raw, _, rest = bytes(self._read).partition(b"\n")
                self._read[:] = rest
                self.lines.append(raw.decode(errors="replace"))
                if self.lines[-1].startswith(beginning):
                    return self.lines[-1][len(beginning) :].strip()
            left = until - time.monotonic()
            readable = left > 0 and select.select([stream], [], [], left)[0]
            chunk = os.read(stream.fileno(), 65536) if readable else b""
            if not chunk:
                ended = f"it ended with {self.process.poll()}" if readable else f"not within {within_s} s"
                pytest.fail(f"no line {beginning!r}: {ended}; it said {self.lines}")
            self._read += chunk


class VirtualScreen:
    """One X display. ``display`` is its name, like ``:7``. Made by ``virtual_screen()``."""

    def __init__(self, display: str, children: contextlib.ExitStack):
        self.display = display
        self._children = children
        self._environment = {
            **os.environ,
            "DISPLAY": display,
            "QT_QPA_PLATFORM": "xcb",
            # Whatever desktop the tests run on: its panel must not get the icon.
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=/dev/null",
            "NO_AT_BRIDGE": "1",
        }
        self._environment.pop("WAYLAND_DISPLAY", None)

    def start(self, *command: str, errors: IO[bytes] | int | None = None) -> Program:
        """Run a program on this screen until the screen ends. Its errors go where the tests' do."""
        return self._children.enter_context(_running(command, self._environment, errors))

    def start_module(self, module: str, *arguments: str) -> Program:
        """Run a Python module of this environment on this screen."""
        return self.start(sys.executable, "-m", module, *arguments)

    def start_tray(self, *, colour: str = "0x202020", height: int = 24) -> Program:
        """Give the screen a tray in its lower right corner."""
        place = ("--edge", "bottom", "--align", "right", "--widthtype", "request", "--height", str(height))
        return self.start("trayer", *place, "--tint", colour, "--transparent", "true", "--alpha", "0")

    def screenshot(self, box: Box | None = None) -> QImage:
        """The screen as it is now, or a part of it."""
        run = subprocess.run(
            ["import", "-silent", "-window", "root", "png:-"],
            env=self._environment,
            capture_output=True,
            timeout=DEADLINE_S,
            check=True,
        )
        image = QImage.fromData(run.stdout, "PNG")
        assert not image.isNull(), run.stderr
        return image if box is None else image.copy(*box)

    def move(self, x: int, y: int) -> None:
        self._xdotool("mousemove", "--sync", str(x), str(y))

    def click(self, x: int, y: int, button: int = 1) -> None:
        """Move there and press a button: 1 left, 3 right."""
        self._xdotool("mousemove", str(x), str(y), "click", str(button))

    def _xdotool(self, *arguments: str) -> None:
        subprocess.run(["xdotool", *arguments], env=self._environment, timeout=DEADLINE_S, check=True)


def wait_for(condition: Callable[[], bool], what: str, within_s: float = DEADLINE_S) -> None:
    """Look at something of another process, which sends no signals, until it is so."""
    until = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > until:
            pytest.fail(f"{what} did not come within {within_s} s")
        time.sleep(LOOK_AGAIN_S)


def middle(box: Box) -> tuple[int, int]:
    x, y, width, height = box
    return x + width // 2, y + height // 2


@contextlib.contextmanager
def virtual_screen(width: int = 1024, height: int = 768) -> Iterator[VirtualScreen]:
    """A new screen on a display that nobody uses."""
    options = ("-screen", "0", f"{width}x{height}x24", "-nolisten", "tcp", "-noreset")
    with contextlib.ExitStack() as children:
        # It chooses a free display itself, and says which once it takes connections.
        command = ("Xvfb", "-displayfd", "1", *options)
        server = children.enter_context(_running(command, dict(os.environ), subprocess.DEVNULL))
        yield VirtualScreen(f":{server.line('')}", children)


@contextlib.contextmanager
def _running(command: Sequence[str], environment: dict[str, str], errors: IO[bytes] | int | None) -> Iterator[Program]:
    process = subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors
    )
    assert process.stdout is not None
    try:
        yield Program(process)
    finally:
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
