"""What stands where the chat will be: an invitation with three questions to begin with, or why there is no mesh."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from meshdesk.desktop.chat.chat_notice import Notice, Step
from meshdesk.desktop.theme import GRID

translate = QCoreApplication.translate

WIDTH = 440


def examples() -> tuple[str, ...]:
    """Questions that even a small model answers well."""
    return (
        translate("EmptyChat", "What is the capital of France?"),
        translate("EmptyChat", "Explain in two sentences why the sky is blue."),
        translate("EmptyChat", "Write a short poem about the sea."),
    )


class EmptyChat(QWidget):
    """Shows either the examples or a notice, never both."""

    chosen = Signal(str)
    stepped = Signal(Step)

    def __init__(self, parent: QWidget | None = None):
        super().__init__(parent)
        self._step = Step.NONE
        self.headline = _label("headline")
        self.words = _label("muted")
        self.button = QPushButton()
        self.button.setProperty("role", "primary")
        self.button.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.button.clicked.connect(lambda: self.stepped.emit(self._step))
        self.examples = [self._example(text) for text in examples()]
        column = QVBoxLayout()
        column.setSpacing(GRID)
        column.addStretch(2)
        column.addWidget(self.headline)
        column.addWidget(self.words)
        column.addSpacing(GRID)
        for each in self.examples:
            column.addWidget(each)
        column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(3)
        inside = QWidget()
        inside.setMaximumWidth(WIDTH)
        inside.setLayout(column)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(inside, 1)
        layout.setAlignment(inside, Qt.AlignmentFlag.AlignHCenter)
        self.show_notice(None)

    def show_notice(self, notice: Notice | None) -> None:
        """None: a chat is possible, so the examples are shown."""
        for each in self.examples:
            each.setVisible(notice is None)
        self.button.setVisible(notice is not None and bool(notice.button))
        self._step = Step.NONE if notice is None else notice.step
        if notice is None:
            self.headline.setText(self.tr("Ask the mesh"))
            self.words.setText(self.tr("The answer comes token by token, through the computers of everybody in it."))
        else:
            self.headline.setText(self.tr("Nobody to chat with yet"))
            self.words.setText(notice.words)
            self.button.setText(notice.button)

    def _example(self, text: str) -> QPushButton:
        button = QPushButton(text)
        button.clicked.connect(lambda: self.chosen.emit(text))
        return button


def _label(role: str) -> QLabel:
    label = QLabel()
    label.setProperty("role", role)
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setAlignment(Qt.AlignmentFlag.AlignCenter)
    return label
