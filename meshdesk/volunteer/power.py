"""What the rules for serving need to know of this computer: its battery, and how busy other programs keep it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from meshdesk.volunteer.pause_rules import Facts

WINDOW_S = 60.0
GAP_S = 90.0
"""After such a silence the computer slept or nobody asked; what was sampled before says nothing any more."""
APART_S = 1.0
MAX_SAMPLES = 128


@dataclass(frozen=True, slots=True)
class CpuSample:
    """Processor seconds since some beginning, over all cores: there were, were used, were used by this program."""

    at: float
    total: float
    busy: float
    own: float


class PowerWatch:
    """Looks when asked; for how busy others are it must be asked again and again over a minute."""

    def __init__(self, sample: Callable[[], CpuSample] | None = None) -> None:
        self._sample = sample or OwnShare().sample
        self._samples: deque[CpuSample] = deque(maxlen=MAX_SAMPLES)

    async def facts(self, used_bytes: int, *, processor: bool = True) -> Facts:
        """The facts now, looked at beside the loop. ``processor`` False leaves out what no rule asks for."""
        return await asyncio.to_thread(self._look, used_bytes, processor)

    def _look(self, used_bytes: int, processor: bool) -> Facts:
        plugged, percent = battery()
        if processor:
            self._add(self._sample())
        else:
            self._samples.clear()
        return Facts(plugged, percent, self._busy_percent(), used_bytes)

    def _add(self, sample: CpuSample) -> None:
        since = sample.at - self._samples[-1].at if self._samples else APART_S
        if since < APART_S:
            return
        if since > GAP_S:
            self._samples.clear()
        self._samples.append(sample)
        # The oldest kept one is the youngest that is a whole window ago.
        while len(self._samples) > 1 and sample.at - self._samples[1].at >= WINDOW_S:
            self._samples.popleft()

    def _busy_percent(self) -> float | None:
        if not self._samples:
            return None
        first, last = self._samples[0], self._samples[-1]
        total = last.total - first.total
        if last.at - first.at < WINDOW_S or total <= 0:
            return None
        others = (last.busy - first.busy) - (last.own - first.own)
        return min(100.0, max(0.0, 100 * others / total))


class OwnShare:
    """Processor time of this process and all below it, added up so that a child that ends does not take it back."""

    def __init__(self) -> None:
        self._seen: dict[tuple[int, float], float] = {}
        self._own = 0.0

    def sample(self) -> CpuSample:
        """Blocks for some milliseconds."""
        import psutil

        times = psutil.cpu_times()
        # Guests are counted among the users too; what the host of a virtual machine took is nobody's here.
        total = sum(times) - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0)
        idle = times.idle + getattr(times, "iowait", 0.0) + getattr(times, "steal", 0.0)
        return CpuSample(time.monotonic(), total, total - idle, self._own_seconds())

    def _own_seconds(self) -> float:
        import psutil

        seen: dict[tuple[int, float], float] = {}
        me = psutil.Process(os.getpid())
        for process in (me, *me.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                used = process.cpu_times()
                key = (process.pid, process.create_time())
                seen[key] = used.user + used.system
                self._own += max(0.0, seen[key] - self._seen.get(key, 0.0))
        self._seen = seen
        return self._own


def battery() -> tuple[bool | None, float | None]:
    """Whether there is mains power, and the charge in percent; None each where there is no battery or nobody knows."""
    import psutil

    try:
        found = psutil.sensors_battery()
    except (AttributeError, OSError, psutil.Error, ValueError):
        # Drivers that leave out a file, and systems without any such thing.
        return None, None
    if found is None:
        return None, None
    plugged = None if found.power_plugged is None else bool(found.power_plugged)
    return plugged, min(100.0, max(0.0, float(found.percent)))
