"""Sleep, a set clock and another network are told apart and told soon, by clocks that the test turns."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from meshdesk.volunteer.address_watch import AddressWatch, Change, Moment, outward_addresses, read_clocks, what_happened

AT = Moment(100.0, 1_800_000_000.0, 500.0)


def later(ran: float, wall: float, boot: float | None) -> Moment:
    return Moment(AT.monotonic + ran, AT.wall + wall, None if boot is None else 500.0 + boot)


@pytest.mark.parametrize(
    ("now", "change"),
    [
        (later(1, 1, 1), None),
        (later(4, 4, 4), None),  # a busy loop
        (later(1, 3.5, 1), None),  # a time service slews
        (later(1, 3601, 3601), Change.RESUMED),  # Linux slept
        (later(3601, 3601, 3601), Change.RESUMED),  # Windows slept, or the process was stopped
        (later(1, 3601, 1), Change.CLOCK),  # the clock was set forward
        (later(1, -3599, 1), Change.CLOCK),  # and back
        (later(1, -5, 3601), Change.RESUMED),  # slept, and the clock was set meanwhile
    ],
)
def test_the_clocks_tell_sleep_from_a_set_clock(now: Moment, change: Change | None) -> None:
    assert what_happened(AT, now, 1.0) is change


def test_without_a_clock_that_counts_sleep_a_leap_forward_is_a_sleep() -> None:
    before = replace(AT, boot=None)
    assert what_happened(before, later(1, 3601, None), 1.0) is Change.RESUMED
    assert what_happened(before, later(1, -3599, None), 1.0) is Change.CLOCK


class TurnedClocks:
    """A computer whose clocks and addresses the test turns."""

    def __init__(self) -> None:
        self.moment = AT
        self.addresses = frozenset({"eth0 192.168.1.5"})
        self.told: asyncio.Queue[Change] = asyncio.Queue()

    def watch(self) -> AddressWatch:
        return AddressWatch(
            self.told.put_nowait, clocks=lambda: self.moment, addresses=lambda: self.addresses, tick_s=0.005
        )

    async def next(self) -> Change:
        return await asyncio.wait_for(self.told.get(), 5)


async def test_each_change_is_told_once() -> None:
    computer = TurnedClocks()
    watch = computer.watch()
    watch.start()
    try:
        await asyncio.sleep(0.05)
        computer.moment = later(1, 1000, 1000)
        assert await computer.next() is Change.RESUMED
        computer.addresses = frozenset({"eth0 10.0.0.7"})
        assert await computer.next() is Change.ADDRESS
        computer.addresses = frozenset()
        assert await computer.next() is Change.ADDRESS
        await asyncio.sleep(0.05)
        assert computer.told.empty()
    finally:
        await watch.close()


async def test_waking_in_another_network_is_one_change() -> None:
    computer = TurnedClocks()
    watch = computer.watch()
    watch.start()
    try:
        await asyncio.sleep(0.05)
        computer.addresses = frozenset({"wlan0 10.0.0.7"})
        computer.moment = later(1, 1000, 1000)
        assert await computer.next() in (Change.RESUMED, Change.ADDRESS)
    finally:
        await watch.close()


async def test_a_fault_of_the_listener_and_of_the_system_does_not_end_the_watch(
    caplog: pytest.LogCaptureFixture,
) -> None:
    computer = TurnedClocks()
    fails = True

    def addresses() -> frozenset[str]:
        if fails:
            raise OSError("no such device")
        return computer.addresses

    calls: asyncio.Queue[Change] = asyncio.Queue()

    def told(change: Change) -> None:
        calls.put_nowait(change)
        raise LookupError("no window")

    watch = AddressWatch(told, clocks=lambda: computer.moment, addresses=addresses, tick_s=0.005)
    watch.start()
    try:
        await asyncio.sleep(0.03)
        fails = False
        await asyncio.sleep(0.05)
        assert calls.empty(), "addresses seen for the first time are no change"
        computer.addresses = frozenset()
        assert await asyncio.wait_for(calls.get(), 5) is Change.ADDRESS
        computer.addresses = frozenset({"eth0 10.0.0.1"})
        assert await asyncio.wait_for(calls.get(), 5) is Change.ADDRESS
    finally:
        await watch.close()
    assert "what follows from" in caplog.text


def test_the_real_clocks_run_together() -> None:
    assert what_happened(read_clocks(), read_clocks(), 0.0) is None


def test_a_look_at_the_addresses_costs_next_to_nothing() -> None:
    outward_addresses()
    before = time.thread_time()
    for _ in range(20):
        outward_addresses()
    # A thousandth of a second for each second is the bound of an idle app.
    assert (time.thread_time() - before) / 20 < 0.002


IN_NAMESPACE = """
import asyncio, subprocess, time
from meshdesk.volunteer.address_watch import AddressWatch

async def main():
    told = asyncio.Queue()
    watch = AddressWatch(told.put_nowait)
    watch.start()
    await asyncio.sleep(0.3)
    command = ["ip", "addr", "add", "192.168.77.5/24", "dev", "lo"]
    await asyncio.to_thread(subprocess.run, command, check=True)
    started = time.monotonic()
    change = await asyncio.wait_for(told.get(), 5)
    assert time.monotonic() - started < 2, "too late"
    print(change)
    await watch.close()

asyncio.run(main())
"""


@pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0 or not shutil.which("ip") or not shutil.which("unshare"),
    reason="a network of its own needs root on Linux, with ip and unshare",
)
def test_a_real_address_that_comes_is_noticed_within_two_seconds() -> None:
    script = 'ip link set lo up && exec "$0" -c "$1"'
    made = subprocess.run(
        ["unshare", "--net", "sh", "-c", "ip link set lo up"], capture_output=True, timeout=10, check=False
    )
    if made.returncode:
        pytest.skip(f"no network of its own can be made here: {made.stderr.decode()[-100:].strip()}")
    ended = subprocess.run(
        ["unshare", "--net", "sh", "-c", script, sys.executable, IN_NAMESPACE],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
    )
    assert ended.stdout.split() == ["address-changed"], ended.stderr
