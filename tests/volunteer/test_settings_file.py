"""The settings on disk: what is broken costs no more than itself, and nothing unknown is lost."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any, get_args

import pytest
from filelock import FileLock
from hypothesis import given
from hypothesis import strategies as st

from meshdesk.volunteer import settings_file
from meshdesk.volunteer.settings import Settings, Weekday
from meshdesk.volunteer.settings_file import SettingsFile, SettingsNotSaved
from meshdesk.volunteer.settings_refusal import SettingRefused, check_values
from meshdesk.volunteer.wording import Words


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deeper" / "settings.json"


def written(path: Path) -> Any:
    return json.loads(path.read_bytes())


def write(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def test_nothing_is_written_before_something_is_changed(path: Path) -> None:
    file = SettingsFile(path)

    assert file.settings == Settings()
    assert file.problem == ""
    assert not path.parent.exists()


def test_a_change_is_told_and_is_there_after_a_restart(path: Path) -> None:
    file, told = SettingsFile(path), []
    file.listen(told.append)

    file.change(threads=3, theme="dark", schedule_days={"sun", "mon"})

    assert told == [frozenset({"threads", "theme", "schedule_days"})]
    assert written(path) == {"threads": 3, "theme": "dark", "schedule_days": ["mon", "sun"]}
    assert SettingsFile(path).settings == file.settings


def test_an_equal_value_tells_nobody(path: Path) -> None:
    file, told = SettingsFile(path), []
    file.listen(told.append)
    file.change(threads=0)
    assert told == []


def test_who_no_longer_listens_is_not_told(path: Path) -> None:
    file, told = SettingsFile(path), []
    file.listen(told.append)()
    file.change(threads=1)
    assert told == []


def test_a_listener_that_fails_does_not_keep_the_others_from_hearing(path: Path) -> None:
    file, told = SettingsFile(path), []

    def fail(_: frozenset[str]) -> None:
        raise RuntimeError("a window is gone")

    file.listen(fail)
    file.listen(told.append)
    file.change(threads=1)
    assert told == [frozenset({"threads"})]


def test_a_reset_forgets_that_it_was_set(path: Path) -> None:
    file = SettingsFile(path)
    file.change(threads=3, port=7000)

    file.reset("threads")

    assert file.settings.threads == 0
    assert written(path) == {"port": 7000}


def test_a_refusal_changes_nothing_and_speaks_plainly(path: Path) -> None:
    file, told = SettingsFile(path), []
    file.listen(told.append)

    with pytest.raises(SettingRefused) as refused:
        file.change(threads=3, memory_limit_mb=-1, port=70_000, tracker="http://", no_such_thing=1)

    assert refused.value.sentences == {
        "memory_limit_mb": "Give a whole number from 0 to 4194304 MB.",
        "port": "Give a whole number from 0 to 65535.",
        "tracker": "This is not an address. Write it like http://203.0.113.5:7000.",
        "no_such_thing": "There is no such setting.",
    }
    assert "Memory limit: Give" in refused.value.message
    assert (file.settings, told, path.exists()) == (Settings(), [], False)


BAD_VALUES: dict[str, tuple[Any, ...]] = {
    "tracker": (7, "http://", "ftp://a", "http://a:b@c"),
    "relay": ("http://[", None),
    "display_name": ("x" * 33, "a\x00b", "\ud800"),
    "model": ("x" * 401,),
    "layers": ("5-3", "some", "{least}"),
    "device": ("gpu", 1),
    "pause_on_battery": ("perhaps", None, 3),
    "threads": ("many", 1.5, float("nan"), 10**30, [], -1),
    "schedule_from": ("²²:00", "24:00", "7", "07:60", "１２:00"),
    "schedule_days": (["someday"], "mon", 5),
}


def test_every_refusal_can_be_translated() -> None:
    for name, values in BAD_VALUES.items():
        for value in values:
            with pytest.raises(SettingRefused) as refused:
                check_values(Settings(), {name: value})
            sentence = refused.value.sentences[name]
            assert isinstance(sentence, Words), (name, value)
            assert sentence[0].isupper()
            assert sentence[-1] == "."
            assert "{" not in sentence


@pytest.mark.parametrize("content", [b'{"threads": 3', b"[]", b"", b"\xff\xfe\x00", b"[" * 100_000, b" " * 2**21])
def test_a_broken_file_is_set_aside_and_said_so(path: Path, content: bytes) -> None:
    write(path, content)

    file = SettingsFile(path)

    (aside,) = path.parent.glob("settings.broken-*.json")
    assert aside.read_bytes() == content
    assert file.problem == (
        f"The settings could not be read, so all are at their defaults. The broken file is kept as {aside}."
    )
    file.change(threads=1)
    assert SettingsFile(path).problem == ""


def test_a_file_that_broke_meanwhile_is_set_aside_too_not_overwritten(path: Path) -> None:
    file = SettingsFile(path)
    file.change(threads=3)
    write(path, '{"port": ')
    file.change(theme="dark")
    assert written(path) == {"theme": "dark"}
    assert len(list(path.parent.glob("settings.broken-*.json"))) == 1


def test_single_bad_values_cost_only_themselves(path: Path) -> None:
    write(path, json.dumps({"threads": "many", "port": 7000, "theme": "sepia", "of_version_9": {"a": [1.5, None]}}))

    file = SettingsFile(path)

    assert (file.settings.threads, file.settings.port, file.settings.theme) == (0, 7000, "system")
    assert set(file.bad_values) == {"threads", "theme"}
    assert "Threads has a value in settings.json that cannot be, so its default is used." in file.problem
    file.change(threads=2)
    assert written(path) == {"threads": 2, "port": 7000, "theme": "sepia", "of_version_9": {"a": [1.5, None]}}
    assert set(file.bad_values) == {"theme"}
    file.reset("theme")
    assert file.problem == ""


def test_a_file_saved_by_an_editor_of_windows_is_read(path: Path) -> None:
    write(path, b'\xef\xbb\xbf{"threads": 4}')
    assert SettingsFile(path).settings.threads == 4


def test_two_programs_keep_each_others_settings(path: Path) -> None:
    one, two = SettingsFile(path), SettingsFile(path)
    told: list[frozenset[str]] = []
    two.listen(told.append)

    one.change(threads=1, port=7000)
    two.change(threads=2)

    assert written(path) == {"threads": 2, "port": 7000}
    assert two.settings.port == 7000
    assert told == [frozenset({"threads"}), frozenset({"port"})]
    one.change(theme="dark")
    assert one.settings == two.settings.model_copy(update={"theme": "dark"})


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_only_this_user_can_read_it(path: Path) -> None:
    SettingsFile(path).change(tracker="http://secret.example")
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_write_that_fails_leaves_the_old_file_and_no_rest(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = SettingsFile(path)
    file.change(threads=1)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SettingsNotSaved, match="No space left on device"):
        file.change(threads=2)

    assert file.settings.threads == 2
    assert "could not be saved" in file.problem
    assert written(path) == {"threads": 1}
    assert list(path.parent.glob("*.partial")) == []
    monkeypatch.undo()
    file.change(port=7000)
    assert written(path) == {"threads": 2, "port": 7000}
    assert file.problem == ""


def test_a_lock_that_nobody_gives_back_is_not_waited_for_forever(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings_file, "LOCK_WAIT_S", 0.01)
    file = SettingsFile(path)
    path.parent.mkdir()
    with FileLock(path.with_name("settings.json.lock")), pytest.raises(SettingsNotSaved, match="another program"):
        file.change(threads=2)


async def test_on_a_loop_the_change_counts_at_once_and_is_written_in_order(path: Path) -> None:
    file = await asyncio.to_thread(SettingsFile, path)
    for threads in range(20):
        file.change(threads=threads)
    file.change(theme="dark")
    file.reset("theme")
    assert file.settings.threads == 19
    await file.saved()
    assert written(path) == {"threads": 19}


async def test_on_a_loop_a_write_that_fails_becomes_the_problem(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, told = await asyncio.to_thread(SettingsFile, path), []
    file.listen(told.append)

    def read_only(*_: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(settings_file, "write_private", read_only)
    file.change(threads=5)
    await file.saved()
    assert "Read-only file system" in file.problem
    assert told == [frozenset({"threads"}), frozenset()]
    monkeypatch.undo()
    file.change(port=1)
    await file.saved()
    assert (file.problem, told[2:]) == ("", [frozenset({"port"}), frozenset()])
    assert written(path) == {"threads": 5, "port": 1}


async def test_what_another_program_wrote_is_taken_up_when_asked(path: Path) -> None:
    file, told = await asyncio.to_thread(SettingsFile, path), []
    file.listen(told.append)
    write(path, '{"theme": "light"}')
    await file.refresh()
    assert file.settings.theme == "light"
    assert told == [frozenset({"theme"})]


GOOD_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "threads": st.integers(0, 1024),
    "display_name": st.text("aäß 漢", max_size=32),
    "pause_on_battery": st.booleans(),
    "schedule_days": st.frozensets(st.sampled_from(get_args(Weekday))),
    "theme": st.sampled_from(["system", "light", "dark"]),
    "schedule_from": st.sampled_from(["7:30", "07:30", "23:59"]),
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
UNKNOWN = st.dictionaries(st.text().filter(lambda name: name not in Settings.model_fields), JSON, max_size=4)
STEP = st.one_of(
    *(st.tuples(st.just("change"), st.just(name), values) for name, values in GOOD_VALUES.items()),
    *(
        st.tuples(st.just("refuse"), st.just(name), st.sampled_from(values))
        for name, values in BAD_VALUES.items()
        if name in GOOD_VALUES
    ),
    st.tuples(st.just("reset"), st.sampled_from(list(GOOD_VALUES)), st.none()),
    st.tuples(st.just("reload"), st.none(), st.none()),
)


@given(unknown=UNKNOWN, steps=st.lists(STEP, max_size=8))
def test_any_sequence_of_changes_keeps_what_is_unknown_and_what_is_valid(
    unknown: dict[str, Any], steps: list[tuple[str, str, Any]]
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "settings.json"
        path.write_bytes(json.dumps(unknown).encode())
        file, expected = SettingsFile(path), Settings()
        for step, name, value in steps:
            if step == "change":
                file.change(**{name: value})
                setattr(expected, name, value)
            elif step == "reset":
                file.reset(name)
                setattr(expected, name, Settings.model_fields[name].default)
            elif step == "reload":
                file = SettingsFile(path)
            else:
                with pytest.raises(SettingRefused):
                    file.change(**{name: value})
            assert file.settings == expected
        assert file.problem == ""
        assert SettingsFile(path).settings == expected
        raw = written(path)
        assert {key: raw.get(key) for key in unknown} == unknown
