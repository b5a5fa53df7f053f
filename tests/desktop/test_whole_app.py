"""The whole app against a real mesh: join, chat, a relay that fails and comes back, leave, quit. Drawn offscreen."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QPushButton, QWidget

from meshdesk.desktop.actions import Window
from meshdesk.desktop.app import App
from meshdesk.desktop.parts import Parts
from meshdesk.desktop.session_end import EarlySignals
from meshdesk.desktop.start import StartOptions
from meshdesk.node.events import HopWayChanged, Way
from meshdesk.volunteer.hop_history import MarkKind
from meshdesk.volunteer.log_setup import LogStream
from meshdesk.volunteer.onboarding import Onboarding
from meshdesk.volunteer.status import LinkState, Phase, Reach, Status
from tests.desktop.conftest import RunInApp
from tests.e2e.mesh import Mesh, Role, mesh

pytestmark = pytest.mark.timeout(170)
WAIT_S = 60.0
SEEN_S = 5.0
LONG = "Write a long story about a fisherman and his daughter, with many details."


class Running:
    """The app while it runs, and ways to wait for what it becomes."""

    def __init__(self, app: App, parts: Parts):
        self.app = app
        self.parts = parts

    def window(self, window: Window) -> Any:
        return self.parts.windows.get(window)

    async def until(self, holds: Callable[[Status], bool]) -> Status:
        came = asyncio.Event()
        unlisten = self.app.listen(came.set)
        try:
            async with asyncio.timeout(WAIT_S):
                while not holds(status := self.app.status()):
                    await came.wait()
                    came.clear()
        except TimeoutError:
            pytest.fail(f"never: {self.app.status()}")
        finally:
            unlisten()
        return status


@asynccontextmanager
async def running_app(app: App) -> AsyncIterator[Running]:
    """The app from its start to its quit, which must be clean."""
    up = asyncio.Event()
    app.listen(up.set)
    task = asyncio.create_task(app.run(), name="app")
    try:
        async with asyncio.timeout(WAIT_S):
            while app.parts is None:
                waiting = asyncio.ensure_future(up.wait())
                await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
                waiting.cancel()
                if task.done():
                    task.result()
                up.clear()
        yield Running(app, app.parts)
        app.quit()
        assert await asyncio.wait_for(task, WAIT_S) == 0
    finally:
        if not task.done():
            app.quit()
            app.quit()
            await asyncio.wait({task})


async def seen(holds: Callable[[], bool]) -> None:
    """Wait until a person would see it: a window is drawn a few times a second, and tells nobody of it."""
    async with asyncio.timeout(SEEN_S):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


def press(window: QWidget, name: str) -> None:
    """Click the visible, enabled button with this text, as a person would."""
    buttons = [each for each in window.findChildren(QPushButton) if each.isVisible() and each.isEnabled()]
    found = [each for each in buttons if each.text().replace("&", "") == name or each.accessibleName() == name]
    assert found, f"no button {name!r} among {[each.text() for each in buttons]}"
    QTest.mouseClick(found[0], Qt.MouseButton.LeftButton)


def configure(data: Path, built: Mesh) -> None:
    assert built.relay is not None
    settings = {"tracker": built.tracker.url, "relay": built.relay.url, "threads": 1, "display_name": "me"}
    (data / "settings.json").write_text(json.dumps(settings))
    Onboarding().finish(Onboarding().remaining())


def test_join_chat_fall_back_come_back_leave_and_quit(
    run_in_app: RunInApp[Any],
    qapp: QApplication,
    back_to_english: None,
    smollm2: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MESHDESK_DATA", str(tmp_path))

    logs = LogStream.install(tmp_path / "logs")
    app = App(qapp, StartOptions(), logs, EarlySignals())

    async def body() -> None:
        async with mesh(smollm2, "15-29") as built:
            await asyncio.to_thread(configure, tmp_path, built)
            async with running_app(app) as running:
                await _join(running)
                await _chat_over_a_failing_relay(running, built)
                await _leave(running)
                await _another_language(running)

    try:
        run_in_app(body)
    finally:
        logs.close()
    complaints = [line for line in (tmp_path / "logs" / "meshdesk.log").read_text().splitlines() if " ERROR " in line]
    assert not complaints


async def _join(running: Running) -> None:
    dashboard = running.window(Window.DASHBOARD)
    assert dashboard.isVisible(), "a start without a tray shows the window"
    press(dashboard, "Join mesh")
    status = await running.until(lambda status: status.phase is Phase.SERVING)
    assert status.shard is not None and (status.shard.start_layer, status.shard.end_layer) == (0, 15)
    status = await running.until(lambda status: status.relay.state is LinkState.CONNECTED)
    assert status.reach is Reach.RELAY
    await seen(lambda: dashboard.header.headline.text() == "Serving layers 0–14 of SmolLM2-135M by relay")


async def _chat_over_a_failing_relay(running: Running, built: Mesh) -> None:
    """One long answer, in the middle of which the relay dies and comes back."""
    assert built.relay is not None
    running.app.show(Window.CHAT)
    chat = running.window(Window.CHAT)
    membership = running.parts.membership
    with membership.bus.subscribe() as events:
        chat.composer.field.setPlainText(LONG)
        QTest.keyClick(chat.composer.field, Qt.Key.Key_Return)
        changed = await asyncio.wait_for(events.wait_for(HopWayChanged), WAIT_S)
        assert changed.way is Way.RELAY
        await running.until(lambda status: len(status.route) == 2 and status.route[1].latency_ms is not None)
        before = max(record.token_index for record in membership.hops.records)
        port = built.relay.url.rpartition(":")[2]
        await built.relay.kill()
        changed = await asyncio.wait_for(events.wait_for(HopWayChanged), WAIT_S)
        assert changed.way is Way.DIRECT_AFTER_RELAY
        await running.until(lambda status: status.route[1].way is Way.DIRECT_AFTER_RELAY)
        first = next(record for record in membership.hops.records if record.way is Way.DIRECT_AFTER_RELAY)
        last = max(record.token_index for record in membership.hops.records if record.way is Way.RELAY)
        assert first.token_index <= last + 1, "within one token"
        assert last >= before
        await _the_dashboard_says("direct (relay failed)", running)
        built.relay = await Role("relay", ["relay", "--json", "--port", port]).start()
        changed = await asyncio.wait_for(events.wait_for(HopWayChanged), WAIT_S)
        assert changed.way is Way.RELAY
        await running.until(lambda status: status.route[1].way is Way.RELAY)
    await _the_dashboard_says("relay", running)
    assert [mark.kind for mark in membership.hops.marks] == [MarkKind.FELL_BACK, MarkKind.CAME_BACK]
    press(chat, "Stop")
    await running.until(lambda status: status.chats_now == 0)


async def _the_dashboard_says(way: str, running: Running) -> None:
    """The route's own words, and the tail's line in the figures under the chart."""
    dashboard = running.window(Window.DASHBOARD)
    await seen(lambda: f"by {way}" in dashboard.route_strip.description())
    await seen(lambda: way in dashboard.seam_figures.ways())


async def _leave(running: Running) -> None:
    child = await asyncio.to_thread(_shard_child)
    press(running.window(Window.DASHBOARD), "Leave mesh")
    await running.until(lambda status: status.phase is Phase.OFF)
    assert not await asyncio.to_thread(child.is_running), "the memory is given back"
    assert running.app.status().shard is None


async def _another_language(running: Running) -> None:
    """Every open window speaks it at once, and the person still stands before the setting they changed."""
    running.app.show(Window.SETTINGS)
    before = running.window(Window.SETTINGS)
    before.show_about("language")
    QTest.keyClick(before.rows["language"].findChild(QComboBox), Qt.Key.Key_End)
    await seen(lambda: running.window(Window.SETTINGS) is not before and running.window(Window.SETTINGS).isVisible())
    settings = running.window(Window.SETTINGS)
    assert running.window(Window.DASHBOARD).header.headline.text() == "Nicht im Mesh"
    assert settings.rows["language"].isVisible()
    await seen(settings.isActiveWindow)


def _shard_child() -> psutil.Process:
    """The newest child that holds a shard: the app's, for the mesh's others are no children of this process."""
    children = [child for child in psutil.Process().children() if "shard.worker" in " ".join(child.cmdline())]
    return max(children, key=lambda child: child.create_time())
