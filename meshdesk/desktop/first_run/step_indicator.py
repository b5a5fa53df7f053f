"""Where the person is among the pages, as a row of dots: done and present ones filled, the present one wide."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from meshdesk.desktop.theme import GRID, Token, theme

DOT = 8
PRESENT = 20


class StepIndicator(QWidget):
    """Painted; its accessible name says the same in words."""

    def __init__(self, parent: QWidget | None = None):
        super().__init__(parent)
        self._at, self._count = 0, 1
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme().changed.connect(self.update)

    def show_step(self, at: int, count: int) -> None:
        """``at`` counts from 0."""
        self._at, self._count = at, count
        words = self.tr("Step {step} of {count}").format(step=at + 1, count=count)
        self.setAccessibleName(words)
        self.setToolTip(words)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize((self._count - 1) * (DOT + GRID) + PRESENT, DOT)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        left = 0.0
        for step in range(self._count):
            width = PRESENT if step == self._at else DOT
            painter.setBrush(theme().color(Token.DIRECT if step <= self._at else Token.LINE))
            painter.drawRoundedRect(QRectF(left, 0, width, DOT), DOT / 2, DOT / 2)
            left += width + GRID
        painter.end()
