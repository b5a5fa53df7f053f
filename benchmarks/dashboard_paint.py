"""What the dashboard costs: milliseconds a frame of its chart, and a loop that stays free while tokens stream in.

    python -m benchmarks.dashboard_paint [--frames 60] [--seconds 10]

Offscreen, the chart 760 by 240. ``take in`` is the new records of one frame, an eighth of a second; ``first`` is
a history that was not followed before. The loop's lag is how late a timer of 10 ms comes on the app's own loop,
with the whole window open, and two hops of fifty tokens a second.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from collections.abc import Callable

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from benchmarks.table import print_table, spread
from meshdesk.desktop.actions import Window
from meshdesk.desktop.background import Background
from meshdesk.desktop.dashboard.dashboard_window import DashboardWindow
from meshdesk.desktop.dashboard.latency_chart import LatencyChart
from meshdesk.desktop.event_loop import run_app
from meshdesk.desktop.theme import theme
from meshdesk.node.events import HopTimed, Way
from meshdesk.volunteer.hop_history import MAX_RECORDS, MINUTE_TOKENS, HopHistory
from meshdesk.volunteer.status import LinkFacts, LinkState, Phase, Reach, RouteStop, Status

NOW = 1_800_000_000.0
WAYS = (Way.LOCAL, Way.DIRECT, Way.RELAY, Way.DIRECT_AFTER_RELAY)
FRAME_S = 0.125
TICK_S = 0.01
TOKENS_PER_S = 50


class Idle:
    """Actions of a person who only looks."""

    def join(self) -> None: ...

    def leave(self) -> None: ...

    def pause(self, seconds: float | None) -> None: ...

    def resume(self) -> None: ...

    def show(self, window: Window, *, about: str = "") -> None: ...

    def quit(self) -> None: ...


def hop(at: float, token: int, line: int) -> HopTimed:
    total = 10.0 + 12.0 * line + token % 7
    return HopTimed(
        at=at,
        session="s",
        token_index=token,
        hop=line,
        start_layer=8 * line,
        end_layer=8 * line + 8,
        way=WAYS[line % len(WAYS)],
        total_ms=total,
        compute_ms=total / 3,
        queue_ms=0.1,
        bytes_out=1_500,
        bytes_in=1_500,
    )


def filled(lines: int, points: int) -> HopHistory:
    """``points`` tokens over the minute before NOW, each through ``lines`` hops."""
    history = HopHistory(MINUTE_TOKENS)
    for token in range(points):
        for line in range(lines):
            history.apply(hop(NOW - 59.5 + 59.0 * token / points, token, line))
    return history


def chart_row(name: str, lines: int, points: int, frames: int) -> list[str]:
    history = filled(lines, points)
    clock = NOW
    chart = LatencyChart(history, lambda: clock)
    chart.resize(760, 240)
    image = QImage(760, 240, QImage.Format.Format_ARGB32_Premultiplied)
    first = _ms(chart.tick) + _ms(lambda: chart.render(image))
    taken, painted = [], []
    per_frame = max(1, round(points / 59.0 * FRAME_S))
    for frame in range(frames):
        clock += FRAME_S
        for number in range(per_frame):
            for line in range(lines):
                at = clock - FRAME_S * (per_frame - number) / (per_frame + 1)
                history.apply(hop(at, points + frame * per_frame + number, line))
        taken.append(_ms(chart.tick))
        painted.append(_ms(lambda: chart.render(image)))
    chart.deleteLater()
    return [name, str(len(history)), spread(taken, "{:.2f}"), spread(painted, "{:.2f}"), f"{first:.1f}"]


def _ms(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def serving() -> Status:
    return Status(
        phase=Phase.SERVING,
        since=time.time() - 3600,
        reach=Reach.RELAY,
        relay=LinkFacts("relay.example", LinkState.CONNECTED, time.time() - 3600, 0, 20.0 + time.time() % 3),
        joined_at=time.time() - 3600,
        chats_now=2,
        tokens_per_s=50.0,
        route=(
            RouteStop("anna", 0, 8, latency_ms=3.0),
            RouteStop("berta", 8, 16, mine=True, way=Way.RELAY, via="relay.example", latency_ms=20.0 + time.time() % 3),
        ),
    )


async def stream(seconds: float, *, table: bool) -> tuple[list[float], int, int]:
    """The loop's lags in ms, then how often the chart was painted while seen, and while hidden for as long again."""
    history = HopHistory(MINUTE_TOKENS)
    for token in range(59 * TOKENS_PER_S):
        for line in range(2):
            history.apply(hop(time.time() - 59 + token / TOKENS_PER_S, token, line))
    told: list[Callable[[], None]] = []
    background = Background()

    def listen(changed: Callable[[], None]) -> Callable[[], None]:
        told.append(changed)
        return lambda: told.remove(changed)

    window = DashboardWindow(serving, history, listen, Idle(), background)
    window.show()
    window.hops_panel.show_table(table)
    await asyncio.sleep(1.0)
    lags: list[float] = []
    before = window.hops_panel.chart.paints
    await _run(seconds, history, told, lags)
    seen = window.hops_panel.chart.paints - before
    window.hide()
    before = window.hops_panel.chart.paints
    await _run(min(seconds, 2.0), history, told, [])
    hidden = window.hops_panel.chart.paints - before
    window.close_for_good()
    await background.close()
    return lags, seen, hidden


async def _run(seconds: float, history: HopHistory, told: list[Callable[[], None]], lags: list[float]) -> None:
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    token, due = 100_000, loop.time()
    while loop.time() < until:
        wanted = loop.time() + TICK_S
        await asyncio.sleep(TICK_S)
        lags.append((loop.time() - wanted) * 1000)
        while due < loop.time():
            for line in range(2):
                history.apply(hop(time.time(), token, line))
            token += 1
            due += 1 / TOKENS_PER_S
            for changed in list(told):
                changed()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--frames", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    qt = QApplication(["meshdesk"])
    theme().install(qt)
    rows = [
        chart_row("4 lines of 300 points", 4, 300, options.frames),
        chart_row("4 lines of 5,000 points", 4, MAX_RECORDS // 4, options.frames),
    ]
    print_table(["chart", "records", "take in ms", "paint ms", "first ms"], rows)
    lag_rows = []
    for name, table in (("chart", False), ("table", True)):
        lags, seen, hidden = run_app(qt, lambda table=table: stream(options.seconds, table=table))  # type: ignore[misc]
        lags.sort()
        share = [lags[int(len(lags) * part)] for part in (0.5, 0.99)]
        lag_rows.append(
            [name, *(f"{each:.1f}" for each in (*share, lags[-1])), f"{seen / options.seconds:.1f}", str(hidden)]
        )
    print_table(["shown", "lag p50 ms", "lag p99 ms", "lag max ms", "frames/s seen", "frames hidden"], lag_rows)


if __name__ == "__main__":
    main()
