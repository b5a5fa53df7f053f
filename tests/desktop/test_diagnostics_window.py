"""Diagnostics are seen before they are saved, and saved only by whoever means to."""

from __future__ import annotations

import asyncio
import zipfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from meshdesk.desktop.background import Background
from meshdesk.desktop.diagnostics_window import DiagnosticsWindow
from meshdesk.volunteer.diagnostics import Diagnostics
from tests.desktop.conftest import RunInApp
from tests.desktop.recorded_actions import RecordedActions

BUNDLE = Diagnostics({"versions.txt": "meshdesk 1\n", "log.txt": "a line\n"}, 0.0)

Body = Callable[[DiagnosticsWindow, Background], Awaitable[None]]


def with_window(run_in_app: RunInApp[Any], body: Body, collect: Callable[[], Awaitable[Diagnostics]]) -> None:
    async def run() -> None:
        background = Background()
        window = DiagnosticsWindow(collect, RecordedActions(), background)
        window.show()
        await done(background)
        try:
            await body(window, background)
        finally:
            window.close_for_good()
            await background.close()

    run_in_app(run)


async def done(background: Background) -> None:
    while background._tasks:
        await asyncio.wait(background._tasks, timeout=5)
        await asyncio.sleep(0)


async def bundle() -> Diagnostics:
    return BUNDLE


def test_what_is_shown_is_all_that_will_be_saved(run_in_app: RunInApp[Any]) -> None:
    async def body(window: DiagnosticsWindow, background: Background) -> None:
        assert [window.names.item(row).text() for row in range(window.names.count())] == list(BUNDLE.texts)
        for row, text in enumerate(BUNDLE.texts.values()):
            window.names.setCurrentRow(row)
            assert window.text.toPlainText() == text
            window.copy.click()
            assert QGuiApplication.clipboard().text() == text

    with_window(run_in_app, body, bundle)


@pytest.mark.qt_log_ignore("propagateSizeHints")
def test_it_is_saved_where_the_person_says(run_in_app: RunInApp[Any], tmp_path: Path) -> None:
    async def body(window: DiagnosticsWindow, background: Background) -> None:
        window.save.click()
        for path in (tmp_path / "nowhere" / "a.zip", tmp_path / "a.zip"):
            dialog = window.ask_where_to_save()
            assert dialog is not None and dialog.isVisible()
            dialog.fileSelected.emit(str(path))
            dialog.close()
            await done(background)
            said = window.state.text()
            assert ("No such file" in said) if path.parent != tmp_path else said.endswith("a.zip"), said

    with_window(run_in_app, body, bundle)
    with zipfile.ZipFile(tmp_path / "a.zip") as saved:
        assert {name: saved.read(name).decode() for name in saved.namelist()} == dict(BUNDLE.texts)


def test_keys_pressed_at_once_save_nothing(run_in_app: RunInApp[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    async def body(window: DiagnosticsWindow, background: Background) -> None:
        asked: list[str] = []
        monkeypatch.setattr(window, "ask_where_to_save", lambda: asked.append("asked"))
        window.activateWindow()
        for key in (Qt.Key.Key_Return, Qt.Key.Key_Space, Qt.Key.Key_Enter):
            QTest.keyClick(window.focusWidget() or window, key)
        assert not asked and window.focusWidget() is window.names

    with_window(run_in_app, body, bundle)


def test_while_it_is_put_together_nothing_can_be_saved(run_in_app: RunInApp[Any]) -> None:
    async def run() -> None:
        background, ready = Background(), asyncio.Event()

        async def slow() -> Diagnostics:
            await ready.wait()
            return BUNDLE

        window = DiagnosticsWindow(slow, RecordedActions(), background)
        window.show()
        assert window.state.text() == "Putting it together…" and not window.save.isEnabled()
        assert window.ask_where_to_save() is None
        window.close()
        await done(background)
        window.show()
        ready.set()
        await done(background)
        assert window.save.isEnabled()
        window.close()
        assert window.names.count() == 0, "nothing is kept while nobody looks"
        window.close_for_good()

    run_in_app(run)


def test_a_fault_while_collecting_is_said_in_place(run_in_app: RunInApp[Any]) -> None:
    async def body(window: DiagnosticsWindow, background: Background) -> None:
        assert "did not work: no disk" in window.state.text() and not window.save.isEnabled()

    async def fail() -> Diagnostics:
        raise OSError("no disk")

    with_window(run_in_app, body, fail)
