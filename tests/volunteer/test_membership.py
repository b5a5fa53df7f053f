"""Join, pause, resume and leave: against a practice mesh of real processes with the real model, and what refuses."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import psutil
import pytest
import pytest_asyncio

from meshdesk.volunteer.chat_client import Question, ask
from meshdesk.volunteer.membership import Membership
from meshdesk.volunteer.membership_records import KeptRecords
from meshdesk.volunteer.settings import Settings
from meshdesk.volunteer.status import (
    LinkState,
    Pause,
    PauseCause,
    Phase,
    Reach,
    Remedy,
    Status,
    WhyNotDirect,
)

WAIT_S = 60.0


class HeldPause:
    """A person's pause, in memory."""

    def __init__(self) -> None:
        self._pause: Pause | None = None

    def current(self) -> Pause | None:
        if self._pause is not None and self._pause.until is not None and time.time() >= self._pause.until:
            self._pause = None
        return self._pause

    def begin(self, seconds: float | None) -> None:
        self._pause = Pause(PauseCause.PERSON, None if seconds is None else time.time() + seconds)

    def lift(self) -> None:
        self._pause = None


class HeldSettings:
    """Settings, in memory."""

    def __init__(self) -> None:
        self.settings = Settings(threads=1)
        self._listeners: list[Callable[[frozenset[str]], None]] = []

    def change(self, **values: object) -> None:
        for name, value in values.items():
            setattr(self.settings, name, value)
        for listener in self._listeners:
            listener(frozenset(values))

    def listen(self, changed: Callable[[frozenset[str]], None]) -> Callable[[], None]:
        self._listeners.append(changed)
        return lambda: self._listeners.remove(changed)


class Scene:
    """A membership with what it is told, and a way to wait for what it becomes."""

    def __init__(self, directory: Path):
        self.settings = HeldSettings()
        self.rule: Pause | None = None
        self.membership = Membership(self.settings, KeptRecords(directory, HeldPause()), self._rules)

    async def _rules(self, settings: Settings) -> Pause | None:
        return self.rule

    async def until(self, holds: Callable[[Status], bool]) -> Status:
        """The first status for which ``holds``; the last one seen is in the failure."""
        came = asyncio.Event()
        unlisten = self.membership.listen(came.set)
        try:
            async with asyncio.timeout(WAIT_S):
                while not holds(status := self.membership.status):
                    await came.wait()
                    came.clear()
        except TimeoutError:
            pytest.fail(f"never: {self.membership.status}")
        finally:
            unlisten()
        return status

    async def until_phase(self, phase: Phase) -> Status:
        return await self.until(lambda status: status.phase is phase)


@pytest_asyncio.fixture
async def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Scene]:
    monkeypatch.setenv("MESHDESK_DATA", str(tmp_path))
    scene = Scene(tmp_path)
    await scene.membership.records.load()
    scene.membership.start()
    yield scene
    await scene.membership.close()


@pytest.mark.parametrize("turns", range(8))
async def test_an_end_that_comes_with_a_change_is_not_lost(tmp_path: Path, turns: int) -> None:
    """A wait that ends in the very turn in which it is cancelled must still be cancelled."""
    membership = Scene(tmp_path).membership
    await membership.records.load()
    membership.start()
    # Paused: the membership looks at the clock, so its wait has a deadline.
    membership.pause(None)
    for _ in range(20):
        await asyncio.sleep(0)
    membership.pause(60.0)
    for _ in range(turns):
        await asyncio.sleep(0)
    await asyncio.wait_for(membership.close(), 5)


@pytest.mark.timeout(150)
async def test_a_practice_mesh_from_joining_to_leaving(scene: Scene, smollm2: Path, tmp_path: Path) -> None:
    membership = scene.membership
    # Other tests of this process may have shards of their own.
    others = set(psutil.Process().children(recursive=True))
    membership.practise()
    status = await scene.until(lambda status: status.phase is Phase.SERVING and status.direct.reachable is not None)
    assert status.practice
    assert (status.reach, status.relay.state, status.tracker.state) == (
        Reach.RELAY,
        LinkState.CONNECTED,
        LinkState.CONNECTED,
    )
    assert (status.direct.reachable, status.direct.why) == (True, WhyNotDirect.LOOPBACK)
    assert status.shard is not None
    assert (status.shard.start_layer, status.shard.end_layer, status.shard.num_layers) == (0, 15, 30)
    assert status.shard.chosen == "nobody holds layers 0–14 yet"
    await _chat(membership, 8)
    status = await scene.until(lambda status: status.chats_now == 0)
    assert [(stop.mine, stop.via != "") for stop in status.route] == [(True, False), (False, True)]
    assert status.route[1].latency_ms is not None and status.route[1].compute_ms is not None
    assert status.today.tokens == 8 and status.today.chats == 1 and status.today.bytes_out > 8 * 1152
    assert len(membership.hops) == 16

    child = await _shard_child(others)
    membership.pause(None)
    status = await scene.until_phase(Phase.PAUSED)
    assert status.pause == Pause(PauseCause.PERSON)
    assert not child.is_running(), "a pause gives the memory back"
    membership.resume()
    await scene.until_phase(Phase.SERVING)
    scene.settings.change(display_name="anna")
    await scene.until_phase(Phase.STARTING)
    await scene.until(lambda status: status.phase is Phase.SERVING and status.route[0].name == "anna")
    membership.leave()
    status = await scene.until_phase(Phase.OFF)
    assert not status.practice
    assert set(psutil.Process().children(recursive=True)) <= others
    assert (tmp_path / "given.json").exists()


async def _chat(membership: Membership, tokens: int) -> None:
    assert membership.tracker_url is not None
    question = Question(messages=[{"role": "user", "content": "Count."}], max_tokens=tokens, temperature=0.0)
    async for _ in ask(membership.tracker_url, question):
        pass


async def _shard_child(others: set[psutil.Process]) -> psutil.Process:
    found = await asyncio.to_thread(psutil.Process().children)
    children = [child for child in found if child not in others]
    commands = await asyncio.to_thread(lambda: [" ".join(child.cmdline()) for child in children])
    return next(child for child, line in zip(children, commands, strict=True) if "shard.worker" in line)


async def test_without_a_mesh_it_says_what_to_do(scene: Scene) -> None:
    scene.membership.join()
    status = await scene.until_phase(Phase.ERROR)
    assert status.problem is not None
    assert (status.problem.code, status.problem.remedy) == ("no_mesh", Remedy.SETTINGS)
    scene.membership.leave()
    status = await scene.until_phase(Phase.OFF)
    assert status.problem is None


async def test_a_setting_that_cures_the_problem_tries_again_by_itself(scene: Scene) -> None:
    scene.settings.settings.model = "/no/such/model"
    scene.settings.settings.tracker = "http://127.0.0.1:1"
    scene.membership.join()
    status = await scene.until_phase(Phase.ERROR)
    assert status.problem is not None and status.problem.code == "model_not_found"
    scene.settings.change(tracker="", model="")
    await scene.until(lambda status: status.problem is not None and status.problem.code == "no_mesh")


async def test_a_rule_pauses_before_anything_starts(scene: Scene) -> None:
    scene.rule = Pause(PauseCause.BATTERY, setting="pause_on_battery")
    await scene.membership.watch_rules_now()
    scene.membership.join()
    status = await scene.until_phase(Phase.PAUSED)
    assert status.pause == scene.rule
    scene.rule = None
    await scene.membership.watch_rules_now()
    await scene.until_phase(Phase.ERROR)


async def test_a_pause_of_an_earlier_run_goes_on(scene: Scene, tmp_path: Path) -> None:
    pause = HeldPause()
    pause.begin(None)
    again = Membership(scene.settings, KeptRecords(tmp_path, pause), _no_rules)
    again.start()
    try:
        came = asyncio.Event()
        again.listen(came.set)
        async with asyncio.timeout(WAIT_S):
            while again.status.phase is not Phase.PAUSED:
                await came.wait()
                came.clear()
    finally:
        await again.close()
    assert pause.current() == Pause(PauseCause.PERSON)


async def _no_rules(_: Settings) -> Pause | None:
    return None
