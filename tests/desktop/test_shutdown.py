"""The staged end: in order, with deadlines, whatever fails."""

from __future__ import annotations

import asyncio

import pytest

from meshdesk.desktop.shutdown import Shutdown, Stage


class Steps:
    def __init__(self) -> None:
        self.done: list[str] = []
        self.cancelled: list[str] = []

    def quick(self, name: str) -> Stage:
        async def work() -> None:
            self.done.append(name)

        return Stage(name, work, 5.0)

    def endless(self, name: str, deadline_s: float, *, skippable: bool = False) -> Stage:
        async def work() -> None:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled.append(name)
                raise

        return Stage(name, work, deadline_s, skippable)


@pytest.fixture
def steps() -> Steps:
    return Steps()


async def test_the_stages_run_in_order(steps: Steps) -> None:
    assert await Shutdown([steps.quick("a"), steps.quick("b")]).run() == 0
    assert steps.done == ["a", "b"]


async def test_a_stage_that_fails_or_hangs_does_not_stop_the_next(
    steps: Steps, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail() -> None:
        raise OSError("the disk is full")

    shutdown = Shutdown([Stage("broken", fail, 5.0), steps.endless("stuck", 0.01), steps.quick("last")])
    assert await shutdown.run() == 1
    assert shutdown.failed == ["broken", "stuck"]
    assert (steps.cancelled, steps.done) == (["stuck"], ["last"])
    assert "the disk is full" in caplog.text
    assert "it took more than 0.01 s; it waited at Steps.endless" in caplog.text


async def test_asked_again_it_waits_for_chats_no_longer(steps: Steps) -> None:
    shutdown = Shutdown([steps.endless("drain", 600.0, skippable=True), steps.quick("last")])
    running = asyncio.ensure_future(shutdown.run())
    await asyncio.sleep(0)
    shutdown.hurry()
    assert await asyncio.wait_for(running, 5.0) == 0
    assert (steps.cancelled, steps.done) == (["drain"], ["last"])


async def test_in_a_hurry_from_the_start_nothing_is_drained(steps: Steps) -> None:
    shutdown = Shutdown([steps.endless("drain", 600.0, skippable=True), steps.quick("last")])
    shutdown.hurry()
    assert await shutdown.run() == 0
    assert (steps.cancelled, steps.done) == ([], ["last"])
