"""A headless node under command, with a node that only remembers whether it takes chats."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from meshdesk.node.events import ChatStarted, DirectProbed, EventBus, RelayConnected, RelayLost
from meshdesk.volunteer.control_places import Place
from meshdesk.volunteer.control_protocol import NotPossible
from meshdesk.volunteer.controlled_node import ControlledNode, controlled
from meshdesk.volunteer.log_records import LogRing


class QuietNode:
    """What a ControlledNode needs of a node."""

    node_id = "n1"

    def __init__(self, tracker: str | None = "http://127.0.0.1:1") -> None:
        self.bus = EventBus()
        self.takes = True
        self.probes = 0
        self.config = SimpleNamespace(
            tracker_url=tracker, relay_url="ws://r", advertise="http://127.0.0.1:7", host="127.0.0.1", port=7
        )
        self.info = SimpleNamespace(
            model_id="m", start_layer=0, end_layer=15, num_layers=30, weight_bytes=1, compute_dtype="float32"
        )

    def health(self) -> dict[str, Any]:
        tracker = self.config.tracker_url
        return {"relay": {"connected": False}, "tracker": tracker and {"url": tracker, "registered": True}}

    async def take_no_more(self) -> None:
        self.takes = False

    def take_again(self) -> None:
        self.takes = True

    async def probe_direct(self) -> None:
        self.probes += 1
        self.bus.publish(DirectProbed(endpoint="http://127.0.0.1:7", reachable=True, reason="reachable"))


@asynccontextmanager
async def under_command(node: QuietNode) -> AsyncIterator[ControlledNode]:
    controls = ControlledNode(node, LogRing(10, 1000), lambda: None)  # type: ignore[arg-type]
    controls.start()
    # It follows events from the loop's next turn on.
    await asyncio.sleep(0)
    try:
        yield controls
    finally:
        await controls.close()


async def test_leaving_takes_no_more_chats_and_joining_takes_them_again() -> None:
    node = QuietNode()
    async with under_command(node) as controls:
        assert controls.status()["phase"] == "serving"
        await controls.leave()
        assert not node.takes
        left = controls.status()
        assert (left["phase"], left["tracker"]["state"], left["joined_at"]) == ("off", "none", None)
        await controls.join()
        assert node.takes and controls.status()["phase"] == "serving"


async def test_a_pause_ends_by_itself_and_a_word_of_the_person_ends_it_before() -> None:
    node = QuietNode()
    async with under_command(node) as controls:
        await controls.pause(0.05)
        assert controls.status()["pause"]["until"] is not None
        async for status in controls.watch():
            if status["phase"] == "serving":
                break
        assert node.takes and controls.status()["pause"] is None
        await controls.pause(0.05)
        await controls.leave()
        await asyncio.sleep(0.1)
        assert not node.takes, "who leaves does not come back because an older pause is over"
        await controls.pause(None)
        assert controls.status()["pause"]["until"] is None
        await controls.resume()
        assert node.takes


async def test_what_a_node_cannot_do_is_said() -> None:
    async with under_command(QuietNode(tracker=None)) as controls:
        for call in (controls.join(), controls.leave(), controls.pause(None), controls.resume()):
            with pytest.raises(NotPossible, match="no tracker"):
                await call
        with pytest.raises(NotPossible, match="no window"):
            controls.show("logs")


async def test_events_change_the_status_and_who_watches_sees_it() -> None:
    node = QuietNode()
    async with under_command(node) as controls:
        watching = controls.watch()
        assert (await anext(watching))["chats_now"] == 0
        node.bus.publish(RelayConnected(relay="ws://r"))
        node.bus.publish(ChatStarted(session="s", prompt_tokens=3, hops=2))
        seen = await asyncio.wait_for(anext(watching), 5)
        assert (seen["reach"], seen["chats_now"]) == ("relay", 1)
        node.bus.publish(RelayLost(relay="ws://r", reason="gone"))
        async with asyncio.timeout(5):
            while seen["relay"]["state"] != "lost":
                seen = await anext(watching)
        await watching.aclose()  # type: ignore[attr-defined]
        assert node.probes == 1, "the tracker is asked once, when somebody wants to know"


async def test_a_place_that_cannot_be_had_does_not_stop_the_node(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    for place in (None, Place("node-1", tmp_path / "file" / "node-1.sock", unix=True)):
        async with controlled(QuietNode(), LogRing(10, 1000), place) as told:  # type: ignore[arg-type]
            assert not told.is_set()
    assert "takes no commands" in caplog.text
