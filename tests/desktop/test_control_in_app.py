"""The control socket on the app's own kind of loop, which serves Qt beside it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from meshdesk.volunteer.control_client import ControlClient, running
from meshdesk.volunteer.control_places import app_place
from meshdesk.volunteer.control_protocol import Command
from meshdesk.volunteer.control_server import ControlServer
from tests.desktop.conftest import RunInApp
from tests.volunteer.stand_in_controlled import StandInControlled


def test_commands_reach_the_app_and_its_end_cuts_off_who_follows(
    run_in_app: RunInApp[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESHDESK_DATA", str(tmp_path))
    controlled = StandInControlled()

    async def body() -> None:
        server = ControlServer(controlled, app_place())
        await server.start()
        client = ControlClient(app_place())
        assert (await asyncio.to_thread(client.ask, Command.JOIN))["phase"] == "starting"
        following = asyncio.create_task(asyncio.to_thread(lambda: list(client.follow(Command.WATCH))))
        assert await asyncio.to_thread(running) == [app_place()]
        await asyncio.to_thread(client.ask, Command.SHOW, window="logs")
        await server.close()
        assert all(item["phase"] == "starting" for item in await asyncio.wait_for(following, 5))

    run_in_app(body)
    assert controlled.told == ["join", ("show", "logs")]
    assert running() == []
