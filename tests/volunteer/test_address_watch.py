"""Sleep, a set clock and another network are told apart and told soon, by clocks that the test turns."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from meshdesk.volunteer.address_watch import AddressWatch, Change, Moment, read_clocks, what_happened

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
        self.broken = False
        self.told: asyncio.Queue[Change] = asyncio.Queue()
        self._looked: asyncio.Queue[None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()

    def watch(self, on_change: Callable[[Change], None] | None = None) -> AddressWatch:
        return AddressWatch(
            on_change or self.told.put_nowait, clocks=lambda: self.moment, addresses=self._look, tick_s=0.005
        )

    async def next(self) -> Change:
        return await asyncio.wait_for(self.told.get(), 5)

    async def looked(self, times: int) -> None:
        """Wait until the addresses were looked at ``times`` more times, and what followed from all but the last."""
        while not self._looked.empty():
            self._looked.get_nowait()
        for _ in range(times):
            await asyncio.wait_for(self._looked.get(), 5)

    def _look(self) -> frozenset[str]:
        self._loop.call_soon_threadsafe(self._looked.put_nowait, None)
        if self.broken:
            raise OSError("no such device")
        return self.addresses


async def test_each_change_is_told_once() -> None:
    computer = TurnedClocks()
    watch = computer.watch()
    watch.start()
    try:
        computer.moment = later(1, 1000, 1000)
        assert await computer.next() is Change.RESUMED
        computer.addresses = frozenset({"eth0 10.0.0.7"})
        assert await computer.next() is Change.ADDRESS
        computer.addresses = frozenset()
        assert await computer.next() is Change.ADDRESS
        await computer.looked(4)
        assert computer.told.empty()
    finally:
        await watch.close()


async def test_waking_in_another_network_is_one_change() -> None:
    computer = TurnedClocks()
    watch = computer.watch()
    watch.start()
    try:
        computer.addresses = frozenset({"wlan0 10.0.0.7"})
        computer.moment = later(1, 1000, 1000)
        assert await computer.next() in (Change.RESUMED, Change.ADDRESS)
    finally:
        await watch.close()


async def test_a_fault_of_the_listener_and_of_the_system_does_not_end_the_watch(
    caplog: pytest.LogCaptureFixture,
) -> None:
    computer = TurnedClocks()
    computer.broken = True
    calls: asyncio.Queue[Change] = asyncio.Queue()

    def told(change: Change) -> None:
        calls.put_nowait(change)
        raise LookupError("no window")

    watch = computer.watch(told)
    watch.start()
    try:
        await computer.looked(2)
        computer.broken = False
        await computer.looked(3)
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


IN_NAMESPACE = """
import asyncio, subprocess, time
from meshdesk.volunteer.address_watch import AddressWatch, outward_addresses

async def main():
    told, loop, looked = asyncio.Queue(), asyncio.get_running_loop(), asyncio.Event()

    def look():
        found = outward_addresses()
        loop.call_soon_threadsafe(looked.set)
        return found

    watch = AddressWatch(told.put_nowait, addresses=look)
    watch.start()
    await asyncio.wait_for(looked.wait(), 5)
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
