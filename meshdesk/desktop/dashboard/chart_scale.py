"""Where a moment and a number of milliseconds lie on the chart. Arithmetic only; nothing here draws.

The value axis stands still: it grows at once when a line would leave it, and shrinks only after the
smaller range has been enough for a while. The time axis moves by whole pixels, so that lines do not shimmer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

WINDOW_S = 60.0
LEAST_TOP_MS = 10.0
HEADROOM = 1.1
SHRINK_AFTER_S = 5.0
_STEPS = {1: 5, 2: 4, 5: 5}
"""A top of 1, 2 or 5 tens is cut into so many parts, which are then round numbers too."""


def nice_top(value: float) -> float:
    """The least of 1, 2, 5, 10, 20, 50 … that is not below ``value``."""
    if value <= 1:
        return 1.0
    power = math.floor(math.log10(value))
    for exponent in (power, power + 1):
        for lead in _STEPS:
            top = lead * 10.0**exponent
            if top >= value:
                return top
    return 10.0 ** (power + 2)


class ValueAxis:
    """From 0 to ``top`` ms."""

    def __init__(self, top: float = LEAST_TOP_MS):
        self.top = top
        self._smaller_since: float | None = None

    def follow(self, wanted: float, now: float) -> bool:
        """Make room for values up to ``wanted``; whether the axis changed. ``now`` in seconds of any clock."""
        fitting = max(LEAST_TOP_MS, nice_top(wanted * HEADROOM))
        if fitting > self.top:
            self._smaller_since = None
            self.top = fitting
            return True
        if fitting == self.top:
            self._smaller_since = None
            return False
        if self._smaller_since is None:
            self._smaller_since = now
        if now - self._smaller_since < SHRINK_AFTER_S:
            return False
        self._smaller_since = None
        self.top = fitting
        return True

    def ticks(self) -> list[float]:
        """The values with a grid line, 0 and the top among them."""
        lead = round(self.top / 10.0 ** math.floor(math.log10(self.top) + 1e-9))
        parts = _STEPS.get(lead, 5)
        return [self.top * part / parts for part in range(parts + 1)]


@dataclass(frozen=True, slots=True)
class Scale:
    """The plot's rectangle in pixels, and what of time and value it shows: ``now`` at its right edge."""

    left: float
    top: float
    width: float
    height: float
    now: float
    value_top: float

    def at(self, now: float) -> Scale:
        """The same plot at another moment, rounded so that everything moves by whole pixels."""
        step = self.seconds_per_px
        return replace(self, now=math.ceil(now / step) * step)

    @property
    def seconds_per_px(self) -> float:
        return WINDOW_S / max(1.0, self.width)

    @property
    def px_per_s(self) -> float:
        return self.width / WINDOW_S

    @property
    def px_per_ms(self) -> float:
        return self.height / self.value_top

    @property
    def start(self) -> float:
        """The moment at the left edge."""
        return self.now - WINDOW_S

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def bottom(self) -> float:
        return self.top + self.height

    def x(self, moment: float) -> float:
        return self.left + (moment - self.start) * self.px_per_s

    def y(self, value: float) -> float:
        """May lie above the plot; ``clipped_y`` does not."""
        return self.bottom - value * self.px_per_ms

    def clipped_y(self, value: float) -> float:
        return min(self.bottom, max(self.top, self.y(value)))

    def moment(self, x: float) -> float:
        """The inverse of ``x``."""
        return self.start + (x - self.left) / self.px_per_s

    def shows(self, moment: float) -> bool:
        return self.start <= moment <= self.now + self.seconds_per_px


def spread_out(wanted: list[float], least: float, low: float, high: float) -> list[float]:
    """Positions near ``wanted`` (sorted, rising) that lie ``least`` apart within ``low`` to ``high``.

    Where there is no room for all, they stay in order and go past ``high``.
    """
    placed: list[float] = []
    for position in wanted:
        placed.append(max(position, low if not placed else placed[-1] + least))
    limit = high
    for index in range(len(placed) - 1, -1, -1):
        if placed[index] <= limit:
            break
        placed[index] = limit
        limit -= least
    for index, position in enumerate(placed):
        placed[index] = max(position, low + index * least)
    return placed
