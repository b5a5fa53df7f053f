"""Chat against a mesh that ``demo --serve`` keeps up: one question, a conversation, Ctrl-C, and what goes wrong."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands.program import END_S, LINE_S, environment, none_left, run, started

pytestmark = pytest.mark.timeout(180)
QUESTION = "What is the capital of France?"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, smollm2: Path) -> Iterator[str]:
    """The URL of a tracker with a mesh behind it."""
    data = tmp_path_factory.mktemp("data")
    with started(["demo", "--serve", "--json", "--dtype", "float32"], data) as program:
        yield program.fields()["url"]
        processes = program.descendants()
        program.send(signal.SIGINT)
        assert program.end() == 0
        assert not none_left(processes)


def test_one_question(served: str, tmp_path: Path) -> None:
    ended = run(["chat", "--tracker", served, "--temperature", "0", QUESTION], tmp_path)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "The capital of France is Paris.\n", "")


def test_a_question_from_a_pipe_with_a_bound(served: str, tmp_path: Path) -> None:
    options = ["--temperature", "0", "--max-tokens", "3"]
    ended = run(["chat", *options], tmp_path, input=QUESTION, extra={"MESHDESK_TRACKER": served})
    assert (ended.returncode, ended.stdout) == (0, "The capital of\n")


def test_a_system_message_reaches_the_model(served: str, tmp_path: Path) -> None:
    asked = ["chat", "--tracker", served, "--temperature", "0", "--max-tokens", "12", "Who are you?"]
    plain, told = run(asked, tmp_path), run([*asked, "--system", "You are a pirate named Ruth."], tmp_path)
    assert plain.returncode == told.returncode == 0
    assert plain.stdout != told.stdout


def test_a_model_nobody_has_is_a_sentence(served: str, tmp_path: Path) -> None:
    ended = run(["chat", "--tracker", served, "--model", "no-such-model", QUESTION], tmp_path)
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert re.fullmatch(r"meshdesk: .*no-such-model.*\n", ended.stderr)


def test_a_conversation_in_a_terminal(served: str, tmp_path: Path) -> None:
    with Terminal(["chat", "--tracker", served, "--temperature", "0"], tmp_path) as terminal:
        terminal.wait_for("> ")
        terminal.type("My name is Ruth. Remember it.\n")
        terminal.wait_for("\n> ")
        terminal.type("Repeat my name.\n")
        assert "Ruth" in terminal.wait_for("\n> "), "the second question knew the first"
        terminal.type("/new\n")
        terminal.wait_for("\n> ")
        terminal.type("Write a long story about a fisherman and his daughter.\n")
        terminal.wait_for("daughter.\n")
        terminal.wait_for(" ")
        terminal.type("\x03")
        terminal.wait_for("(stopped)")
        terminal.wait_for("\n> ")
        terminal.type("/new\n")
        terminal.wait_for("\n> ")
        terminal.type(QUESTION + "\n")
        terminal.wait_for("The capital of France is Paris.")
        terminal.wait_for("\n> ")
        terminal.type("\x03")
        terminal.wait_for("/exit or Ctrl-D leaves")
        # The end of input is a key only once the prompt is there; before, the terminal drops it.
        terminal.wait_for("\n> ")
        terminal.type("\x04")
        assert terminal.end() == 0


def test_a_conversation_outlives_a_mesh_that_is_gone(tmp_path: Path) -> None:
    with Terminal(["chat", "--tracker", "http://127.0.0.1:1"], tmp_path) as terminal:
        terminal.wait_for("> ")
        terminal.type("hello\n")
        terminal.wait_for("Nothing answers at http://127.0.0.1:1: connection refused.")
        terminal.wait_for("\n> ")
        terminal.type("/exit\n")
        assert terminal.end() == 0


class Terminal:
    """meshdesk in a terminal of its own."""

    def __init__(self, arguments: list[str], data: Path):
        self._master, slave = pty.openpty()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "meshdesk", *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            env=environment(data, {"TERM": "dumb"}),
            preexec_fn=_take_terminal,
        )
        os.close(slave)
        self._seen = ""

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        os.close(self._master)

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def wait_for(self, text: str) -> str:
        """Until ``text`` is shown; gives what was shown before it, and takes both away."""
        deadline = time.monotonic() + LINE_S
        while text not in self._seen:
            readable, _, _ = select.select([self._master], [], [], max(0.0, deadline - time.monotonic()))
            assert readable, f"{text!r} was not shown, but {self._seen!r}"
            try:
                self._seen += os.read(self._master, 65536).decode(errors="replace").replace("\r\n", "\n")
            except OSError:
                raise AssertionError(f"it ended with {self._process.wait()}: {self._seen!r}") from None
        before, _, self._seen = self._seen.partition(text)
        return before

    def end(self) -> int:
        return self._process.wait(END_S)


def _take_terminal() -> None:
    """Make standard input the controlling terminal, so that Ctrl-C typed there is a signal."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
