from __future__ import annotations

import pytest

from meshdesk.node.events import Way
from meshdesk.node.way_policy import FIRST_BACKOFF_S, MAX_BACKOFF_S, WayPolicy


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def policy(clock: Clock, *, relay: bool = True, direct: bool = True) -> WayPolicy:
    return WayPolicy(has_relay=relay, has_direct=direct, clock=clock, uniform=lambda low, high: high)


def test_the_relay_comes_first_and_direct_is_the_fallback() -> None:
    assert policy(Clock()).ways() == (Way.RELAY, Way.DIRECT_AFTER_RELAY)
    assert policy(Clock(), relay=False).ways() == (Way.DIRECT,)
    assert policy(Clock(), direct=False).ways() == (Way.RELAY,)


def test_a_seam_without_any_way_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="way"):
        policy(Clock(), relay=False, direct=False)


def test_an_outage_warns_once_and_leaves_the_relay_alone_ever_longer() -> None:
    clock = Clock()
    ways = policy(clock)
    assert ways.relay_failed("gone")
    waits = []
    for _ in range(20):
        begun = clock.now
        while ways.ways()[0] is not Way.RELAY:
            clock.now += 0.5
        waits.append(clock.now - begun)
        assert not ways.relay_failed("still gone")
        assert ways.relay_failure == "still gone"
    assert waits[0] == FIRST_BACKOFF_S and waits[-1] == MAX_BACKOFF_S and waits == sorted(waits)


def test_while_it_is_left_alone_the_relay_is_still_the_last_resort() -> None:
    ways = policy(Clock())
    ways.relay_failed("gone")
    assert ways.ways() == (Way.DIRECT_AFTER_RELAY, Way.RELAY)


def test_the_end_of_an_outage_is_told_and_the_next_one_warns_again() -> None:
    ways = policy(Clock())
    assert not ways.relay_worked()
    ways.relay_failed("gone")
    assert ways.relay_worked()
    assert ways.relay_failure is None
    assert ways.ways()[0] is Way.RELAY
    assert ways.relay_failed("gone again")


def test_a_relay_only_seam_tries_the_relay_at_once() -> None:
    ways = policy(Clock(), direct=False)
    ways.relay_failed("gone")
    assert ways.ways() == (Way.RELAY,)


def test_waits_are_never_in_step() -> None:
    drawn: list[tuple[float, float]] = []

    def uniform(low: float, high: float) -> float:
        drawn.append((low, high))
        return low

    ways = WayPolicy(has_relay=True, has_direct=True, clock=Clock(), uniform=uniform)
    ways.relay_failed("gone")
    assert drawn == [(FIRST_BACKOFF_S / 2, FIRST_BACKOFF_S)]
