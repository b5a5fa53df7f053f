"""Every window by ear and by keyboard: no control that can have the focus is without a name."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QAbstractButton, QWidget

from meshdesk.desktop.background import Background
from meshdesk.desktop.language import install_language
from meshdesk.desktop.window import DeskWindow
from tests.desktop import screenshots
from tests.desktop.conftest import RunInApp

NAMES = [name for name, _ in screenshots.makers(Path("unused"), Background())]


def unnamed(window: QWidget) -> list[str]:
    """Visible widgets that can have the focus, or are buttons, and say nothing of what they are."""
    found = []
    for widget in [window, *window.findChildren(QWidget)]:
        if not widget.isVisible() or widget.focusPolicy() is Qt.FocusPolicy.NoFocus:
            continue
        if widget is window or widget.objectName().startswith("qt_"):
            continue
        interface = QAccessible.queryAccessibleInterface(widget)
        name = interface.text(QAccessible.Text.Name) if interface is not None else ""
        if not name.strip() and not (isinstance(widget, QAbstractButton) and widget.text()):
            found.append(f"{type(widget).__name__} {widget.objectName()!r} in {type(widget.parent()).__name__}")
    return found


def letters_for_two(window: QWidget) -> list[str]:
    """The texts of visible controls that claim a letter which another claims too: neither would then be pressed."""
    claims: dict[str, list[str]] = {}
    for button in window.findChildren(QAbstractButton):
        if button.isVisible() and button.isEnabled() and not button.shortcut().isEmpty():
            claims.setdefault(button.shortcut().toString(), []).append(button.text())
    return [text for texts in claims.values() if len(texts) > 1 for text in texts]


def seen(name: str, run_in_app: RunInApp[Any], place: Path, look: Callable[[DeskWindow], list[str]]) -> list[str]:
    """What ``look`` finds in the window of this name while it is shown."""
    background = Background()
    make: Callable[[], Any] = dict(screenshots.makers(place, background))[name]
    window = make()
    assert isinstance(window, DeskWindow)

    async def body() -> list[str]:
        window.show()
        # What is gathered beside the loop comes a moment later.
        await asyncio.sleep(0.05)
        found = look(window)
        window.close_for_good()
        await background.close()
        return found

    found: list[str] = run_in_app(body)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_every_control_has_a_name(
    name: str, run_in_app: RunInApp[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESHDESK_DATA", str(tmp_path))

    def look(window: DeskWindow) -> list[str]:
        return unnamed(window) + ([] if window.accessibleName() or window.windowTitle() else ["the window itself"])

    assert seen(name, run_in_app, tmp_path, look) == []


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("name", NAMES)
def test_no_letter_stands_for_two_controls(
    name: str,
    language: str,
    run_in_app: RunInApp[Any],
    back_to_english: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MESHDESK_DATA", str(tmp_path))
    install_language(language)
    assert seen(name, run_in_app, tmp_path, letters_for_two) == []
