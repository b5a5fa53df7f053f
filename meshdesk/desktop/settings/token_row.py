"""The Hub token among the settings: whether there is one and where it lies, never what it is."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout

from meshdesk.desktop.background import Background
from meshdesk.desktop.settings.failure_text import failure_text
from meshdesk.desktop.settings.token_dialog import TokenDialog
from meshdesk.desktop.theme import GRID, PADDING
from meshdesk.volunteer.hub_token import HubToken, TokenPlace


class TokenRow(QFrame):
    """``reread`` when it is shown, ``stop`` when it is not any more."""

    def __init__(self, token: HubToken, background: Background):
        super().__init__()
        self._token = token
        self._background = background
        self._work: asyncio.Task[Any] | None = None
        self.setProperty("role", "row")
        self.label = QLabel(self.tr("Hugging Face token"))
        self.state = QLabel()
        self.state.setProperty("role", "caption")
        self.state.setWordWrap(True)
        self.message = QLabel()
        self.message.setProperty("role", "error")
        self.message.setWordWrap(True)
        self.message.hide()
        self.change = QPushButton(self.tr("Set token…"))
        self.remove = QPushButton(self.tr("Forget"))
        self.remove.setAccessibleName(self.tr("Forget the Hugging Face token"))
        self.dialog = TokenDialog(token, background, self)
        self.dialog.saved.connect(self.reread)
        self.change.clicked.connect(self.dialog.ask)
        self.remove.clicked.connect(lambda: self._start(self._forget()))
        texts = QVBoxLayout()
        texts.setSpacing(2)
        for label in (self.label, self.state, self.message):
            texts.addWidget(label)
        row = QHBoxLayout(self)
        row.setContentsMargins(PADDING, PADDING - 4, PADDING - 4, PADDING - 4)
        row.setSpacing(GRID)
        row.addLayout(texts, 1)
        row.addWidget(self.remove, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.change, 0, Qt.AlignmentFlag.AlignTop)
        self._take(TokenPlace.NONE)

    def reread(self) -> None:
        """Look again where the token lies, beside the loop."""
        self._start(self._read())

    def stop(self) -> None:
        """Nobody looks any more."""
        if self._work is not None:
            self._work.cancel()

    def matches(self, words: list[str]) -> bool:
        """As a setting's row."""
        said = f"{self.label.text()} {self.state.text()} hub".casefold()
        return all(word in said for word in words)

    def highlight(self, on: bool) -> None:
        """As a setting's row."""
        self.setProperty("highlight", on)
        self.style().polish(self)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        self.stop()
        self._work = self._background.start(work, "looking for the token", self._failed)

    async def _read(self) -> None:
        self._take(await asyncio.to_thread(self._token.where))

    async def _forget(self) -> None:
        await asyncio.to_thread(self._token.forget)
        self._take(await asyncio.to_thread(self._token.where))

    def _take(self, place: TokenPlace) -> None:
        match place:
            case TokenPlace.NONE:
                text = self.tr("None. Only models that are not open to all need one.")
            case TokenPlace.ENVIRONMENT:
                text = self.tr("Given by the environment variable HF_TOKEN, which goes first.")
            case TokenPlace.KEYRING:
                text = self.tr("Kept in this system's keyring.")
            case TokenPlace.FILE:
                text = self.tr("Kept in a file that only you can read.")
        self.state.setText(text)
        kept = place in (TokenPlace.KEYRING, TokenPlace.FILE)
        self.remove.setVisible(kept)
        self.change.setText(self.tr("Replace…") if kept else self.tr("Set token…"))
        self.change.setAccessibleName(
            self.tr("Replace the Hugging Face token") if kept else self.tr("Set a Hugging Face token")
        )
        self.change.setAccessibleDescription(text)
        self._say("")

    def _failed(self, error: Exception) -> None:
        self._say(failure_text(error))

    def _say(self, text: str) -> None:
        self.message.setText(text)
        self.message.setVisible(bool(text))
