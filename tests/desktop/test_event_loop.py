"""The loop of the app: Qt and asyncio go on beside each other, and it ends clean."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from PySide6.QtCore import QTimer

from meshdesk.desktop.background import Background
from tests.desktop.conftest import RunInApp


def test_timers_of_qt_and_tasks_run_beside_each_other(run_in_app: RunInApp[Any]) -> None:
    async def body() -> int:
        ticked = asyncio.get_running_loop().create_future()
        QTimer.singleShot(1, lambda: ticked.set_result(7))
        return int(await asyncio.wait_for(ticked, 5))

    assert run_in_app(body) == 7


def test_a_task_left_over_is_cancelled_and_awaited(run_in_app: RunInApp[Any]) -> None:
    ended: list[str] = []

    async def body() -> None:
        async def wait() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("cancelled")

        body.task = asyncio.create_task(wait())  # type: ignore[attr-defined]
        await asyncio.sleep(0)

    run_in_app(body)
    assert ended == ["cancelled"]


def test_what_the_main_coroutine_raises_comes_out(run_in_app: RunInApp[Any]) -> None:
    async def body() -> None:
        raise LookupError("x")

    with pytest.raises(LookupError):
        run_in_app(body)


def test_background_work_is_owned_and_its_faults_are_told(
    run_in_app: RunInApp[Any], caplog: pytest.LogCaptureFixture
) -> None:
    async def body() -> list[str]:
        background, told = Background(), []

        async def fail() -> None:
            raise ValueError("no")

        first = background.start(fail(), "told", lambda error: told.append(str(error)))
        second = background.start(fail(), "logged")
        forever = background.start(asyncio.Event().wait(), "forever")
        assert first and second and forever
        await asyncio.wait([first, second])
        await asyncio.sleep(0)
        await background.close()
        assert forever.cancelled()
        assert background.start(fail(), "late") is None
        return told

    assert run_in_app(body) == ["no"]
    assert [record.message for record in caplog.records] == ["logged failed"]
