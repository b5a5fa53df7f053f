"""The ring of lines: bounded, told in order, honest about what it dropped."""

from __future__ import annotations

import logging
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshdesk.volunteer.log_records import LINE_BYTES, LogRing, gap_line, origin_of


def fill(ring: LogRing, count: int, message: str = "m") -> None:
    for number in range(count):
        ring.append(float(number), logging.INFO, "app", "x", message)


def test_lines_are_numbered_from_one_and_read_on() -> None:
    ring = LogRing(10)
    assert ring.since(0) == [] and ring.last == 0
    fill(ring, 3)
    assert [line.number for line in ring.since(0)] == [1, 2, 3]
    assert [line.number for line in ring.since(2)] == [3]
    assert [line.number for line in ring.since(0, limit=2)] == [1, 2]
    assert ring.since(3) == [] and ring.since(9) == []


def test_overflow_drops_the_oldest_and_says_so() -> None:
    ring = LogRing(10)
    fill(ring, 2144)
    first, *rest = ring.since(0)
    assert first.is_gap and first.message == "2,134 lines dropped"
    assert [line.number for line in rest] == list(range(2135, 2145))
    assert ring.dropped == 2134 and len(ring) == 10
    assert [line.number for line in ring.newest(3)] == [2142, 2143, 2144]
    assert not any(line.is_gap for line in ring.newest(50))
    assert gap_line(1, 1, 0.0).message == "1 line dropped"


def test_octets_are_bounded_too() -> None:
    ring = LogRing(1000, max_bytes=10 * (LINE_BYTES + 100))
    fill(ring, 50, "x" * 100)
    assert len(ring) == 10
    fill(ring, 1, "x" * 100_000)
    assert len(ring) == 1, "a line that is too long for all of them stays alone"


@given(
    capacity=st.integers(1, 7),
    steps=st.lists(st.tuples(st.integers(0, 9), st.none() | st.integers(1, 5)), max_size=12),
)
def test_a_reader_gets_each_line_once_or_is_told_of_it(capacity: int, steps: list[tuple[int, int | None]]) -> None:
    ring, seen, told = LogRing(capacity), [], 0
    last = 0
    for added, limit in steps:
        fill(ring, added)
        for line in ring.since(last, limit):
            if line.is_gap:
                told += int(line.message.split()[0].replace(",", ""))
            else:
                seen.append(line.number)
            last = line.number
        assert told + len(seen) == last
    assert seen == sorted(set(seen))
    assert len(ring) <= capacity and ring.dropped + len(ring) == ring.last


def test_any_thread_may_add() -> None:
    ring = LogRing(100_000)
    threads = [threading.Thread(target=fill, args=(ring, 2000)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [line.number for line in ring.since(0)] == list(range(1, 8001))


def test_a_line_that_comes_while_another_is_added_is_kept() -> None:
    ring = LogRing(5)

    class Message(str):
        """Logs when it is measured, as a garbage collection may at any time."""

        def isascii(self) -> bool:
            if ring.last < 2:
                fill(ring, 1)
            return True

    ring.append(0.0, 20, "app", "x", Message("outer"))
    assert [(line.number, line.message) for line in ring.since(0)] == [(1, "outer"), (2, "m")]


@pytest.mark.parametrize(
    ("logger", "origin"),
    [
        ("meshdesk.role", "child"),
        ("meshdesk.node.head", "engine"),
        ("meshdesk.shard.process", "engine"),
        ("meshdesk.shard.child", "child"),
        ("meshdesk.desktop.tray", "app"),
        ("meshdesk.volunteer.identity", "app"),
        ("meshdesk.nodes", "app"),
        ("qt.qpa.fonts", "qt"),
        ("qtawesome", "app"),
        ("meshdesk.fault", "fault"),
        ("websockets.client", "engine"),
        ("py.warnings", "app"),
    ],
)
def test_origins_are_told_by_the_logger(logger: str, origin: str) -> None:
    assert origin_of(logger) == origin


def test_a_message_cannot_pass_for_another_line() -> None:
    ring = LogRing(2)
    line = ring.append(
        0.0, logging.ERROR, "engine", "x", "no\n2026-01-01 00:00:00.000 INFO app x: all is well", "trace"
    )
    first, second, details = line.text.split("\n")
    assert first.endswith("ERROR    engine x: no") and second.startswith("    2026") and details == "trace"
