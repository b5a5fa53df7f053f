"""Every window by ear and by keyboard: no control that can have the focus is without a name."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from meshdesk.desktop.background import Background
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


@pytest.mark.parametrize("name", NAMES)
def test_every_control_has_a_name(
    name: str, run_in_app: RunInApp[Any], qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESHDESK_DATA", str(tmp_path))
    background = Background()
    make: Callable[[], Any] = dict(screenshots.makers(tmp_path, background))[name]
    window = make()
    assert isinstance(window, DeskWindow)

    async def body() -> list[str]:
        window.show()
        # What is gathered beside the loop comes a moment later.
        await asyncio.sleep(0.05)
        found = unnamed(window)
        if not (window.accessibleName() or window.windowTitle()):
            found.append("the window itself")
        window.close_for_good()
        await background.close()
        return found

    assert run_in_app(body) == []
