"""Pictures of every window, in both themes, scales and languages.

    python -m tests.desktop.screenshots docs/screenshots

Each scale is a process of its own, for Qt reads it at its start. What is shown is made up but for the windows.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from pathlib import Path

os.environ["QT_QPA_PLATFORM"] = "offscreen"
os.environ["QT_API"] = "pyside6"

SCALES = ("1", "2")
THEMES = ("light", "dark")
LANGUAGES = ("en", "de")
SCALE_VARIABLE = "QT_SCALE_FACTOR"
CHATS = (
    ("What is the capital of France?", "The capital of France is Paris."),
    (
        "Explain in three short sentences why the sky is blue.",
        "Sunlight holds all colours. Air scatters blue light far more than red. So blue comes from every direction.",
    ),
)


def main() -> int:
    directory = Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    if "--one-scale" in sys.argv:
        return take_all(directory, os.environ[SCALE_VARIABLE])
    for scale in SCALES:
        environment = {**os.environ, SCALE_VARIABLE: scale}
        command = [sys.executable, "-m", "tests.desktop.screenshots", str(directory), "--one-scale"]
        code = subprocess.run(command, env=environment, check=False).returncode
        if code:
            return code
    return 0


def take_all(directory: Path, scale: str) -> int:
    """Every picture of one scale."""
    from PySide6.QtWidgets import QApplication

    from meshdesk.desktop.event_loop import run_app
    from meshdesk.desktop.language import install_language
    from meshdesk.desktop.theme import theme

    qt = QApplication(["meshdesk"])
    theme().install(qt)

    _show_another_computer()

    async def run() -> int:
        for language in LANGUAGES:
            install_language(language)
            for choice in THEMES:
                theme().choose(choice)  # type: ignore[arg-type]
                with tempfile.TemporaryDirectory() as data:
                    os.environ["MESHDESK_DATA"] = data
                    async for name, window in _windows(Path(data), partial(_wanted, choice, language, scale)):
                        window.show()
                        await asyncio.sleep(0.15)
                        _save(window, directory / f"{name}-{choice}-{language}@{scale}x.png")
                        window.close_for_good()
        return 0

    return run_app(qt, run)


def _show_another_computer() -> None:
    """Show one that many people have, whichever the pictures are taken on."""
    import platform

    from meshdesk.desktop.first_run import hardware_page, model_page
    from meshdesk.volunteer.hardware import Hardware
    from meshdesk.volunteer.model_place import ModelPlace

    async def find_hardware() -> Hardware:
        return Hardware(8, 16_600_000_000, 11_200_000_000, (), "Intel Core i5-1240P")

    folder = Path("/home/anna/.cache/meshdesk")
    hardware_page.find_hardware = find_hardware  # type: ignore[attr-defined]
    model_page.present_folder = lambda _: folder  # type: ignore[attr-defined]
    model_page.look_at = lambda _: ModelPlace(folder, 82_000_000_000, 0, True)  # type: ignore[attr-defined]
    platform.platform = lambda *_: "Linux-6.1.0-x86_64-with-glibc2.36"  # type: ignore[assignment]


def _save(window: object, path: Path) -> None:
    """The window's own 256 most frequent colours are enough for flat windows, and make a third of the file."""
    import numpy as np
    from PySide6.QtCore import Qt
    from PySide6.QtGui import QImage, QImageWriter
    from PySide6.QtWidgets import QWidget

    assert isinstance(window, QWidget)
    image = window.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    pixels = np.frombuffer(image.constBits(), dtype=np.uint32).reshape(image.height(), image.bytesPerLine() // 4)
    colours, counts = np.unique(pixels[:, : image.width()], return_counts=True)
    table = [int(each) | 0xFF000000 for each in colours[np.argsort(-counts, kind="stable")[:256]]]
    flags = Qt.ImageConversionFlag.ThresholdDither | Qt.ImageConversionFlag.AvoidDither
    writer = QImageWriter(str(path))
    writer.setCompression(100)
    if not writer.write(image.convertToFormat(QImage.Format.Format_Indexed8, table, flags)):
        raise OSError(f"{path}: {writer.errorString()}")


def _wanted(choice: str, language: str, scale: str, name: str) -> bool:
    """Every window in every way; the further states of the dashboard in the two that differ most."""
    if not name.startswith("dashboard-") or name == "dashboard-relay":
        return True
    return (choice, language, scale) in (("light", "en", "1"), ("dark", "de", "2"))


async def _windows(data: Path, wanted: Callable[[str], bool]) -> AsyncIterator[tuple[str, object]]:
    """Every wanted window with something in it, by name."""
    from meshdesk.desktop.background import Background

    background = Background()
    try:
        for name, make in makers(data, background):
            if wanted(name):
                yield name, make()
    finally:
        await background.close()


def makers(data: Path, background: object) -> Iterator[tuple[str, Callable[[], object]]]:
    from meshdesk.desktop.about_window import AboutWindow
    from meshdesk.desktop.dashboard.dashboard_window import DashboardWindow
    from tests.desktop import sample_status
    from tests.desktop.recorded_actions import RecordedActions

    actions = RecordedActions()

    def nothing(_: Callable[[], None]) -> Callable[[], None]:
        return lambda: None

    for state, status in sample_status.STATES.items():
        yield (
            f"dashboard-{state}",
            lambda status=status, state=state: DashboardWindow(  # type: ignore[misc]
                lambda: status(),
                sample_status.hops_of(state),
                nothing,
                actions,
                background,
                clock=lambda: sample_status.NOW,
            ),
        )
    yield "chat", lambda: _chat(background, actions)
    yield "logs", lambda: _logs(data, background, actions)
    yield "settings", lambda: _settings(data, background, actions)
    yield "connection", lambda: _connection(background, actions)
    yield "diagnostics", lambda: _diagnostics(background, actions)
    yield from _first_run(data, background)
    yield "about", AboutWindow


def _chat(background: object, actions: object) -> object:
    import time

    from meshdesk.desktop.chat.chat_window import ChatWindow
    from meshdesk.volunteer.chat_client import Piece
    from tests.desktop import sample_status

    window = ChatWindow(
        lambda: "http://127.0.0.1:1",
        background,  # type: ignore[arg-type]
        actions,  # type: ignore[arg-type]
        sample_status.serving_by_relay,
        lambda _: lambda: None,
    )
    hops = [
        {"hop": 0, "start_layer": 0, "end_layer": 15, "way": "local", "total_ms": 24.0},
        {"hop": 1, "start_layer": 15, "end_layer": 30, "way": "relay", "total_ms": 31.0},
    ]
    for question, answer in CHATS:
        turn = window.conversation.ask(question)
        view = window.transcript.add(turn)
        view.begin()
        for number, word in enumerate(answer.split(" ")):
            view.take(Piece(word + " ", [number], [{**hop, "token_index": number} for hop in hops]))
            time.sleep(0.045)
        view.draw()
        view.finish()
    return window


def _logs(data: Path, background: object, actions: object) -> object:
    import logging

    from meshdesk.desktop.logs.log_window import LogWindow
    from meshdesk.volunteer.log_records import LogRing
    from tests.desktop import sample_status

    ring = LogRing()
    lines = (
        (logging.INFO, "app", "meshdesk.desktop.app", "meshdesk 0.1.0 is up, 0.9 s after its start", ""),
        (logging.INFO, "engine", "meshdesk.node.bridge", "registered with the relay at wss://relay.example", ""),
        (logging.INFO, "engine", "meshdesk.node.tracker_link", "registered with the tracker", ""),
        (logging.DEBUG, "child", "meshdesk.shard.child", "loading layers 15–29", ""),
        (logging.WARNING, "engine", "meshdesk.node.fallback_hop", "The relay to hop 1 failed: it timed out", ""),
        (logging.ERROR, "fault", "meshdesk.fault", "Not caught in thread probe: ValueError: no", "Traceback …"),
        (logging.INFO, "engine", "meshdesk.node.bridge", "the relay works again", ""),
    )
    for number in range(120):
        level, origin, logger, message, details = lines[number % len(lines)]
        ring.append(sample_status.NOW - 120 + number, level, origin, logger, message, details)  # type: ignore[arg-type]
    return LogWindow(ring, data, actions, background)  # type: ignore[arg-type]


def _settings(data: Path, background: object, actions: object) -> object:
    from meshdesk.desktop.settings.settings_window import SettingsWindow
    from meshdesk.volunteer.settings_file import SettingsFile

    return SettingsWindow(SettingsFile(data / "settings.json"), background, actions)  # type: ignore[arg-type]


def _connection(background: object, actions: object) -> object:
    from meshdesk.desktop.connection_window import ConnectionWindow
    from meshdesk.volunteer.finding import Finding, Verdict
    from tests.desktop import sample_status

    async def findings() -> AsyncIterator[Finding]:
        for finding in (
            Finding("tracker", Verdict.GOOD, "http://tracker.example answers in 24 ms"),
            Finding("relay", Verdict.GOOD, "wss://relay.example answers in 21 ms"),
            Finding("clock", Verdict.WARNING, "40 s behind", "Let the system set its time by itself."),
            Finding("memory", Verdict.GOOD, "11.2 of 15.9 GB free"),
        ):
            yield finding

    return ConnectionWindow(findings, sample_status.serving_by_relay, background, actions)  # type: ignore[arg-type]


def _diagnostics(background: object, actions: object) -> object:
    from meshdesk.desktop.diagnostics_window import DiagnosticsWindow
    from meshdesk.volunteer.diagnostics import Diagnostics, collect
    from tests.desktop import sample_status

    async def gather() -> Diagnostics:
        status = sample_status.serving_by_relay().to_fields()
        return await asyncio.to_thread(
            collect, settings={"tracker": "http://tracker.example"}, status=status, lines=[], qt_version="6.11.3"
        )

    return DiagnosticsWindow(gather, actions, background)  # type: ignore[arg-type]


def _first_run(data: Path, background: object) -> Iterator[tuple[str, Callable[[], object]]]:
    from meshdesk.desktop.first_run.first_run_window import FirstRunWindow
    from meshdesk.volunteer.onboarding import Onboarding, Step
    from meshdesk.volunteer.settings_file import SettingsFile

    for step in Step:
        yield (
            f"first-run-{step.value}",
            lambda step=step: FirstRunWindow(  # type: ignore[misc]
                Onboarding(data / "onboarding.json"),
                SettingsFile(data / "settings.json"),
                background,  # type: ignore[arg-type]
                lambda _: None,
                (step,),
            ),
        )


if __name__ == "__main__":
    sys.exit(main())
