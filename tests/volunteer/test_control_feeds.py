"""What logs and hops give to those who follow: what is there, then what comes, and nothing secret."""

from __future__ import annotations

import asyncio
import contextlib
import logging

import orjson
import pytest

from meshdesk.node.events import ForwardServed, HopTimed, Way
from meshdesk.volunteer import control_feeds
from meshdesk.volunteer.control_feeds import hop_fields, hop_items, log_items, record_of
from meshdesk.volunteer.hop_history import HopHistory
from meshdesk.volunteer.log_records import LogRing
from meshdesk.volunteer.log_ring_handler import kept_log


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_feeds, "POLL_S", 0.005)


def timed(token: int, way: Way = Way.RELAY) -> HopTimed:
    return HopTimed(
        session="s",
        token_index=token,
        hop=1,
        start_layer=15,
        end_layer=30,
        way=way,
        total_ms=20.0,
        compute_ms=4.0,
        queue_ms=1.0,
        bytes_out=1,
        bytes_in=2,
    )


SERVED = ForwardServed(session="t", position=4, tokens=1, compute_ms=3.0, queue_ms=0.5, bytes_in=1, bytes_out=1)


def note(ring: LogRing, message: str) -> None:
    ring.append(1.0, logging.INFO, "app", "meshdesk", message)


async def test_lines_that_come_follow_those_that_are_there() -> None:
    ring = LogRing(10, 10_000)
    assert [item async for item in log_items(ring, follow=False)] == []
    note(ring, "first")
    async with contextlib.aclosing(log_items(ring, follow=True)) as lines:
        first = await anext(lines)
        assert (first["message"], first["level"], first["number"]) == ("first", "INFO", 1)
        waiting = asyncio.ensure_future(anext(lines))
        await asyncio.sleep(0.02)
        assert not waiting.done()
        for count in range(30):
            note(ring, f"line {count}")
        gap = await asyncio.wait_for(waiting, 5)
        assert "dropped" in gap["message"], "who is too slow is told so"
        assert [(await anext(lines))["message"] for _ in range(10)] == [f"line {count}" for count in range(20, 30)]


async def test_hops_that_come_follow_those_that_are_there() -> None:
    history = HopHistory(max_tokens=5, own_layers=lambda: (0, 15))
    history.apply(timed(0))
    async with contextlib.aclosing(hop_items(history, follow=True)) as hops:
        assert (await anext(hops))["token_index"] == 0
        waiting = asyncio.ensure_future(anext(hops))
        await asyncio.sleep(0.02)
        assert not waiting.done()
        history.apply(SERVED)
        served = await asyncio.wait_for(waiting, 5)
        assert (served["way"], served["network_ms"], served["end_layer"]) == (None, None, 15)
        for token in range(1, 40):
            history.apply(timed(token))
        assert (await anext(hops))["token_index"] == 35, "what was dropped meanwhile is passed over, not told twice"
    assert len([item async for item in hop_items(history, follow=False)]) == 5


def test_a_record_survives_its_way_over_the_socket() -> None:
    history = HopHistory()
    for event in (timed(1, Way.DIRECT_AFTER_RELAY), SERVED):
        record = history.apply(event)
        assert record is not None
        assert record_of(orjson.loads(orjson.dumps(hop_fields(record)))) == record


def test_a_headless_nodes_log_is_kept_without_secrets() -> None:
    with kept_log() as ring:
        logging.getLogger("meshdesk.node").warning("lost %s", "http://anna:hunter2@tracker.example")
        try:
            raise ValueError("token=hf_abcdefghijklmnopqrstuvwxyz0123456789")
        except ValueError:
            logging.getLogger("meshdesk.node").exception("failed")
    logging.getLogger("meshdesk.node").warning("after the end")
    lines = ring.since(0)
    assert [line.origin for line in lines] == ["engine"] * 2
    assert "Traceback" in lines[1].details
    text = "\n".join(line.text for line in lines)
    assert "hunter2" not in text and "hf_abc" not in text and "after the end" not in text
