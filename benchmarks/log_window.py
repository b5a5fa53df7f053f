"""What the log window costs: a flood of lines while it is open, and filtering when it is full.

    python -m benchmarks.log_window [--rate 5000] [--seconds 6] [--rounds 20]

Drawn offscreen. Two threads log through the app's own stream (redaction, ring, file) while a timer of
10 ms on the event loop tells how late it is;
the yardstick is the same flood with the window hidden. Filters run over 100,000 lines in the window's
model, with the reset of the table that they bring about.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import statistics
import tempfile
import threading
import time
from pathlib import Path

os.environ["QT_QPA_PLATFORM"] = "offscreen"

from PySide6.QtWidgets import QApplication

from benchmarks.table import print_table
from meshdesk.desktop.actions import Window
from meshdesk.desktop.background import Background
from meshdesk.desktop.event_loop import run_app
from meshdesk.desktop.logs.log_filter import LogFilter, Search
from meshdesk.desktop.logs.log_window import LogWindow
from meshdesk.desktop.theme import theme
from meshdesk.volunteer.log_records import MAX_LINES
from meshdesk.volunteer.log_setup import LogStream

TICK_S = 0.010
THREADS = 2
BURST_S = 0.01


class NoActions:
    """The window of a benchmark asks for nothing."""

    def join(self) -> None: ...
    def leave(self) -> None: ...
    def pause(self, seconds: float | None) -> None: ...
    def resume(self) -> None: ...
    def show(self, window: Window, *, about: str = "") -> None: ...
    def quit(self) -> None: ...


def flood(rate: float, seconds: float, sent: list[int]) -> None:
    """Log ``rate`` lines a second in bursts, as a busy node does."""
    log = logging.getLogger("meshdesk.node.relay_hop")
    started, count = time.perf_counter(), 0
    while (elapsed := time.perf_counter() - started) < seconds:
        while count < elapsed * rate:
            level = logging.WARNING if count % 50 == 0 else logging.INFO
            log.log(level, "forwarded 1 token of session %010x by relay in %.1f ms", count * 7919, 18 + count % 90 / 10)
            count += 1
        time.sleep(BURST_S)
    sent.append(count)


async def lag_ms(until: asyncio.Event) -> list[float]:
    """How late each tick of a timer of TICK_S is, in milliseconds."""
    loop, late = asyncio.get_running_loop(), []
    while not until.is_set():
        due = loop.time() + TICK_S
        await asyncio.sleep(TICK_S)
        late.append((loop.time() - due) * 1000)
    return late


async def caught_up(window: LogWindow) -> None:
    """Until an open window has taken every line."""
    done = asyncio.Event()
    connection = window.feed.ticked.connect(lambda: None if window.feed.waiting else done.set())
    if window.isVisible():
        await done.wait()
    window.feed.ticked.disconnect(connection)


async def one_flood(window: LogWindow, stream: LogStream, rate: float, seconds: float) -> list[str]:
    """A row of the table: rate reached, lag, and how many of the lines the window has in the end."""
    before, sent = stream.ring.last, list[int]()
    ended = asyncio.Event()
    ticker = asyncio.create_task(lag_ms(ended))
    began = time.process_time()
    threads = [threading.Thread(target=flood, args=(rate / THREADS, seconds, sent)) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    await asyncio.to_thread(lambda: [thread.join() for thread in threads])
    used = (time.process_time() - began) / seconds * 100
    ended.set()
    late = sorted(await ticker)
    waited = time.perf_counter()
    await caught_up(window)
    waited = time.perf_counter() - waited
    logged = stream.ring.last - before
    arrived = sum(line.number > before and not line.is_gap for line in window.model.lines)
    return [
        "open, following" if window.isVisible() else "hidden",
        f"{sum(sent) / seconds:,.0f}",
        f"{statistics.median(late):.1f}",
        f"{late[int(len(late) * 0.99)]:.1f}",
        f"{late[-1]:.1f}",
        f"{used:.0f} %",
        f"{logged:,} of {sum(sent):,}",
        f"{arrived:,}, {waited:.1f} s after" if window.isVisible() else "–",
    ]


def filter_rows(window: LogWindow, rounds: int) -> list[list[str]]:
    """Filters over the full model: the scan alone, and with the table's reset."""
    rows = []
    for name, chosen in (
        ("level", LogFilter(level=logging.WARNING)),
        ("source", LogFilter(origin="engine")),
        ("substring", LogFilter(only=Search("token of session 00000f"))),
        ("level, source, substring", LogFilter(logging.INFO, "engine", "", Search("27.5 ms"))),
        ("expression", LogFilter(only=Search(r"session \w*ff by", is_regex=True))),
    ):
        times = []
        for _ in range(rounds):
            window.model.set_filter(LogFilter())
            started = time.perf_counter()
            window.model.set_filter(chosen)
            times.append((time.perf_counter() - started) * 1000)
        found = f"{window.model.shown:,}"
        rows.append([name, found, f"{statistics.median(times):.1f}", f"{max(times):.1f}"])
    return rows


async def run(rate: float, seconds: float, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        stream = LogStream.install(Path(directory))
        background = Background()
        try:
            window = LogWindow(stream.ring, Path(directory), NoActions(), background)
            floods = [await one_flood(window, stream, rate, seconds)]
            window.show()
            await asyncio.sleep(0.3)
            floods.append(await one_flood(window, stream, rate, seconds))
            print_table(
                ["window", "lines/s", "lag ms, p50", "p99", "worst", "one core", "in the ring", "in the window"], floods
            )
            for _ in range(MAX_LINES - len(stream.ring)):
                logging.getLogger("meshdesk.node.head").info("12 tokens for session %x", stream.ring.last)
            await caught_up(window)
            window.model.folded_rows()
            print()
            print_table(
                [f"filter of {window.model.total:,} lines", "found", "ms, median", "worst"], filter_rows(window, rounds)
            )
            window.close_for_good()
            await background.close()
        finally:
            await asyncio.to_thread(stream.close)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=5000)
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    app = QApplication([])
    theme().install(app)
    run_app(app, lambda: run(options.rate, options.seconds, options.rounds))


if __name__ == "__main__":
    main()
