"""One question on its way: the answer's pieces as they come, drawn a few times a second, until its end or Stop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from meshdesk.desktop.background import Background
from meshdesk.desktop.chat.chat_failures import failure_of
from meshdesk.desktop.chat.turn_view import TurnView
from meshdesk.protocol.errors import MeshdeskError
from meshdesk.volunteer.chat_client import Question, ask

log = logging.getLogger(__name__)

DRAW_MS = 50
"""Pieces that come faster are drawn together."""
MAX_ANSWER_CHARS = 200_000
"""A mesh that never ends its answer is hung up on."""


class Asking(QObject):
    """Runs at most one question at a time. A hidden window's answer goes on, but nothing is drawn and no timer runs."""

    changed = Signal()
    """An answer has begun or ended."""
    drawn = Signal()

    def __init__(self, background: Background, parent: QObject | None = None):
        super().__init__(parent)
        self._background = background
        self._view: TurnView | None = None
        self._task: asyncio.Task[None] | None = None
        self._drawing = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(DRAW_MS)
        self._timer.timeout.connect(self._draw)

    @property
    def running(self) -> bool:
        return self._view is not None

    def start(self, tracker_url: str, question: Question, view: TurnView) -> None:
        """Ask, and let ``view`` follow the answer."""
        self._view = view
        self._task = self._background.start(self._run(tracker_url, question, view), "chat")
        if self._task is None:
            self._view = None
        self.changed.emit()

    def stop(self) -> None:
        """Hang up, which ends the work on every node; what came of the answer stays."""
        view, task = self._view, self._task
        if view is None:
            return
        self._ended()
        view.finish(self.tr("stopped"))
        if task is not None:
            task.cancel()
        self.changed.emit()

    def give_up(self) -> None:
        """Hang up and leave the view alone: it is about to go."""
        task = self._task
        self._ended()
        if task is not None:
            task.cancel()

    def set_drawing(self, drawing: bool) -> None:
        """Whether anybody sees it."""
        self._drawing = drawing
        if drawing:
            self._draw()
        else:
            self._timer.stop()

    async def _run(self, tracker_url: str, question: Question, view: TurnView) -> None:
        note, length = "", 0
        try:
            async with contextlib.aclosing(ask(tracker_url, question)) as pieces:
                async for piece in pieces:
                    view.take(piece)
                    length += len(piece.text)
                    if self._drawing and not self._timer.isActive():
                        self._timer.start()
                    if piece.finish_reason == "length" or length > MAX_ANSWER_CHARS:
                        note = self.tr("cut at the longest an answer may be")
                    if length > MAX_ANSWER_CHARS:
                        break
        except Exception as error:
            if not isinstance(error, MeshdeskError):
                log.exception("the chat failed")
            failure = failure_of(error)
            self._end(view, lambda: view.fail(failure))
        else:
            self._end(view, lambda: view.finish(note))

    def _end(self, view: TurnView, show: Callable[[], None]) -> None:
        # Stopped meanwhile, or asked anew: then it is no longer this answer's view.
        if self._view is view:
            self._ended()
            show()
            self.changed.emit()

    def _ended(self) -> None:
        self._view = self._task = None
        self._timer.stop()

    def _draw(self) -> None:
        if self._view is not None:
            self._view.draw()
            self.drawn.emit()
