from __future__ import annotations

from meshdesk.tracker import avoidance
from meshdesk.tracker.avoidance import Avoided
from tests.tracker.records import Clock


def test_a_failure_is_remembered_for_its_time() -> None:
    clock = Clock()
    avoided = Avoided(60, clock)
    assert avoided.why("a") is None
    avoided.add("a", "it timed out")
    clock.now += 59.9
    assert avoided.why("a") == "it timed out"
    clock.now += 0.1
    assert avoided.why("a") is None


def test_a_later_failure_counts_from_then_and_a_success_forgives() -> None:
    clock = Clock()
    avoided = Avoided(60, clock)
    avoided.add("a", "one")
    clock.now += 50
    avoided.add("a", "two")
    clock.now += 50
    assert avoided.why("a") == "two"
    avoided.forgive("a")
    avoided.forgive("never failed")
    assert avoided.why("a") is None


def test_only_the_newest_are_remembered() -> None:
    avoided = Avoided(60, Clock())
    for number in range(avoidance.MAX_REMEMBERED + 1):
        avoided.add(f"n{number}", "down")
    assert avoided.why("n0") is None
    assert avoided.why("n1") == "down"
    assert avoided.why(f"n{avoidance.MAX_REMEMBERED}") == "down"
