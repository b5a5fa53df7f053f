"""The app as a volunteer's computer feels it: start, memory, loop lag while it serves, and what it costs idle.

    python -m benchmarks.desktop_app [--tokens 200] [--idle 20]

The real app on a practice mesh with the real model, its windows drawn offscreen. Lag is how late a 10 ms timer of
the app's loop is, with the dashboard open and a chat running. The bars: icon up in 1.5 s, p99 of the lag under
16 ms, under 200 MB, no repaint while hidden, under 0.5 % of a core when off; the exit code is 1 if one is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["QT_API"] = "pyside6"

import psutil
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QWidget

from benchmarks.table import print_table, spread
from meshdesk.desktop.actions import Window
from meshdesk.desktop.app import App
from meshdesk.desktop.event_loop import run_app
from meshdesk.desktop.session_end import EarlySignals
from meshdesk.desktop.start import StartOptions
from meshdesk.shard.model_source import find_model
from meshdesk.volunteer.chat_client import Question, ask
from meshdesk.volunteer.log_setup import LogStream
from meshdesk.volunteer.status import Phase

TICK_S = 0.01
MB = 1_000_000
ICON_S, LAG_MS, MEMORY_MB, IDLE_PERCENT = 1.5, 16.0, 200.0, 0.5
WAIT_S = 120.0
STARTS = 5


class Repaints(QObject):
    """Counts paint events of all widgets."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.Paint and isinstance(watched, QWidget)
        return False


def time_starts(directory: Path) -> list[float]:
    """Seconds from the start of the process to the app's being up, by its own log, several times."""
    found = []
    for number in range(STARTS):
        data = directory / f"start-{number}"
        app = subprocess.Popen(
            [sys.executable, "-m", "meshdesk", "--background"],
            env={**os.environ, "MESHDESK_DATA": str(data)},
            stdout=subprocess.DEVNULL,
        )
        log = data / "logs" / "meshdesk.log"
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline and "is up, " not in (log.read_text() if log.exists() else ""):
            time.sleep(0.05)
        found.append(float(log.read_text().rpartition("is up, ")[2].split()[0]))
        app.terminate()
        if app.wait(WAIT_S) != 0:
            raise SystemExit(f"The app ended with {app.returncode}.")
    return found


async def lags(until: asyncio.Task[None]) -> list[float]:
    """How late each 10 ms timer was, in ms, until a task is done."""
    found = []
    while not until.done():
        due = time.perf_counter() + TICK_S
        await asyncio.sleep(TICK_S)
        found.append((time.perf_counter() - due) * 1000)
    return found


async def until_phase(app: App, phase: Phase) -> None:
    came = asyncio.Event()
    unlisten = app.listen(came.set)
    async with asyncio.timeout(WAIT_S):
        while app.status().phase is not phase:
            await came.wait()
            came.clear()
    unlisten()


async def chat(url: str, tokens: int) -> None:
    question = Question(
        messages=[{"role": "user", "content": "Write a long story about a fisherman."}],
        max_tokens=tokens,
        temperature=0.0,
    )
    async for _ in ask(url, question):
        pass


async def measure(app: App, qt: QApplication, tokens: int, idle_s: float) -> dict[str, list[float]]:
    """All figures of one run, by name."""
    process, repaints = psutil.Process(), Repaints()
    running = asyncio.create_task(app.run())
    found: dict[str, list[float]] = {}
    while app.parts is None:  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    app.parts.windows.get(Window.DASHBOARD).hide()
    await asyncio.sleep(2.0)
    found["idle, off, % of a core"] = [await cpu_percent(process, idle_s)]
    app.parts.membership.practise()
    await until_phase(app, Phase.SERVING)
    found["idle, serving, % of a core"] = [await cpu_percent(process, idle_s)]
    app.show(Window.DASHBOARD)
    url = app.parts.membership.tracker_url
    assert url is not None
    found["lag, generating, ms"] = await lags(asyncio.create_task(chat(url, tokens)))
    found["memory, MB"] = [process.memory_info().rss / MB]
    app.parts.windows.get(Window.DASHBOARD).hide()
    qt.installEventFilter(repaints)
    await chat(url, tokens // 4)
    qt.removeEventFilter(repaints)
    found["repaints, hidden"] = [float(repaints.count)]
    app.quit()
    app.quit()
    assert await running == 0
    return found


async def cpu_percent(process: psutil.Process, seconds: float) -> float:
    """The share of one core that this process took over ``seconds``, in percent."""
    before = process.cpu_times()
    await asyncio.sleep(seconds)
    after = process.cpu_times()
    return 100 * (after.user + after.system - before.user - before.system) / seconds


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[round(share * (len(values) - 1))]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--idle", type=float, default=20.0)
    options = parser.parse_args()
    find_model()
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        starts = time_starts(directory)
        os.environ["MESHDESK_DATA"] = str(directory / "app")
        logs = LogStream.install(directory / "app" / "logs")
        qt = QApplication(sys.argv[:1])
        app = App(qt, StartOptions(background=True), logs, EarlySignals())
        found = run_app(qt, lambda: measure(app, qt, options.tokens, options.idle))
        logs.close()
    lag = found["lag, generating, ms"]
    heavy = [name for name in ("torch", "transformers") if name in sys.modules]
    rows = [
        ["app up after its start, s", spread(starts, "{:.2f}"), f"{ICON_S}"],
        [
            "loop lag while generating, p50 / p99 / worst, ms",
            f"{percentile(lag, 0.5):.1f} / {percentile(lag, 0.99):.1f} / {max(lag):.1f}",
            f"p99 {LAG_MS:.0f}",
        ],
        ["memory of the app's process, MB", f"{found['memory, MB'][0]:.0f}", f"{MEMORY_MB:.0f}"],
        ["repaints while hidden, generating", f"{found['repaints, hidden'][0]:.0f}", "0"],
        ["processor, off, % of a core", f"{found['idle, off, % of a core'][0]:.2f}", f"{IDLE_PERCENT}"],
        ["processor, serving, no chat, % of a core", f"{found['idle, serving, % of a core'][0]:.2f}", "-"],
        ["torch or transformers loaded", ", ".join(heavy) or "no", "no"],
    ]
    print_table(["what", "measured", "bar"], rows)
    missed = [
        max(starts) > ICON_S,
        percentile(lag, 0.99) > LAG_MS,
        found["memory, MB"][0] > MEMORY_MB,
        found["repaints, hidden"][0] > 0,
        found["idle, off, % of a core"][0] > IDLE_PERCENT,
        bool(heavy),
    ]
    return int(any(missed))


if __name__ == "__main__":
    sys.exit(main())
