"""What every page of the first run is: a headline, a few widgets, and the settings that come of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from meshdesk.desktop.background import Background
from meshdesk.desktop.theme import GRID


class Page(QWidget):
    """One page. ``changed`` says that ``complete`` or ``next_text`` may have."""

    changed = Signal()
    passed = Signal()
    """What ``leave`` had to wait for is done: go on."""

    def __init__(self, title: str, background: Background | None = None):
        super().__init__()
        self._background = background
        self._work: set[asyncio.Task[Any]] = set()
        self.title = title
        self.setAccessibleName(title)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(2 * GRID)
        headline = text_label(title, "headline")
        self.column.addWidget(headline)

    @property
    def complete(self) -> bool:
        """Whether the person may go on."""
        return True

    @property
    def next_text(self) -> str:
        """What the button says that goes on; "" for the usual word."""
        return ""

    def entered(self) -> None:
        """The page is before the person: look at what it shows."""

    def leave(self) -> bool:
        """The person wants to go on. False: not yet; ``passed`` follows, or the page says why not."""
        return True

    def start(
        self, work: Coroutine[Any, Any, Any], name: str, on_error: Callable[[Exception], None] | None = None
    ) -> asyncio.Task[Any] | None:
        """Run ``work`` beside the windows, until its end or ``give_up``."""
        assert self._background is not None, "a page that starts work is made with a background"
        task = self._background.start(work, name, on_error)
        if task is not None:
            self._work.add(task)
            task.add_done_callback(self._work.discard)
        return task

    def give_up(self) -> None:
        """The page goes: nothing may come to it any more."""
        for task in self._work:
            task.cancel()

    def first_focus(self) -> QWidget | None:
        """What has the focus at first; None for the button that goes on."""
        return None

    def settings(self) -> Mapping[str, Any]:
        """Settings to change, as the page stands now."""
        return {}


def text_label(text: str = "", role: str = "") -> QLabel:
    """A label for running text, which is never taken for markup."""
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    if role:
        label.setProperty("role", role)
    return label
