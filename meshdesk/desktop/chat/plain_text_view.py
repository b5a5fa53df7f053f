"""Text from a stranger's computer, shown as it is: no markup, no links, no steering characters, as tall as it needs."""

from __future__ import annotations

import math

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QKeyEvent, QResizeEvent, QTextCursor, QTextOption, QWheelEvent
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QSizePolicy, QWidget

from meshdesk.volunteer.chat_client import printable

BORDER = 1
"""Of the focus, kept free while there is none."""


class PlainTextView(QPlainTextEdit):
    """Read-only and selectable, without scroll bars of its own: the list around it scrolls.

    Appending lays out the last paragraph only, however long the text before it is.
    """

    def __init__(self, parent: QWidget | None = None):
        super().__init__(parent)
        self.setReadOnly(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setUndoRedoEnabled(False)
        # A tab is a step to the next control, not a sign.
        self.setTabChangesFocus(True)
        self.document().setDocumentMargin(0)
        self.viewport().setAutoFillBackground(False)
        # Text on whatever is under it, not a field to write in; the focus still shows.
        self.setProperty("role", "flat")
        self._settled_blocks = 0
        self._settled_height = 0.0
        self._fit()

    def append_text(self, text: str) -> None:
        """Add ``text`` at the end; the selection and what is scrolled to stay."""
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(printable(text))
        self._fit()

    def natural_width(self) -> int:
        """The width at which no line of the present text needs to break."""
        widths = (self.fontMetrics().horizontalAdvance(line) for line in self.toPlainText().splitlines())
        return max(widths, default=0) + 2 * self.cursorWidth() + 2 * BORDER

    def clear_text(self) -> None:
        self.clear()
        self._settled_blocks, self._settled_height = 0, 0.0
        self._fit()

    def sizeHint(self) -> QSize:
        return QSize(320, self.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(80, self.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._settled_blocks, self._settled_height = 0, 0.0
            self._fit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        # Neither scrolled nor zoomed here.
        event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            event.ignore()
            return
        super().keyPressEvent(event)

    def _fit(self) -> None:
        """As tall as the text. Every paragraph but the last is measured once for a width."""
        document = self.document()
        block = document.findBlockByNumber(self._settled_blocks)
        while block.isValid() and block != document.lastBlock():
            self._settled_height += self.blockBoundingRect(block).height()
            self._settled_blocks += 1
            block = block.next()
        height = math.ceil(self._settled_height + self.blockBoundingRect(document.lastBlock()).height()) + 2 * BORDER
        if height != self.height():
            self.setFixedHeight(height)
