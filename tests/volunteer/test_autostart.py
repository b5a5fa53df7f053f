"""Starting with the computer: the switch tells the system's truth, and nothing but the switch changes it.

The registry is a stand-in here, and the Mac's launch agent is only read back as a file.
"""

from __future__ import annotations

import plistlib
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshdesk.volunteer import autostart
from meshdesk.volunteer.autostart import Autostart, AutostartRefused, start_command
from meshdesk.volunteer.autostart_macos import LaunchAgent
from meshdesk.volunteer.autostart_windows import APPROVED, RUN, VALUE, RunKey
from meshdesk.volunteer.autostart_xdg import XdgAutostart, config_home, exec_line

COMMAND = ["/home/jürgen müller/100 % apps/meshdesk", "--background"]


class StandInRegistry:
    """A person's registry, as keys and values."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, str], str | bytes] = {}

    def read(self, key: str, value: str) -> str | bytes | None:
        return self.values.get((key, value))

    def write(self, key: str, value: str, content: str) -> None:
        self.values[key, value] = content

    def delete(self, key: str, value: str) -> None:
        self.values.pop((key, value), None)


@pytest.fixture(params=["linux", "windows", "macos"])
def switch(request: pytest.FixtureRequest, tmp_path: Path) -> Autostart:
    entry = {
        "linux": lambda: XdgAutostart(tmp_path / "config"),
        "windows": lambda: RunKey(StandInRegistry()),
        "macos": lambda: LaunchAgent(tmp_path / "Library" / "LaunchAgents"),
    }[request.param]()
    return Autostart(entry, COMMAND)


def test_it_is_off_until_it_is_turned_on_and_asking_changes_nothing(switch: Autostart, tmp_path: Path) -> None:
    assert switch.state() is False
    assert switch.state() is False
    assert list(tmp_path.rglob("*")) == []


def test_on_and_off_and_twice_each(switch: Autostart) -> None:
    for on in (True, True, False, False, True):
        assert switch.set(on) is on
        assert switch.state() is on


@pytest.fixture
def linux(tmp_path: Path) -> tuple[Autostart, Path]:
    return Autostart(XdgAutostart(tmp_path), COMMAND), tmp_path / "autostart" / "meshdesk.desktop"


def test_the_file_is_deleted_by_hand_and_the_switch_follows(linux: tuple[Autostart, Path]) -> None:
    switch, file = linux
    switch.set(True)
    file.unlink()
    assert switch.state() is False
    # An upgrade or another start asks, and must not bring it back.
    assert Autostart(XdgAutostart(file.parent.parent), COMMAND).state() is False
    assert not file.exists()


@pytest.mark.parametrize("line", ["Hidden=true", "X-GNOME-Autostart-enabled=false", " Hidden = True "])
def test_what_a_desktop_switched_off_is_off_and_can_be_turned_on_again(
    linux: tuple[Autostart, Path], line: str
) -> None:
    switch, file = linux
    switch.set(True)
    kept = [each for each in file.read_text().splitlines() if not each.startswith("X-GNOME")]
    file.write_text("\n".join([*kept, line, "[Other Group]", "Hidden=false", "X-GNOME-Autostart-enabled=true"]))
    assert switch.state() is False
    assert switch.set(True) is True


@pytest.mark.parametrize("content", ["", "Exec=meshdesk", "[Desktop Entry]\nName=meshdesk\n", "\x00\xff[["])
def test_a_file_that_starts_nothing_is_off(linux: tuple[Autostart, Path], content: str) -> None:
    switch, file = linux
    file.parent.mkdir()
    file.write_text(content, encoding="latin-1")
    assert switch.state() is False


def unquoted(exec_value: str) -> list[str]:
    """What a desktop starts for an Exec value: string escapes undone, then quotes, then field codes."""
    plain, at = "", 0
    while at < len(exec_value):
        if exec_value[at] == "\\":
            plain += {"\\": "\\", "n": "\n", "t": "\t", "r": "\r", "s": " "}[exec_value[at + 1]]
            at += 2
        else:
            plain += exec_value[at]
            at += 1
    arguments, at = [], 0
    while at < len(plain):
        argument = ""
        if plain[at] == '"':
            at += 1
            while plain[at] != '"':
                at += plain[at] == "\\"
                argument += plain[at]
                at += 1
            at += 1
        else:
            while at < len(plain) and plain[at] != " ":
                argument += plain[at]
                at += 1
        arguments.append(argument.replace("%%", "%"))
        assert at == len(plain) or plain[at] == " "
        at += 1
    return arguments


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12), min_size=1))
def test_any_path_comes_back_from_the_exec_line(command: list[str]) -> None:
    line = exec_line(command)
    assert "\n" not in line
    assert unquoted(line) == command


def test_a_usual_exec_line_is_a_plain_one() -> None:
    assert exec_line(["/usr/bin/meshdesk", "--background"]) == "/usr/bin/meshdesk --background"
    assert exec_line(COMMAND) == '"/home/jürgen müller/100 %% apps/meshdesk" --background'


def test_a_relative_config_home_is_ignored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert config_home({"XDG_CONFIG_HOME": "/elsewhere"}) == Path("/elsewhere")
    assert config_home({"XDG_CONFIG_HOME": "here"}) == tmp_path / ".config"
    assert config_home({}) == tmp_path / ".config"


def test_the_task_managers_word_counts_on_windows() -> None:
    registry = StandInRegistry()
    switch = Autostart(RunKey(registry), [r"C:\Users\Jürgen Müller\meshdesk.exe", "--background"])
    switch.set(True)
    assert registry.values[RUN, VALUE] == r'"C:\Users\Jürgen Müller\meshdesk.exe" --background'
    for first, on in ((2, True), (3, False), (6, True), (7, False), (0x63, False)):
        registry.values[APPROVED, VALUE] = bytes([first]) + bytes(11)
        assert switch.state() is on
    assert switch.set(True) is True
    switch.set(False)
    assert registry.values == {}


def test_the_launch_agent_starts_the_app_at_login(tmp_path: Path) -> None:
    agent = LaunchAgent(tmp_path)
    switch = Autostart(agent, COMMAND)
    switch.set(True)
    written = plistlib.loads(agent.path.read_bytes())
    assert written["ProgramArguments"] == COMMAND
    assert "KeepAlive" not in written
    agent.path.write_bytes(plistlib.dumps({**written, "Disabled": True}))
    assert switch.state() is False
    for broken in (b"", b"<plist><dict>", plistlib.dumps(["no", "agent"])):
        agent.path.write_bytes(broken)
        assert switch.state() is False


def test_a_system_that_refuses_is_told_in_words(tmp_path: Path) -> None:
    (tmp_path / "autostart").write_text("a file where a directory should be")
    switch = Autostart(XdgAutostart(tmp_path), COMMAND)
    assert switch.state() is False
    with pytest.raises(AutostartRefused, match="The system did not take the change"):
        switch.set(True)
    assert switch.state() is False


def test_it_starts_what_was_installed_in_the_tray(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    launcher, interpreter = tmp_path / "My Apps" / "meshdesk", tmp_path / "env" / "bin" / "python3"
    assert start_command({}, str(interpreter)) == [str(interpreter), "-m", "meshdesk", "--background"]
    interpreter.parent.mkdir(parents=True)
    command = interpreter.with_name("meshdesk")
    command.touch(0o755)
    assert start_command({}, str(interpreter)) == [str(command), "--background"]
    # An environment comes and goes with an upgrade; the installer's own starter stays.
    environment = {autostart.LAUNCHER_VARIABLE: str(launcher)}
    assert start_command(environment, str(interpreter)) == [str(command), "--background"]
    launcher.parent.mkdir()
    launcher.touch()
    assert start_command(environment, str(interpreter)) == [str(launcher), "--background"]
