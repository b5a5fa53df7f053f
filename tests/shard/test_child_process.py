"""Ending a child leaves its exit code to whoever waits for it, and spares strangers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from meshdesk.shard.child_process import ChildProcess

QUICK = [sys.executable, "-c", "raise SystemExit(7)"]
LASTING = [sys.executable, "-c", "import sys; sys.stdin.read()"]


@pytest.fixture(params=["pidfd", "number"])
def no_pidfd(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also as in a kernel or sandbox without pidfds."""
    if request.param == "number":

        def refuse(pid: int, flags: int = 0) -> int:
            raise OSError(38, "Function not implemented")

        monkeypatch.setattr(os, "pidfd_open", refuse)


@pytest.mark.usefixtures("no_pidfd")
def test_killing_one_that_has_just_ended_does_not_take_its_code() -> None:
    with subprocess.Popen(QUICK) as process:
        child = ChildProcess(process.pid)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        child.kill()
        assert os.waitpid(process.pid, 0)[1] == 7 << 8, "somebody else has waited for the child"
        process.returncode = 7
        child.close()


@pytest.mark.usefixtures("no_pidfd")
def test_a_living_child_is_ended() -> None:
    with subprocess.Popen(LASTING, stdin=subprocess.PIPE) as process:
        child = ChildProcess(process.pid)
        child.kill()
        assert process.wait(30) == -signal.SIGKILL
        child.close()


@pytest.mark.usefixtures("no_pidfd")
def test_a_closed_hold_harms_nobody() -> None:
    with subprocess.Popen(LASTING, stdin=subprocess.PIPE) as process:
        child = ChildProcess(process.pid)
        child.close()
        child.close()
        child.kill()
        process.communicate()
        assert process.returncode == 0


def test_one_that_is_gone_is_not_looked_for_by_number() -> None:
    with subprocess.Popen(QUICK) as process:
        process.wait(30)
        child = ChildProcess(process.pid)
        child.kill()
        child.close()
