"""The dialog that takes a Hub token: it goes into the keyring, or, after a yes, into a private file."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QFrame, QHBoxLayout, QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget

from meshdesk.desktop.background import Background
from meshdesk.desktop.settings.failure_text import failure_text
from meshdesk.desktop.spoken_words import spoken
from meshdesk.desktop.theme import GRID, PADDING
from meshdesk.volunteer.hub_token import HubToken, NoKeyring

WIDTH_PX = 460
TOKENS_PAGE = "https://huggingface.co/settings/tokens"


class TokenDialog(QDialog):
    """Open it with ``ask``; it is used again and again, and holds no token while it is closed."""

    saved = Signal()

    def __init__(self, token: HubToken, background: Background, parent: QWidget):
        super().__init__(parent)
        self._token = token
        self._background = background
        self._work: asyncio.Task[Any] | None = None
        self._file_offered = False
        self.setWindowTitle(self.tr("Hugging Face token"))
        self.setModal(True)
        self.field = QLineEdit()
        self.field.setEchoMode(QLineEdit.EchoMode.Password)
        self.field.setPlaceholderText("hf_…")
        self.field.setAccessibleName(self.tr("Token"))
        self.message = QLabel()
        self.message.setProperty("role", "error")
        self.message.setWordWrap(True)
        self.offer = QFrame()
        self.offer.setProperty("role", "banner")
        self.offer_text = QLabel()
        self.save = QPushButton()
        self.save.setProperty("role", "primary")
        self.cancel = QPushButton(self.tr("Cancel"))
        self._column = QVBoxLayout(self)
        self._lay_out()
        self.save.clicked.connect(self._save)
        self.cancel.clicked.connect(self.reject)
        self.field.textEdited.connect(lambda _text: self._say(""))
        self.finished.connect(lambda _result: self._forget())
        self._forget()

    def ask(self) -> None:
        """Open it, empty; returns at once."""
        self._forget()
        self.field.setFocus()
        self._fit()
        self.open()

    def _save(self) -> None:
        if self._work is None or self._work.done():
            self._say("")
            self.save.setEnabled(False)
            self._work = self._background.start(
                self._keep(self.field.text(), self._file_offered), "keeping the token", self._failed
            )

    async def _keep(self, token: str, allow_file: bool) -> None:
        try:
            await asyncio.to_thread(self._token.save, token, allow_file)
        except NoKeyring as error:
            self._offer_file(error)
            return
        finally:
            self.save.setEnabled(True)
        self.accept()
        self.saved.emit()

    def _offer_file(self, error: NoKeyring) -> None:
        self._file_offered = True
        self.offer_text.setText(
            self.tr(
                "{reason} The token can be kept in a file that only you can read: {file}. "
                "Programs that you start could read it too."
            ).format(reason=spoken(error.message), file=_at_home(self._token.path))
        )
        self.offer_text.setAccessibleName(self.offer_text.text())
        self.offer.show()
        self._fit()
        self.save.setText(self.tr("&Keep it in this file"))
        # Not under the finger that pressed Enter a moment ago: this needs a yes of its own.
        self.cancel.setDefault(True)
        self.cancel.setFocus()

    def _failed(self, error: Exception) -> None:
        self._say(failure_text(error))
        self.field.setFocus()

    def _say(self, text: str) -> None:
        self.message.setText(text)
        self.message.setVisible(bool(text))
        self.field.setAccessibleDescription(text)
        self._fit()

    def _fit(self) -> None:
        """As high as the wrapped texts need it, which Qt does not see to for a window."""
        self.ensurePolished()
        self._column.activate()
        self.setFixedHeight(self._column.totalHeightForWidth(WIDTH_PX))

    def _forget(self) -> None:
        """No token stays in a hidden window, and no yes counts for another one."""
        if self._work is not None:
            self._work.cancel()
        self.field.clear()
        self._file_offered = False
        self.offer.hide()
        self.save.setText(self.tr("&Save"))
        self.save.setEnabled(True)
        self.save.setDefault(True)
        self._say("")

    def _lay_out(self) -> None:
        what = QLabel(
            self.tr(
                "Some models are given only to people who have accepted their terms. "
                "With a token, meshdesk downloads them in your name. A token that may only read is enough."
            )
        )
        what.setWordWrap(True)
        link = QLabel(f'<a href="{TOKENS_PAGE}">{self.tr("Make a token on huggingface.co")}</a>')
        link.setOpenExternalLinks(True)
        link.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
        link.setAccessibleName(self.tr("Make a token on huggingface.co"))
        self.offer_text.setWordWrap(True)
        inside = QVBoxLayout(self.offer)
        inside.setContentsMargins(PADDING, GRID, PADDING, GRID)
        inside.addWidget(self.offer_text)
        buttons = QHBoxLayout()
        buttons.setSpacing(GRID)
        buttons.addStretch()
        buttons.addWidget(self.cancel)
        buttons.addWidget(self.save)
        column = self._column
        column.setContentsMargins(2 * PADDING, 2 * PADDING, 2 * PADDING, 2 * PADDING)
        column.setSpacing(PADDING)
        for widget in (what, link, self.field, self.message, self.offer):
            column.addWidget(widget)
        column.addLayout(buttons)
        self.setFixedWidth(WIDTH_PX)


def _at_home(path: Path) -> str:
    try:
        return f"~/{path.relative_to(Path.home())}"
    except (ValueError, RuntimeError):
        return str(path)
