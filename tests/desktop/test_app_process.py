"""The app as a process: quitting from every state, one instance, no lost windows, nothing left running."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from meshdesk.volunteer.control_protocol import Command, ControlError
from tests.desktop.app_program import AppProgram, app_program

pytestmark = pytest.mark.timeout(150)
AGAIN_S = 20.0


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MESHDESK_DATA", str(tmp_path))
    return tmp_path


def _at_once(app: AppProgram) -> None:
    """Before it takes commands: in the middle of its start."""
    while not app.log():
        assert app.process.poll() is None
        os.sched_yield()


def _off(app: AppProgram) -> None:
    app.wait_until_up()


def _first_run_open(app: AppProgram) -> None:
    assert app.wait_until_up()["windows"] == ["first-run"]


def _starting(app: AppProgram) -> None:
    app.wait_until_up()
    app.wait_for_phase("starting")


def _in_trouble(app: AppProgram) -> None:
    app.wait_until_up()
    app.wait_for_phase("error")


def _paused(app: AppProgram) -> None:
    app.wait_until_up()
    app.wait_for_phase("starting", "serving")
    app.ask(Command.PAUSE, seconds=None)
    app.wait_for_phase("paused")


STATES: dict[str, tuple[Callable[[AppProgram], None], list[str]]] = {
    "at-once": (_at_once, ["--background"]),
    "off": (_off, ["--background"]),
    "first-run-open": (_first_run_open, []),
    "starting": (_starting, ["--demo"]),
    "error": (_in_trouble, ["--background"]),
    "paused": (_paused, ["--background"]),
}


def join_nobody(data: Path, model: str = "") -> None:
    """Settings with which the app joins a mesh at its start where nobody is."""
    settings = {"tracker": "http://127.0.0.1:1", "model": model, "start_joined": True}
    (data / "settings.json").write_text(json.dumps(settings))


def quit_from(state: str, data: Path, smollm2: Path) -> None:
    reach, options = STATES[state]
    if state in ("error", "paused"):
        join_nobody(data, model="/nowhere" if state == "error" else "")
    with app_program(data, *options) as app:
        reach(app)
        children = app.descendants()
        assert app.end() == (0, ""), app.log()[-3000:]
        _, left = psutil.wait_procs(children, timeout=5)
        assert not left
    expected = ["error"] if state == "error" else []
    assert len(app.complaints()) == len(expected), app.complaints()


@pytest.mark.parametrize("state", STATES)
def test_quit_ends_clean_from(state: str, data: Path, smollm2: Path) -> None:
    quit_from(state, data, smollm2)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("state", STATES)
def test_quit_ends_clean_twenty_times_from(state: str, data: Path, smollm2: Path, tmp_path: Path) -> None:
    for _ in range(20):
        quit_from(state, data, smollm2)


def test_a_join_without_a_mesh_says_that_one_has_to_be_chosen(data: Path) -> None:
    with app_program(data, "--background") as app:
        app.wait_until_up()
        with pytest.raises(ControlError, match="No mesh is chosen yet"):
            app.ask(Command.JOIN)
        status = app.wait_until_up()
        assert (status["windows"], status["phase"]) == (["first-run"], "off")
        assert app.end() == (0, "")


def test_a_second_start_raises_the_first(data: Path) -> None:
    """Where no tray shows, a hidden app would be lost without this."""
    with app_program(data, "--background") as app:
        assert app.wait_until_up()["windows"] == []
        settings = (data / "settings.json").exists()
        again = subprocess.run(
            [sys.executable, "-m", "meshdesk"],
            env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
            capture_output=True,
            text=True,
            timeout=AGAIN_S,
            check=False,
        )
        assert (again.returncode, again.stdout, again.stderr) == (0, "", "")
        assert app.wait_for(lambda status: status["windows"])["windows"] == ["dashboard"]
        assert app.end() == (0, "")
        assert (data / "settings.json").exists() == settings, "a run without a tray changes no settings"


def test_the_app_runs_without_torch_and_in_bounds(data: Path) -> None:
    with app_program(data, "--background") as app:
        app.wait_until_up()
        process = psutil.Process(app.process.pid)
        maps = {Path(each.path).name for each in process.memory_maps()}
        assert not [name for name in maps if "torch" in name]
        assert process.memory_info().rss < 200e6
        app.ask(Command.QUIT)
        assert app.end(by=None) == (0, "")


def test_a_pause_until_i_resume_outlives_a_restart(data: Path, smollm2: Path) -> None:
    join_nobody(data)
    for run in (1, 2):
        with app_program(data, "--background") as app:
            app.wait_until_up()
            if run == 1:
                app.wait_for_phase("starting", "serving")
                app.ask(Command.PAUSE, seconds=None)
            status = app.wait_for_phase("paused")
            assert status["pause"]["until"] is None
            assert app.end() == (0, "")


def test_a_second_signal_does_not_wait(data: Path) -> None:
    with app_program(data, "--background") as app:
        app.wait_until_up()
        app.process.send_signal(signal.SIGTERM)
        assert app.end(signal.SIGTERM) == (0, "")


def test_there_is_nothing_to_pause_before_joining(data: Path) -> None:
    with app_program(data, "--background") as app:
        app.wait_until_up()
        with pytest.raises(ControlError, match="nothing to pause"):
            app.ask(Command.PAUSE, seconds=None)
        assert app.ask(Command.STATUS)["phase"] == "off"
        assert app.end() == (0, "")
