"""The tray icon: late trays, none at all, what a click does, and that nothing is drawn without need."""

from __future__ import annotations

import dataclasses
import gc
import subprocess
import sys
import weakref

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QMenu, QSystemTrayIcon
from pytestqt.qtbot import QtBot

from meshdesk.desktop import tray as tray_module
from meshdesk.desktop.tray import LATE_POLL_MS, Tray
from meshdesk.volunteer.status import Status
from tests.desktop import sample_status as sample
from tests.desktop.fake_tray import FakeDesk, lines_of
from tests.desktop.recorded_actions import RecordedActions
from tests.desktop.sample_status import NOW

Reason = QSystemTrayIcon.ActivationReason


def started(status: Status) -> FakeDesk:
    desk = FakeDesk(status, NOW)
    desk.tray.start()
    return desk


def running_timers(desk: FakeDesk) -> list[QTimer]:
    return [timer for timer in desk.tray.findChildren(QTimer) if timer.isActive()]


@pytest.fixture(autouse=True)
def application(qapp: object) -> None:
    """Icons need one."""


def test_the_icon_is_whole_when_it_appears() -> None:
    desk = FakeDesk(sample.serving_by_relay(), NOW)
    appeared: list[bool] = []
    desk.tray.appeared.connect(lambda: appeared.append(desk.icon.visible))
    desk.tray.start()
    assert appeared == [True] and desk.tray.available
    assert desk.icon.calls == ["setIcon", "setToolTip", "show"]
    assert desk.icon.menu is not None and desk.icon.menu.actions()


def test_a_tray_that_comes_late_gets_the_icon(qtbot: QtBot) -> None:
    desk = FakeDesk(sample.off(), NOW, there=False)
    desk.tray.start()
    assert not desk.tray.available and not desk.icons
    desk.status = sample.serving_direct()
    with qtbot.waitSignal(desk.tray.appeared, timeout=2000):
        desk.there = True
    assert desk.tray.available
    assert "directly" in desk.icon.tooltip
    assert not running_timers(desk)


def test_no_tray_is_asked_for_less_and_less_often(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tray_module, "POLL_MS", 5)
    monkeypatch.setattr(tray_module, "POLL_FOR_S", 0.02)
    desk = FakeDesk(sample.off(), NOW, there=False)
    desk.tray.start()
    (poll,) = running_timers(desk)
    # There is no signal for a timer's new interval.
    qtbot.waitUntil(lambda: poll.interval() == LATE_POLL_MS, timeout=2000)
    desk.tray.remove()
    assert not running_timers(desk)


def test_without_a_tray_nothing_is_told_and_nothing_fails() -> None:
    desk = FakeDesk(sample.off(), NOW, there=False)
    desk.tray.start()
    assert desk.tray.message("title", "text") is False
    desk.tray.refresh()
    desk.tray.remove()


def test_offscreen_has_no_tray() -> None:
    """With Qt's own icon; the way of every desktop without one."""
    status = sample.off()
    tray = Tray(lambda: status, lambda _changed: lambda: None, RecordedActions())
    tray.start()
    assert not tray.available
    tray.remove()


def test_a_tray_that_goes_away_is_known_at_once() -> None:
    desk = started(sample.off())
    desk.there = False
    assert not desk.tray.available
    assert desk.tray.message("title", "text") is False


def test_what_did_not_change_is_not_drawn() -> None:
    desk = started(sample.serving_by_relay())
    desk.icon.calls.clear()
    desk.change(dataclasses.replace(sample.serving_by_relay(), tokens_per_s=3.0), after_s=5)
    assert desk.icon.calls == [] and not running_timers(desk)
    desk.change(dataclasses.replace(sample.serving_by_relay(), chats_now=3), after_s=5)
    assert desk.icon.calls == ["setToolTip"]


def test_figures_are_shown_once_a_second_and_states_at_once(qtbot: QtBot) -> None:
    desk = started(sample.starting())
    desk.icon.calls.clear()
    for chats in range(1, 9):
        progress = dataclasses.replace(sample.starting().progress, done=chats * 15_000_000)  # type: ignore[type-var]
        desk.change(dataclasses.replace(sample.starting(), progress=progress), after_s=0.02)
    assert desk.icon.calls == []
    (redraw,) = running_timers(desk)
    assert redraw.remainingTime() <= 1000
    qtbot.waitUntil(lambda: desk.icon.calls == ["setIcon", "setToolTip"], timeout=3000)
    assert "120 of 141 MB" in desk.icon.tooltip
    desk.change(sample.error())
    assert desk.icon.calls[2:] == ["setIcon", "setToolTip"]
    assert not running_timers(desk)


def test_no_timer_runs_while_nothing_changes() -> None:
    for make in sample.STATES.values():
        desk = started(make())
        assert not running_timers(desk)
        desk.tray.remove()


def test_the_menu_keeps_its_lines_while_only_words_change() -> None:
    """Else it would close, or jump, under the pointer."""
    desk = started(sample.serving_by_relay())
    menu = desk.icon.menu
    assert menu is not None
    before = menu.actions()
    desk.change(dataclasses.replace(sample.serving_by_relay(), chats_now=3), after_s=5)
    assert menu.actions() == before
    assert "3" in before[0].text()
    desk.change(sample.paused_by_person())
    assert [line[0] for line in lines_of(menu)][2:5] == ["Resume", "Leave mesh", "Pause"]


@pytest.mark.parametrize(
    ("status", "texts", "done"),
    [
        (sample.off(), ["Join mesh"], "join"),
        (sample.serving_direct(), ["Leave mesh"], "leave"),
        (sample.leaving(), ["Leave now"], "leave"),
        (sample.paused_by_person(), ["Resume"], "resume"),
        (sample.serving_direct(), ["Pause", "15 minutes"], "pause 900.0"),
        (sample.serving_direct(), ["Pause", "1 hour"], "pause 3600.0"),
        (sample.serving_direct(), ["Pause", "Until I resume"], "pause None"),
        (sample.paused_on_battery(), ["Change this setting…"], "show settings pause_on_battery"),
        (sample.error(), ["Open the settings"], "show settings"),
        (sample.error(), ["Try again"], "join"),
        (sample.off(), ["Dashboard"], "show dashboard"),
        (sample.off(), ["Try a chat"], "show chat"),
        (sample.off(), ["Logs"], "show logs"),
        (sample.off(), ["Settings"], "show settings"),
        (sample.off(), ["Help", "Check my connection"], "show connection"),
        (sample.off(), ["Help", "Export diagnostics…"], "show diagnostics"),
        (sample.off(), ["Help", "About"], "show about"),
        (sample.off(), ["Quit"], "quit"),
    ],
)
def test_each_entry_does_what_it_says(status: Status, texts: list[str], done: str) -> None:
    desk = started(status)
    desk.choose(*texts)
    assert desk.actions.done == [done]


def test_entries_do_what_they_say_after_a_change_too() -> None:
    desk = started(sample.off())
    desk.change(sample.serving_direct())
    desk.choose("Leave mesh")
    desk.change(sample.paused_on_battery())
    desk.choose("Change this setting…")
    desk.change(sample.off())
    desk.choose("Join mesh")
    assert desk.actions.done == ["leave", "show settings pause_on_battery", "join"]


@pytest.mark.parametrize(
    ("platform", "reason", "done"),
    [
        ("linux", Reason.Trigger, ["show dashboard"]),
        ("win32", Reason.Trigger, ["show dashboard"]),
        ("darwin", Reason.Trigger, []),
        ("linux", Reason.Context, []),
        ("linux", Reason.DoubleClick, []),
    ],
)
def test_a_click(platform: str, reason: Reason, done: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    desk = started(sample.off())
    monkeypatch.setattr(tray_module.sys, "platform", platform)
    desk.icon.activated.emit(reason)
    assert desk.actions.done == done


def test_a_message_leads_to_the_window() -> None:
    desk = started(sample.off())
    assert desk.tray.message("title", "text") is True
    assert desk.icon.messages == [("title", "text")]
    desk.icon.messageClicked.emit()
    assert desk.actions.done == ["show dashboard"]


def test_the_menu_lives_as_long_as_the_icon() -> None:
    desk = started(sample.serving_direct())
    gc.collect()
    menu = desk.icon.menu
    assert menu is not None
    pause = next(action.menu() for action in menu.actions() if action.text() == "Pause")
    assert isinstance(pause, QMenu)
    assert [action.text() for action in pause.actions()] == ["15 minutes", "1 hour", "Until I resume"]


def test_remove_takes_the_icon_away_for_good() -> None:
    desk = started(sample.starting())
    desk.change(dataclasses.replace(sample.starting(), chats_now=1))
    icon = weakref.ref(desk.icon)
    calls = desk.icon.calls
    desk.tray.remove()
    assert calls[-1] == "hide"
    desk.icons.clear()
    gc.collect()
    assert icon() is None
    assert desk.listeners == [] and not running_timers(desk) and not desk.tray.available
    desk.change(sample.off())
    desk.tray.refresh()
    desk.tray.remove()


def test_the_icon_is_cheap() -> None:
    """It stands before anything slow is imported."""
    heavy = ("aiohttp", "rich", "keyring", "huggingface_hub", "cryptography", "torch", "websockets", "qasync")
    program = f"import sys, meshdesk.desktop.tray\nprint([name for name in {heavy!r} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=True)
    assert run.stdout.strip() == "[]"
