"""Something of the first run failed: why, one button to try again, and the details to copy."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QWidget

from meshdesk.desktop.first_run.page import text_label
from meshdesk.desktop.theme import GRID, PADDING


class FailureCard(QFrame):
    """Hidden while nothing has failed."""

    retried = Signal()

    def __init__(self, parent: QWidget | None = None):
        super().__init__(parent)
        self.setProperty("role", "banner")
        self.setProperty("kind", "error")
        self._details = ""
        self.words = text_label()
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.retry = QPushButton(self.tr("Try again"))
        self.retry.clicked.connect(self.retried)
        self.copy = QPushButton(self.tr("Copy details"))
        self.copy.setProperty("role", "link")
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self._details))
        row = QHBoxLayout(self)
        row.setContentsMargins(PADDING, GRID, PADDING, GRID)
        row.setSpacing(GRID)
        row.addWidget(self.words, 1)
        row.addWidget(self.copy)
        row.addWidget(self.retry)
        self.hide()

    def show_failure(self, words: str, details: str) -> None:
        self._details = details
        self.words.setText(words)
        self.show()
