"""One question and its answer, as the transcript shows them: text, what it cost, and what went wrong."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QToolButton, QVBoxLayout, QWidget

from meshdesk.desktop.chat.answer_figures import AnswerFigures, figures_text, tokens_text
from meshdesk.desktop.chat.chat_failures import Failure, WayOut
from meshdesk.desktop.chat.conversation import Turn
from meshdesk.desktop.chat.plain_text_view import PlainTextView
from meshdesk.desktop.icons import ui_icon
from meshdesk.desktop.theme import GRID, PADDING, Token, theme
from meshdesk.volunteer.chat_client import Piece, printable

QUESTION_INDENT = 8 * GRID


class TurnView(QWidget):
    """Follows one turn. Pieces are taken in at once and drawn with the next ``draw``."""

    try_again = Signal()
    new_chat = Signal()

    def __init__(self, turn: Turn, parent: QWidget | None = None):
        super().__init__(parent)
        self.turn = turn
        self.figures = AnswerFigures()
        self._waiting: list[str] = []
        self._failure: Failure | None = None
        self.question = PlainTextView()
        self.question.setAccessibleName(self.tr("Question"))
        self.question.append_text(turn.question)
        self.answer = PlainTextView()
        self.answer.setAccessibleName(self.tr("Answer"))
        self.cost = _quiet_label()
        self.warnings = _quiet_label()
        self.copy = QToolButton()
        # A quiet button beside a quiet line, until it is pointed at or has the focus.
        self.copy.setStyleSheet("QToolButton:!hover:!focus { border-color: transparent; background: transparent; }")
        self.copy.setAccessibleName(self.tr("Copy the answer"))
        self.copy.setToolTip(self.tr("Copy the answer"))
        self.copy.clicked.connect(self._copy)
        self.banner, self._failed, self.way_out, self._details = self._make_banner()
        self._lay_out()
        theme().changed.connect(self._draw_icons)
        self._draw_icons()
        self.begin()

    def begin(self) -> None:
        """An answer is awaited; whatever an earlier try left is gone."""
        self.turn.answer = ""
        self.figures = AnswerFigures()
        self._waiting.clear()
        self._failure = None
        self.answer.clear_text()
        for each in (self.answer, self.copy, self.warnings, self.banner):
            each.hide()
        self.cost.setText(self.tr("Waiting for the first word…"))
        self.cost.show()

    def take(self, piece: Piece) -> None:
        """Add a piece; cheap, nothing is drawn."""
        self.figures.add(piece)
        text = printable(piece.text)
        if text:
            self._waiting.append(text)

    def draw(self) -> None:
        """Show what has been taken since the last time."""
        if self._waiting:
            text = "".join(self._waiting)
            self._waiting.clear()
            self.turn.answer += text
            self.answer.append_text(text)
            self.answer.show()
        if self.figures.tokens:
            self.cost.setText(self.tr("Answering · {tokens}").format(tokens=tokens_text(self.figures.tokens)))
        self._draw_warnings()

    def finish(self, note: str = "") -> None:
        """The answer is complete, or was stopped; ``note`` says why it is short."""
        self.draw()
        facts = [note] if note else []
        if self.figures.tokens:
            facts.append(figures_text(self.figures))
        elif not note:
            facts.append(self.tr("The mesh answered with nothing."))
        self.cost.setText(" · ".join(facts))
        self.copy.setVisible(bool(self.turn.answer))

    def fail(self, failure: Failure) -> None:
        """The answer broke off, or never came; what there is of it stays."""
        self.draw()
        self.finish(self.tr("broken off") if self.turn.answer else "")
        self.cost.setVisible(bool(self.turn.answer))
        self._failure = failure
        self._failed.setText(failure.words)
        self.way_out.setText(self.tr("New chat") if failure.way_out is WayOut.NEW_CHAT else self.tr("Try again"))
        self._details.setVisible(bool(failure.details))
        self.banner.show()

    def end_retries(self) -> None:
        """A later question was asked: this one can no longer be asked again in its place."""
        if self._failure is not None and self._failure.way_out is WayOut.TRY_AGAIN:
            self.way_out.hide()

    @property
    def failure_words(self) -> str:
        """What the banner says; "" without one."""
        return self._failure.words if self._failure is not None else ""

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.turn.answer)

    def _copy_details(self) -> None:
        if self._failure is not None:
            QGuiApplication.clipboard().setText(self._failure.details)

    def _leave(self) -> None:
        if self._failure is not None and self._failure.way_out is WayOut.NEW_CHAT:
            self.new_chat.emit()
        else:
            self.try_again.emit()

    def _make_banner(self) -> tuple[QFrame, QLabel, QPushButton, QPushButton]:
        banner = QFrame()
        banner.setProperty("role", "banner")
        banner.setProperty("kind", "error")
        words = QLabel()
        words.setTextFormat(Qt.TextFormat.PlainText)
        words.setWordWrap(True)
        words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        way_out = QPushButton()
        way_out.clicked.connect(self._leave)
        details = QPushButton(self.tr("Copy details"))
        details.setProperty("role", "link")
        details.clicked.connect(self._copy_details)
        row = QHBoxLayout(banner)
        row.setContentsMargins(PADDING, GRID, PADDING, GRID)
        row.setSpacing(GRID)
        row.addWidget(words, 1)
        row.addWidget(details)
        row.addWidget(way_out)
        return banner, words, way_out, details

    def _lay_out(self) -> None:
        bubble = QFrame()
        bubble.setProperty("role", "card")
        inside = QVBoxLayout(bubble)
        inside.setContentsMargins(PADDING, GRID, PADDING, GRID)
        inside.addWidget(self.question)
        asked = QHBoxLayout()
        asked.setContentsMargins(QUESTION_INDENT, 0, 0, 0)
        # As wide as a short question, on the side of the person who asked it.
        bubble.setMaximumWidth(self.question.natural_width() + 2 * PADDING + 2)
        asked.addStretch(1)
        asked.addWidget(bubble, 1000)
        below = QHBoxLayout()
        below.setSpacing(GRID)
        below.addWidget(self.cost, 1)
        below.addWidget(self.copy, 0, Qt.AlignmentFlag.AlignTop)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        layout.addLayout(asked)
        layout.addWidget(self.answer)
        layout.addLayout(below)
        layout.addWidget(self.warnings)
        layout.addWidget(self.banner)

    def _draw_warnings(self) -> None:
        if self.figures.warnings:
            self.warnings.setText("\n".join(" ".join(printable(each).split())[:300] for each in self.figures.warnings))
            self.warnings.show()

    def _draw_icons(self) -> None:
        self.copy.setIcon(ui_icon("copy", Token.MUTED))


def _quiet_label() -> QLabel:
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setProperty("role", "caption")
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label
