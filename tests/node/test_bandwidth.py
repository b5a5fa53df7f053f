"""The bandwidth cap, with a clock that the test moves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshdesk.node.bandwidth import BURST_S, BandwidthCap


def test_without_a_cap_nothing_waits() -> None:
    assert BandwidthCap(0).take(10**12) == 0.0


def test_a_burst_passes_at_once_and_the_rest_waits() -> None:
    cap = BandwidthCap(1000, clock=lambda: 5.0)
    assert cap.take(int(1000 * BURST_S)) == 0.0
    assert cap.take(1000) == pytest.approx(1.0)


@given(st.lists(st.tuples(st.integers(1, 5000), st.floats(0, 3)), min_size=1, max_size=50))
def test_over_any_time_no_more_passes_than_the_cap_and_one_burst(bookings: list[tuple[int, float]]) -> None:
    now = 0.0
    cap = BandwidthCap(1000, clock=lambda: now)
    passed: list[tuple[float, int]] = []
    for octets, pause in bookings:
        passed.append((now + cap.take(octets), octets))
        now += pause
    end = max(at for at, _ in passed)
    assert sum(octets for _, octets in passed) <= 1000 * (end + BURST_S) + 1e-3
