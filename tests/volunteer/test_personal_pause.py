"""A person's pause: over restarts, and over clocks that jump."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from meshdesk.volunteer.personal_pause import PersonalPause
from meshdesk.volunteer.status import Pause, PauseCause

HOUR = 3600.0


class Clocks:
    """The clock on the wall, which people set, and the steady one, which runs while the computer is awake."""

    def __init__(self) -> None:
        self.wall = 1_800_000_000.0
        self.steady = 100.0

    def pass_by(self, seconds: float) -> None:
        self.wall += seconds
        self.steady += seconds


@pytest.fixture
def clocks() -> Clocks:
    return Clocks()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "pause.json"


def opened(path: Path, clocks: Clocks) -> PersonalPause:
    return PersonalPause(path, lambda: clocks.wall, lambda: clocks.steady)


def restarted(path: Path, clocks: Clocks) -> PersonalPause:
    """In a new process of a computer that was started anew, the steady clock begins somewhere else."""
    clocks.steady = 7.0
    return opened(path, clocks)


def test_there_is_none_at_first(path: Path, clocks: Clocks) -> None:
    assert opened(path, clocks).current() is None
    assert not path.parent.exists()


def test_it_ends_when_its_time_has_passed(path: Path, clocks: Clocks) -> None:
    pause, ends = opened(path, clocks), clocks.wall + HOUR
    pause.begin(HOUR)
    assert pause.current() == Pause(PauseCause.PERSON, until=ends)
    clocks.pass_by(HOUR - 1)
    assert pause.current() == Pause(PauseCause.PERSON, until=ends)
    clocks.pass_by(1)
    assert pause.current() is None
    assert not path.exists()


def test_a_restart_does_not_move_its_end(path: Path, clocks: Clocks) -> None:
    opened(path, clocks).begin(HOUR)
    ends = clocks.wall + HOUR
    clocks.pass_by(600)
    pause = restarted(path, clocks)
    assert pause.current() == Pause(PauseCause.PERSON, until=ends)
    clocks.pass_by(HOUR - 600)
    assert pause.current() is None


def test_until_i_resume_lasts_over_restarts_and_years_until_resumed(path: Path, clocks: Clocks) -> None:
    opened(path, clocks).begin(None)
    clocks.pass_by(1e8)
    pause = restarted(path, clocks)
    assert pause.current() == Pause(PauseCause.PERSON, until=None)
    clocks.wall -= 2e8
    assert pause.current() == Pause(PauseCause.PERSON, until=None)
    pause.lift()
    assert pause.current() is None
    assert restarted(path, clocks).current() is None


def test_it_is_over_after_a_sleep_past_its_end(path: Path, clocks: Clocks) -> None:
    pause = opened(path, clocks)
    pause.begin(HOUR)
    clocks.wall += 2 * HOUR
    assert pause.current() is None


def test_a_clock_that_is_set_back_does_not_make_it_longer(path: Path, clocks: Clocks) -> None:
    pause = opened(path, clocks)
    pause.begin(HOUR)
    clocks.pass_by(600)
    clocks.wall -= 86_400
    assert pause.current() == Pause(PauseCause.PERSON, until=clocks.wall + HOUR - 600)
    clocks.pass_by(HOUR - 600)
    assert pause.current() is None


def test_nor_does_one_that_is_set_back_while_the_app_does_not_run(path: Path, clocks: Clocks) -> None:
    opened(path, clocks).begin(HOUR)
    clocks.wall -= 86_400
    pause = restarted(path, clocks)
    assert pause.current() == Pause(PauseCause.PERSON, until=clocks.wall + HOUR)
    # And this end is kept in its turn.
    clocks.pass_by(600)
    again = restarted(path, clocks).current()
    assert again is not None
    assert again.until == clocks.wall + HOUR - 600


def test_the_small_corrections_of_a_clock_do_not_move_the_shown_end(path: Path, clocks: Clocks) -> None:
    pause, ends = opened(path, clocks), clocks.wall + HOUR
    pause.begin(HOUR)
    for correction in (-1.5, 0.5, 1.0):
        clocks.wall += correction
        assert pause.current() == Pause(PauseCause.PERSON, until=ends)


def test_the_last_word_counts(path: Path, clocks: Clocks) -> None:
    pause = opened(path, clocks)
    pause.begin(None)
    pause.begin(900)
    assert pause.current() == Pause(PauseCause.PERSON, until=clocks.wall + 900)
    assert restarted(path, clocks).current() == Pause(PauseCause.PERSON, until=clocks.wall + 900)


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"until": "soon", "seconds": 1}', '{"until": 1e999, "seconds": 1}', '{"until": 5}']
)
def test_a_file_that_makes_no_sense_is_no_pause(
    path: Path, clocks: Clocks, content: str, caplog: pytest.LogCaptureFixture
) -> None:
    path.parent.mkdir()
    path.write_text(content)
    with caplog.at_level(logging.WARNING):
        assert opened(path, clocks).current() is None
    assert "cannot be read" in caplog.text


async def test_on_a_loop_the_last_of_many_changes_is_what_is_kept(path: Path, clocks: Clocks) -> None:
    pause = await asyncio.to_thread(opened, path, clocks)
    for _ in range(5):
        pause.begin(900)
        pause.lift()
    pause.begin(None)
    await pause.saved()
    again = await asyncio.to_thread(restarted, path, clocks)
    assert again.current() == Pause(PauseCause.PERSON, until=None)


async def test_a_disk_that_does_not_take_it_is_logged_and_the_pause_counts(
    tmp_path: Path, clocks: Clocks, caplog: pytest.LogCaptureFixture
) -> None:
    blocked = tmp_path / "file"
    await asyncio.to_thread(blocked.write_text, "not a directory")
    pause = await asyncio.to_thread(opened, blocked / "pause.json", clocks)
    pause.begin(900)
    await pause.saved()
    assert "cannot be kept" in caplog.text
    assert pause.current() is not None
