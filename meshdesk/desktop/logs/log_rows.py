"""How one line of the log is drawn: time, a sign for its level, source, message with what was searched for marked.

Shape tells the level as well as colour does: a ring, a dot, a triangle, a square with a bar.
"""

from __future__ import annotations

import logging
import math

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QPolygonF, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from meshdesk.desktop.logs.log_filter import Search
from meshdesk.desktop.logs.log_model import LEVEL, MESSAGE, LogModel
from meshdesk.desktop.theme import GRID, Token, text_font, theme
from meshdesk.volunteer.log_records import LogLine

MAX_DRAWN = 2_000
"""Characters of a message that are laid out; no row is that wide, nor that high."""
_SIGN_PX = 9.0
_MARK_ALPHA = 80


def level_token(level: int) -> Token:
    """The colour of a level: muted but for warnings and errors."""
    if level >= logging.ERROR:
        return Token.ERROR
    return Token.FALLBACK if level >= logging.WARNING else Token.MUTED


class LineDelegate(QStyledItemDelegate):
    """Draws the cells itself, straight from ``model``: no style option is filled in, and Qt is called seldom.

    For at each call into Qt another thread may take the interpreter for 5 ms. The table has drawn the
    ground of a selected row by then.
    """

    def __init__(self, model: LogModel) -> None:
        super().__init__()
        self._model = model
        self.search = Search()
        self.current_match: int | None = None
        """The number of the line that next and previous have come to."""
        self.wraps = False
        self._font = text_font(mono=True)
        self._metrics = QFontMetricsF(self._font)
        self._widest = self._metrics.maxWidth()
        self.row_height = round(self._metrics.height()) + GRID // 2
        """Pixels of a row with one line of text."""

    def width_of(self, text: str) -> int:
        """Pixels that ``text`` needs in a cell."""
        return math.ceil(self._metrics.horizontalAdvance(text)) + 2 * GRID

    def height_of(self, message: str, width: int, rows: int) -> int:
        """Pixels of a row that wraps ``message`` within ``width``; as high as ``rows`` lines of text at most."""
        lines = self._wrapped(message, width).lineCount()
        return round(self._metrics.height() * max(1, min(lines, rows))) + GRID // 2

    def _wrapped(self, message: str, width: float) -> QTextLayout:
        layout = QTextLayout(message[:MAX_DRAWN].replace("\n", "\u2028"), self._font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        layout.beginLayout()
        y = 0.0
        while (line := layout.createLine()).isValid():
            line.setLineWidth(max(1.0, width - 2 * GRID))
            line.setPosition(QPointF(0, y))
            y += self._metrics.height()
        layout.endLayout()
        return layout

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(self.width_of(str(index.data() or "")), self.row_height)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        row, column = index.row(), index.column()
        if row >= self._model.shown:
            return
        line = self._model.line_at(row)
        area = QRectF(option.rect)
        if column == LEVEL:
            painter.save()
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            _draw_sign(painter, QPointF(area.x() + area.width() / 2, area.y() + self.row_height / 2), line.level)
            painter.restore()
            return
        painter.setFont(self._font)
        text = self._model.cell_text(line, column)
        if column == MESSAGE:
            self._draw_message(painter, area, line, text)
        else:
            painter.setPen(theme().color(Token.MUTED))
            self._draw_text(painter, area, text)

    def _draw_message(self, painter: QPainter, area: QRectF, line: LogLine, message: str) -> None:
        token = level_token(line.level)
        if token is Token.MUTED and line.level >= logging.INFO:
            token = Token.TEXT
        current = line.number == self.current_match
        if not self.wraps:
            self._draw_marks(painter, area, message, current)
        painter.setPen(theme().color(token))
        if self.wraps:
            marks = [_marked(start, end, current) for start, end in self.search.spans(message[:MAX_DRAWN])]
            painter.save()
            painter.setClipRect(area)
            self._wrapped(message, area.width()).draw(painter, area.topLeft() + QPointF(GRID, GRID / 4), marks)
            painter.restore()
        else:
            self._draw_text(painter, area, _drawn(message))

    def _draw_text(self, painter: QPainter, area: QRectF, text: str) -> None:
        width = area.width() - 2 * GRID
        if len(text) * self._widest > width and self._metrics.horizontalAdvance(text) > width:
            text = self._metrics.elidedText(text, Qt.TextElideMode.ElideRight, width)
        painter.drawText(QRectF(area.x() + GRID, area.y(), width, self.row_height), _ONE_LINE, text)

    def _draw_marks(self, painter: QPainter, area: QRectF, message: str, current: bool) -> None:
        drawn = _drawn(message)
        for start, end in self.search.spans(drawn):
            left = self._metrics.horizontalAdvance(drawn[:start])
            width = self._metrics.horizontalAdvance(drawn[start:end])
            mark = QRectF(area.x() + GRID + left, area.y() + 2, width, self.row_height - 4) & area
            painter.fillRect(mark, _faint(Token.RELAY, _MARK_ALPHA))
            if current:
                painter.setPen(QPen(theme().color(Token.RELAY), 1))
                painter.drawRect(mark)


_ONE_LINE = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine)


def _drawn(message: str) -> str:
    """On one line."""
    return message[:MAX_DRAWN].replace("\n", "↵").replace("\t", " ")


def _marked(start: int, end: int, current: bool) -> QTextLayout.FormatRange:
    found = QTextLayout.FormatRange()
    found.start, found.length = start, end - start
    style = QTextCharFormat()
    style.setBackground(_faint(Token.RELAY, 2 * _MARK_ALPHA if current else _MARK_ALPHA))
    found.format = style
    return found


def _faint(token: Token, alpha: int) -> QColor:
    color = QColor(theme().color(token))
    color.setAlpha(alpha)
    return color


def _draw_sign(painter: QPainter, center: QPointF, level: int) -> None:
    color = theme().color(level_token(level))
    half = _SIGN_PX / 2
    painter.setPen(QPen(color, 1.5))
    if level >= logging.ERROR:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawRoundedRect(QRectF(center.x() - half, center.y() - half, _SIGN_PX, _SIGN_PX), 2, 2)
        painter.setPen(QPen(theme().color(Token.SURFACE), 1.5))
        painter.drawLine(center + QPointF(-2, 0), center + QPointF(2, 0))
    elif level >= logging.WARNING:
        painter.setPen(QPen(color, 1, j=Qt.PenJoinStyle.RoundJoin))
        painter.setBrush(color)
        painter.drawPolygon(QPolygonF([center + QPointF(x, y) for x, y in ((0, -half), (half, half), (-half, half))]))
    elif level >= logging.INFO:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawEllipse(center, 2.5, 2.5)
    else:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(center, 2.25, 2.25)
