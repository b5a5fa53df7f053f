"""Where a question is written: Enter sends it, Shift+Enter makes a line, and the field grows with the text."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QMimeData, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QTextOption
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QPushButton, QSizePolicy, QWidget

from meshdesk.desktop.icons import ui_icon
from meshdesk.desktop.theme import GRID, Token, theme

MAX_LINES = 6
MAX_CHARS = 32_000
"""More than any model here takes; a pasted book must not be sent."""
MARGIN = 4


class QuestionField(QPlainTextEdit):
    """Plain text only, whatever is pasted."""

    sent = Signal()
    paged = Signal(int)
    """-1 for Page Up, 1 for Page Down: the transcript scrolls while the field keeps the focus."""

    def __init__(self, parent: QWidget | None = None):
        super().__init__(parent)
        self.setTabChangesFocus(True)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(MARGIN)
        self.document().documentLayout().documentSizeChanged.connect(lambda _: self._fit())
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, shift = event.key(), bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not shift:
            self.sent.emit()
        elif key in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown) and not shift:
            self.paged.emit(-1 if key == Qt.Key.Key_PageUp else 1)
        else:
            super().keyPressEvent(event)

    def insertFromMimeData(self, source: QMimeData) -> None:
        room = MAX_CHARS - self.document().characterCount()
        if source.hasText() and room > 0:
            self.textCursor().insertText(source.text()[:room])

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def sizeHint(self) -> QSize:
        return QSize(320, self.height())

    def _fit(self) -> None:
        needed = max(1, round(self.document().size().height()))
        lines = min(MAX_LINES, needed)
        policy = Qt.ScrollBarPolicy.ScrollBarAsNeeded if needed > lines else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self.setVerticalScrollBarPolicy(policy)
        # What the style puts around the text is known once the field has been laid out.
        around = max(0, self.height() - self.viewport().height())
        self.setFixedHeight(lines * self.fontMetrics().lineSpacing() + 2 * MARGIN + around)


class Composer(QWidget):
    """The field and its one button, which sends, or stops the answer that runs."""

    asked = Signal(str)
    stopped = Signal()
    paged = Signal(int)

    def __init__(self, parent: QWidget | None = None):
        super().__init__(parent)
        self._running = False
        self._able = True
        self.field = QuestionField(self)
        self.field.setAccessibleName(self.tr("Your question"))
        self.field.setPlaceholderText(self.tr("Ask the mesh something"))
        self.button = QPushButton(self)
        self.button.setProperty("role", "primary")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID)
        layout.addWidget(self.field, 1)
        layout.addWidget(self.button, 0, Qt.AlignmentFlag.AlignBottom)
        self.setFocusProxy(self.field)
        self.field.sent.connect(self._send)
        self.field.paged.connect(self.paged)
        self.field.textChanged.connect(self._show)
        self.button.clicked.connect(self._press)
        theme().changed.connect(self._show)
        self._show()
        self._keep_width()

    def set_running(self, running: bool) -> None:
        """While an answer runs the button stops it, and Enter waits."""
        self._running = running
        self._show()

    def set_able(self, able: bool) -> None:
        """Without a mesh a question can be written, but not sent."""
        self._able = able
        self._show()

    def put(self, text: str) -> None:
        """Have ``text`` written in the field, the cursor behind it."""
        self.field.setPlainText(text)
        self.field.moveCursor(self.field.textCursor().MoveOperation.End)

    def _press(self) -> None:
        if self._running:
            self.stopped.emit()
        else:
            self._send()

    def _send(self) -> None:
        text = self.field.toPlainText().strip()
        if text and self._able and not self._running:
            self.field.clear()
            self.asked.emit(text)

    def _show(self) -> None:
        self._show_as(self._running)
        self.button.setEnabled(self._running or (self._able and bool(self.field.toPlainText().strip())))

    def _show_as(self, running: bool) -> None:
        self.button.setText(self.tr("Stop") if running else self.tr("Send"))
        # Ink on the accent, or on the disabled button's surface.
        self.button.setIcon(ui_icon("stop" if running else "send", Token.SURFACE))
        self.button.setToolTip(self.tr("Stop the answer (Esc)") if running else self.tr("Send (Enter)"))

    def _keep_width(self) -> None:
        """As wide as the longer word, so that nothing jumps when the word changes."""
        widths = []
        for running in (True, False):
            self._show_as(running)
            widths.append(self.button.sizeHint().width())
        self.button.setMinimumWidth(max(widths))
        self._show()
