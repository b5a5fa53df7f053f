"""The window "Try a chat": ask the mesh, watch the answer come, see what it cost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QStackedLayout, QVBoxLayout, QWidget

from meshdesk.desktop.actions import Actions, Window
from meshdesk.desktop.background import Background
from meshdesk.desktop.chat.asking import Asking
from meshdesk.desktop.chat.chat_notice import Step, notice_for
from meshdesk.desktop.chat.composer import Composer
from meshdesk.desktop.chat.conversation import Conversation
from meshdesk.desktop.chat.empty_chat import EmptyChat
from meshdesk.desktop.chat.model_choice import ModelChoice
from meshdesk.desktop.chat.transcript import Transcript
from meshdesk.desktop.chat.turn_view import TurnView
from meshdesk.desktop.theme import GRID, PADDING
from meshdesk.desktop.window import DeskWindow
from meshdesk.protocol.errors import MeshdeskError
from meshdesk.volunteer.chat_client import Question
from meshdesk.volunteer.status import Status
from meshdesk.volunteer.tracker_lists import list_models

MAX_TOKENS = 1024
TEMPERATURE = 0.2
"""Mostly the likeliest word: a small model wanders off with more."""
SIZE = (640, 620)


class ChatWindow(DeskWindow):
    """``tracker_url`` is None while there is no mesh to ask; ``listen`` tells about changes of ``status``."""

    def __init__(
        self,
        tracker_url: Callable[[], str | None],
        background: Background,
        actions: Actions,
        status: Callable[[], Status],
        listen: Callable[[Callable[[], None]], Callable[[], None]],
    ):
        super().__init__("chat", self.tr("Try a chat"))
        self._tracker_url = tracker_url
        self._background = background
        self._actions = actions
        self._status = status
        self._listed_for: str | None = None
        self._listing: asyncio.Task[None] | None = None
        self.conversation = Conversation()
        self.asking = Asking(background, self)
        self.transcript = Transcript()
        self.empty = EmptyChat()
        self.composer = Composer()
        self.models = ModelChoice()
        self.new_chat = QPushButton(self.tr("New chat"))
        self.new_chat.setToolTip(self.tr("Forget this chat and begin a new one (Ctrl+N)"))
        self._lay_out()
        self.set_actions(actions)
        self.composer.asked.connect(self.ask)
        self.composer.stopped.connect(self.asking.stop)
        self.composer.paged.connect(self.transcript.page)
        self.empty.chosen.connect(self.ask)
        self.empty.stepped.connect(self._take_step)
        self.transcript.try_again.connect(self._try_again)
        self.transcript.new_chat.connect(self.begin_anew)
        self.new_chat.clicked.connect(self.begin_anew)
        QShortcut(QKeySequence(QKeySequence.StandardKey.New), self, self.begin_anew)
        self.asking.changed.connect(self._asking_changed)
        self._unlisten = listen(self._status_changed)
        self.resize(*SIZE)
        self._show_state()

    def ask(self, text: str) -> None:
        """Send a question; nothing happens while another one is answered or where there is no mesh."""
        if self._tracker_url() is None or self.asking.running or not text.strip():
            return
        view = self.transcript.add(self.conversation.ask(text))
        self._send(view)
        self.composer.setFocus()

    def begin_anew(self) -> None:
        """Forget the chat; an answer that runs is hung up."""
        self.asking.give_up()
        self.conversation.clear()
        self.transcript.clear()
        self._show_state()
        self.composer.setFocus()

    def close_for_good(self) -> None:
        """Nothing may come to a window that is gone: neither an answer nor news."""
        self.asking.give_up()
        if self._listing is not None:
            self._listing.cancel()
        self._unlisten()
        super().close_for_good()

    def shown(self) -> None:
        super().shown()
        self.asking.set_drawing(True)
        self._status_changed()
        self.composer.setFocus()

    def hidden(self) -> None:
        self.asking.set_drawing(False)
        self._listed_for = None
        super().hidden()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.asking.running:
            self.asking.stop()
            return
        super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        # Esc closes windows by a shortcut; while an answer runs it stops that instead.
        if (
            event.type() is QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and event.key() == Qt.Key.Key_Escape
            and self.asking.running
        ):
            event.accept()
            return True
        return super().event(event)

    def _send(self, view: TurnView) -> None:
        tracker_url = self._tracker_url()
        if tracker_url is None:
            return
        question = Question(
            messages=self.conversation.messages_for(view.turn),
            model=self.models.chosen,
            max_tokens=MAX_TOKENS,
            temperature=TEMPERATURE,
            hops=True,
        )
        self.asking.start(tracker_url, question, view)

    def _try_again(self, view: TurnView) -> None:
        if not self.asking.running and self._tracker_url() is not None:
            view.begin()
            self.transcript.follow()
            self._send(view)

    def _take_step(self, step: Step) -> None:
        if step is Step.JOIN:
            self._actions.join()
        elif step is Step.RESUME:
            self._actions.resume()
        elif step is Step.DASHBOARD:
            self._actions.show(Window.DASHBOARD)

    def _asking_changed(self) -> None:
        self._show_state()
        turns = self.transcript.turns
        if turns and not self.asking.running and self.isVisible():
            words = turns[-1].failure_words or self.tr("The answer is complete.")
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, words))

    def _status_changed(self) -> None:
        self._show_state()
        tracker_url = self._tracker_url()
        if self.isVisible() and tracker_url is not None and tracker_url != self._listed_for:
            self._listed_for = tracker_url
            self._listing = self._background.start(self._list_models(tracker_url), "list of models")

    async def _list_models(self, tracker_url: str) -> None:
        try:
            models = await list_models(tracker_url)
        except MeshdeskError:
            # Which says so itself when it is asked something.
            models = []
        if tracker_url == self._tracker_url():
            self.models.offer(models)

    def _show_state(self) -> None:
        notice = notice_for(self._status(), self._tracker_url())
        turns = self.transcript.turns
        self.empty.show_notice(notice)
        self._pages.setCurrentWidget(self.transcript if turns else self.empty)
        self.composer.set_able(notice is None)
        self.composer.set_running(self.asking.running)
        self.new_chat.setVisible(bool(turns))
        self._away.setText(notice.words if notice is not None else "")
        self._away.setVisible(notice is not None and bool(turns))

    def _lay_out(self) -> None:
        pages = QWidget()
        self._pages = QStackedLayout(pages)
        self._pages.addWidget(self.empty)
        self._pages.addWidget(self.transcript)
        self._away = QLabel()
        self._away.setWordWrap(True)
        self._away.setProperty("role", "muted")
        words = QLabel(
            self.tr(
                "Your words travel through other people's computers, so keep secrets out. "
                "Enter sends, Shift+Enter makes a new line."
            )
        )
        words.setWordWrap(True)
        words.setProperty("role", "caption")
        top = QHBoxLayout()
        top.setSpacing(GRID)
        top.addWidget(self.models)
        top.addStretch(1)
        top.addWidget(self.new_chat)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * PADDING, PADDING, 2 * PADDING, PADDING)
        layout.setSpacing(GRID)
        layout.addLayout(top)
        layout.addWidget(pages, 1)
        layout.addWidget(self._away)
        layout.addWidget(self.composer)
        layout.addWidget(words)
        self.setMinimumSize(400, 360)
