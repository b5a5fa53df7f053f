"""What is told outside the windows: once for each outage and each error, and once in a profile about the tray."""

from __future__ import annotations

import asyncio
import dataclasses
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from meshdesk.desktop import notifications
from meshdesk.desktop.notifications import CALM_S, OUTAGE_S, Notice, Notifier, Told, next_notice
from meshdesk.volunteer.status import LinkState, Phase, Problem, Status
from tests.desktop import sample_status as sample

UP = sample.serving_by_relay()
OTHER_PROBLEM = dataclasses.replace(sample.error(), problem=Problem("The disk is full.", "Make room."))


def lost(since: float) -> Status:
    return dataclasses.replace(sample.reconnecting(), reconnecting_since=since)


def fallen_back(since: float) -> Status:
    status = sample.falling_back()
    return dataclasses.replace(status, relay=dataclasses.replace(status.relay, since=since))


def told_of(*moments: tuple[float, Status]) -> list[tuple[float, Notice]]:
    """The notices of a story, each with the moment at which it came."""
    told, notices = Told(), []
    for at, status in moments:
        told, notice = next_notice(told, status, at)
        if notice is not None:
            notices.append((at, notice))
    return notices


def test_a_short_outage_is_not_told() -> None:
    assert told_of((0, UP), (1, lost(1)), (9, lost(1)), (10, UP), (30, UP)) == []


@pytest.mark.parametrize("down", [lost, fallen_back])
def test_a_long_outage_is_told_once(down: Callable[[float], Status]) -> None:
    ((at, _),) = told_of((0, UP), (1, down(1)), (11, down(1)), (12, down(1)), (4000, down(1)))
    assert at == 11


def test_an_outage_says_whether_others_still_reach_this_computer() -> None:
    ((_, gone),) = told_of((20, lost(1)))
    assert gone.title == "Reconnecting to the mesh" and "keeps trying" in gone.text
    ((_, fallen),) = told_of((20, fallen_back(1)))
    assert fallen.title == "The relay does not answer" and "directly" in fallen.text


def test_a_flapping_connection_is_one_outage() -> None:
    flapping = [(at, lost(at - 15) if at % 40 < 20 else UP) for at in range(20, 600, 5)]
    assert len(told_of(*flapping)) == 1


def test_an_outage_after_a_calm_time_is_another() -> None:
    story = [(20.0, lost(1)), (21.0, UP), (21 + CALM_S + 20, lost(21 + CALM_S + 1))]
    assert len(told_of(*story)) == 2


def test_a_fallback_that_becomes_an_outage_is_told_once() -> None:
    assert len(told_of((20, fallen_back(1)), (30, lost(25)), (60, lost(25)))) == 1


def test_leaving_ends_an_outage() -> None:
    assert len(told_of((20, lost(1)), (21, sample.off()), (40, UP), (60, lost(41)))) == 2


def test_an_error_is_told_once_with_what_to_do() -> None:
    story = told_of((0, UP), (1, sample.error()), (2, sample.error()), (50, sample.error()))
    problem = sample.error().problem
    assert problem is not None
    assert story == [(1, Notice("meshdesk needs your attention", f"{problem.message} {problem.hint}"))]


def test_another_error_and_one_after_another_try_are_told() -> None:
    story = told_of((1, sample.error()), (2, OTHER_PROBLEM), (3, sample.starting()), (4, OTHER_PROBLEM))
    assert [at for at, _ in story] == [1, 2, 4]


CHANGES = st.lists(
    st.tuples(st.floats(0.1, 40), st.sampled_from(["up", "down", "fallback", "error", "off"])), max_size=40
)


@given(changes=CHANGES)
def test_never_more_notices_than_outages_and_errors(changes: list[tuple[float, str]]) -> None:
    at, since, before, story, reasons = 0.0, 0.0, "up", [], 0
    for later, kind in changes:
        at += later
        if kind in ("down", "fallback") and before not in ("down", "fallback"):
            since, reasons = at, reasons + 1
        reasons += kind == "error" != before
        states = {"up": UP, "error": sample.error(), "off": sample.off()}
        story.append((at, states.get(kind) or (lost if kind == "down" else fallen_back)(since)))
        before = kind
    notices = told_of(*story)
    assert len(notices) <= reasons
    outages = [moment for moment, notice in notices if notice.title != "meshdesk needs your attention"]
    assert all(moment >= OUTAGE_S for moment in outages)


class Place:
    """Where messages would appear."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def message(self, title: str, text: str) -> bool:
        self.told.append(title)
        return True


class Story:
    """A notifier in the middle of its parts."""

    def __init__(self, told_file: Path | None = None) -> None:
        self.status = UP
        self.wanted = True
        self.place = Place()
        self.listeners: list[Callable[[], None]] = []
        self.notifier = Notifier(
            lambda: self.status, self.listen, self.place, lambda: self.wanted, told_file=told_file, now=time.time
        )

    def listen(self, changed: Callable[[], None]) -> Callable[[], None]:
        self.listeners.append(changed)
        return lambda: self.listeners.remove(changed)

    def change(self, status: Status) -> None:
        self.status = status
        for listener in list(self.listeners):
            listener()


def test_an_outage_is_told_though_nothing_else_changes(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notifications, "OUTAGE_S", 0.05)
    story = Story()
    story.change(lost(time.time()))
    assert story.place.told == []
    qtbot.waitUntil(lambda: story.place.told == ["Reconnecting to the mesh"], timeout=2000)
    story.notifier.close()


def test_who_wants_no_notifications_gets_none_later_either(qapp: QApplication) -> None:
    story = Story()
    story.wanted = False
    story.change(sample.error())
    story.wanted = True
    story.change(sample.error())
    assert story.place.told == []
    story.change(OTHER_PROBLEM)
    assert story.place.told == ["meshdesk needs your attention"]
    story.notifier.close()


def test_after_close_nothing_is_told(qtbot: QtBot) -> None:
    story = Story()
    story.change(lost(time.time()))
    story.notifier.close()
    story.change(sample.error())
    assert story.place.told == [] and story.listeners == []


def test_the_link_facts_alone_say_that_a_relay_is_lost() -> None:
    """A starting or leaving node is not in an outage, whatever its links say."""
    down = dataclasses.replace(UP.relay, state=LinkState.LOST, since=1.0)
    for phase in set(Phase) - {Phase.SERVING}:
        assert told_of((100.0, Status(phase=phase, relay=down))) == []


RunInApp = Callable[[Callable[[], Any]], Any]


def test_still_running_is_told_once_in_a_profile(run_in_app: RunInApp, tmp_path: Path) -> None:
    told_file = tmp_path / "profile" / "told"

    async def one_run() -> list[str]:
        story = Story(told_file)
        for _ in range(3):
            story.notifier.still_running()
        await_told = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.wait_for(asyncio.gather(*await_told), 5)
        story.notifier.close()
        return story.place.told

    assert run_in_app(one_run) == ["meshdesk is still running here"]
    assert run_in_app(one_run) == []


def test_a_profile_that_cannot_be_written_hides_nothing(run_in_app: RunInApp, tmp_path: Path) -> None:
    """The place of the profile is a file, so that nothing can be made in it, for root neither."""
    blocked = tmp_path / "file"
    blocked.touch(mode=stat.S_IRUSR)

    async def body() -> list[str]:
        story = Story(blocked / "told")
        story.notifier.still_running()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.wait_for(asyncio.gather(*tasks), 5)
        story.notifier.close()
        return story.place.told

    assert run_in_app(body) == ["meshdesk is still running here"]
