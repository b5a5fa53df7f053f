"""What the rules look at: the battery as psutil tells it, and other programs' share of the processor."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import psutil
import pytest

from meshdesk.volunteer.power import CpuSample, OwnShare, PowerWatch, battery


class Battery(NamedTuple):
    percent: float
    secsleft: int
    power_plugged: bool | None


def raising(error: Exception) -> Callable[[], Any]:
    def fail() -> Any:
        raise error

    return fail


@pytest.mark.parametrize(
    ("found", "facts"),
    [
        (lambda: None, (None, None)),
        (lambda: Battery(34.2, 600, False), (False, 34.2)),
        (lambda: Battery(100.7, -2, True), (True, 100.0)),
        (lambda: Battery(50, -1, None), (None, 50.0)),
        (raising(FileNotFoundError("/sys/class/power_supply/BAT0/status")), (None, None)),
        (raising(AttributeError("sensors_battery")), (None, None)),
    ],
)
def test_the_battery_and_all_the_ways_of_having_none(
    monkeypatch: pytest.MonkeyPatch, found: Callable[[], Any], facts: tuple[Any, Any]
) -> None:
    monkeypatch.setattr(psutil, "sensors_battery", found, raising=False)
    assert battery() == facts


class Samples:
    """Four cores of which others use so many and this program so many, sample by sample."""

    def __init__(self) -> None:
        self.at = self.busy = self.own = 0.0

    def go_on(self, seconds: float, *, others: float, own: float) -> None:
        self.at += seconds
        self.busy += seconds * (others + own)
        self.own += seconds * own

    def __call__(self) -> CpuSample:
        return CpuSample(self.at, self.at * 4, self.busy, self.own)


async def test_others_share_is_known_after_a_minute_and_leaves_out_our_own() -> None:
    samples = Samples()
    watch = PowerWatch(samples)
    for _ in range(12):
        assert (await watch.facts(0)).busy_percent is None
        samples.go_on(5, others=1, own=3)
    assert (await watch.facts(0)).busy_percent == pytest.approx(25)
    for _ in range(12):
        samples.go_on(5, others=4, own=0)
        share = (await watch.facts(7)).busy_percent
    assert share == pytest.approx(100)


async def test_a_sleep_begins_a_new_minute() -> None:
    samples = Samples()
    watch = PowerWatch(samples)
    for _ in range(13):
        samples.go_on(5, others=4, own=0)
        await watch.facts(0)
    samples.go_on(3600, others=0, own=0)
    assert (await watch.facts(0)).busy_percent is None


async def test_being_asked_often_does_not_shorten_the_minute() -> None:
    samples = Samples()
    watch = PowerWatch(samples)
    for _ in range(700):
        samples.go_on(0.1, others=2, own=0)
        facts = await watch.facts(0)
    assert facts.busy_percent == pytest.approx(50)


async def test_what_no_rule_asks_for_is_not_looked_at() -> None:
    def never() -> CpuSample:
        raise AssertionError("looked at the processor")

    facts = await PowerWatch(never).facts(11, processor=False)
    assert (facts.busy_percent, facts.used_bytes) == (None, 11)


def test_a_childs_work_is_ours_and_stays_so_after_its_end() -> None:
    share = OwnShare()
    before = share.sample()
    program = "import time; t = time.process_time()\nwhile time.process_time() - t < 0.2: pass\nprint(1)\ninput()"
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        during = share.sample()
        child.communicate(b"\n")
    after = share.sample()
    assert during.own - before.own >= 0.15
    assert after.own >= during.own
    assert after.busy <= after.total
