"""One app a profile: a second start raises the first one's window, also while that is still starting."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from meshdesk.volunteer.single_instance import AlreadyRunning, SingleInstance
from tests.commands.program import environment
from tests.volunteer.stand_in_controlled import StandInControlled, served

SECOND = """
import sys, time
from meshdesk.volunteer.single_instance import AlreadyRunning, SingleInstance
with SingleInstance() as second:
    if second.is_first:
        print("first"); sys.exit(9)
    try:
        second.raise_the_other()
    except AlreadyRunning as error:
        print(error.message, error.hint); sys.exit(error.exit_code)
"""


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MESHDESK_DATA", str(tmp_path))
    return tmp_path


def second_start(data: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", SECOND], capture_output=True, text=True, env=environment(data), timeout=30, check=False
    )


def test_a_second_process_raises_the_first_and_ends_well(data: Path) -> None:
    controlled = StandInControlled()
    with SingleInstance() as first:
        assert first.is_first
        with served(first.place, controlled):
            ended = second_start(data)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    assert controlled.told == [("show", "")]


def test_another_profile_is_another_app(data: Path, tmp_path: Path) -> None:
    with SingleInstance():
        assert second_start(tmp_path / "other").stdout == "first\n"


def test_one_that_still_starts_is_asked_again(data: Path) -> None:
    controlled = StandInControlled()
    with SingleInstance() as first, SingleInstance() as second:
        assert not second.is_first
        asking = threading.Thread(target=second.raise_the_other)
        asking.start()
        time.sleep(0.3)  # the first one needs a moment before it can listen; that is the case under test
        with served(first.place, controlled):
            asking.join(5)
    assert controlled.told == [("show", "")]


def test_one_that_does_not_answer_is_an_error_that_says_so(data: Path) -> None:
    with SingleInstance() as first, SingleInstance() as second:
        started = time.monotonic()
        with pytest.raises(AlreadyRunning, match="does not answer"):
            second.raise_the_other(within_s=0.3)
        assert time.monotonic() - started < 1.5
        with socket.socket(socket.AF_UNIX) as hung:
            hung.bind(str(first.place.path))
            hung.listen(1)
            with pytest.raises(AlreadyRunning):
                second.raise_the_other(within_s=0.2)


def test_the_lock_of_a_killed_app_is_free_again(data: Path) -> None:
    holder = "import time\nfrom meshdesk.volunteer.single_instance import SingleInstance\n"
    holder += "with SingleInstance():\n    print('held', flush=True)\n    time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", holder], stdout=subprocess.PIPE, env=environment(data)) as first:
        assert first.stdout is not None and first.stdout.readline() == b"held\n"
        with SingleInstance() as second:
            assert not second.is_first
        first.kill()
        first.wait(10)
    with SingleInstance() as third:
        assert third.is_first
