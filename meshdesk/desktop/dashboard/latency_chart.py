"""The last minute of every hop: one line each, its compute filled below it, its way shown by the line's form.

Missing data is a gap, never a zero. Painted at most eight times a second, only while it is seen and only
when something new has come or what is there has moved by a pixel.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping

from PySide6.QtCore import QEvent, QRectF, QSize, QTimer
from PySide6.QtGui import (
    QFontMetricsF,
    QHideEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
    QTransform,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from meshdesk.desktop.amounts import ms_text
from meshdesk.desktop.dashboard import chart_paint
from meshdesk.desktop.dashboard.chart_cells import CellDrawing, cell_version, draw_cell
from meshdesk.desktop.dashboard.chart_lines import Cell, ChartLines, Line
from meshdesk.desktop.dashboard.chart_scale import WINDOW_S, Scale, ValueAxis
from meshdesk.desktop.dashboard.hop_words import mark_text, record_text
from meshdesk.desktop.dashboard.way_style import way_text
from meshdesk.desktop.theme import CAPTION_PX, text_font, theme
from meshdesk.volunteer.hop_history import HopHistory, HopRecord, Mark
from meshdesk.volunteer.layers import show_layers

FRAME_MS = 125
LABELS_HEIGHT = 18
LEFT = 40
HOVER_PX = 14


class LatencyChart(QWidget):
    """Shows ``hops``. ``clock`` is Unix seconds."""

    def __init__(self, hops: HopHistory, clock: Callable[[], float] = time.time, parent: QWidget | None = None):
        super().__init__(parent)
        self.paints = 0
        """How often it has been painted."""
        self._hops = hops
        self._clock = clock
        self._lines = ChartLines()
        self._axis = ValueAxis()
        self._drawings: dict[Cell, CellDrawing] = {}
        self._epoch = clock()
        self._names: Mapping[tuple[int, int], str] = {}
        self._right = LEFT
        self._hovered: HopRecord | None = None
        self._painted_now = 0.0
        self._font = text_font(CAPTION_PX)
        self._timer = QTimer(self)
        self._timer.setInterval(FRAME_MS)
        self._timer.timeout.connect(self.tick)
        theme().changed.connect(self.update)
        self.setMouseTracking(True)
        self.setMinimumSize(240, 96)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(self.tr("Per-token hop latency of the last 60 seconds"))

    @property
    def running(self) -> bool:
        """Whether its timer runs, which it does only while it is seen."""
        return self._timer.isActive()

    def set_names(self, names: Mapping[tuple[int, int], str]) -> None:
        """Names of the nodes that serve the lines' layers, for the labels at the lines' ends."""
        if dict(names) != dict(self._names):
            self._names = dict(names)
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(640, 200)

    def tick(self) -> None:
        """Take in what is new, and repaint if anything to be seen is another."""
        if self.window().isMinimized():
            return
        now = self._clock()
        changed = self._lines.follow(self._hops, now)
        scale = self._scale(now)
        changed |= self._axis.follow(self._lines.wanted_top(scale.start), now)
        if changed or (scale.now != self._painted_now and self._shows_anything(scale)):
            self.update()

    def describe(self) -> str:
        """The chart in words, for those who cannot see it."""
        parts = [
            self.tr("layers {layers} {way}, last {ms}").format(
                layers=show_layers(*line.layers),
                way=way_text(line.last.way, served=line.last.served),
                ms=ms_text(line.last.total_ms),
            )
            for line in self._sorted_lines()
            if line.last is not None
        ]
        return "; ".join(parts)

    def record_at(self, x: float, y: float) -> HopRecord | None:
        """The record drawn nearest to a place of this widget, if there is one near."""
        scale = self._scale(self._clock())
        best: tuple[float, HopRecord] | None = None
        low, high = scale.moment(x - HOVER_PX), scale.moment(x + HOVER_PX)
        for record in self._records_between(low, high):
            away = (scale.x(record.at) - x) ** 2 + (scale.clipped_y(record.total_ms) - y) ** 2 / 9
            if best is None or away < best[0]:
                best = away, record
        return None if best is None else best[1]

    def mark_at(self, x: float) -> Mark | None:
        """The mark at a place of this widget, if there is one."""
        scale = self._scale(self._clock())
        near = [mark for mark in self._hops.marks if abs(scale.x(mark.at) - x) <= 6 and scale.shows(mark.at)]
        return min(near, key=lambda mark: abs(scale.x(mark.at) - x)) if near else None

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.tick()
        self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        self._timer.stop()
        super().hideEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        place = event.position()
        mark = self.mark_at(place.x()) if place.y() <= LABELS_HEIGHT + 8 else None
        record = None if mark is not None else self.record_at(place.x(), place.y())
        if record is not self._hovered:
            self._hovered = record
            self.update()
        text = mark_text(mark) if mark is not None else "" if record is None else record_text(record)
        if text:
            QToolTip.showText(event.globalPosition().toPoint(), text, self)
        else:
            QToolTip.hideText()

    def leaveEvent(self, event: QEvent) -> None:
        if self._hovered is not None:
            self._hovered = None
            self.update()
        super().leaveEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        self.paints += 1
        now = self._clock()
        lines = self._sorted_lines()
        labels = self._labels(lines)
        metrics = QFontMetricsF(self._font)
        self._right = round(max([metrics.horizontalAdvance(text) for text in labels.values()], default=0.0)) + 14
        scale = self._scale(now)
        self._painted_now = scale.now
        marks = [mark for mark in self._hops.marks if scale.shows(mark.at)]
        painter = QPainter(self)
        painter.setFont(self._font)
        chart_paint.grid(painter, scale, self._axis.ticks())
        drawings = list(self._current_drawings(lines, scale))
        painter.save()
        painter.setClipRect(QRectF(scale.left, scale.top - 2, scale.width + 1, scale.height + 3))
        move = QTransform(scale.px_per_s, 0, 0, -scale.px_per_ms, scale.x(self._epoch), scale.bottom)
        chart_paint.areas(painter, move, drawings)
        chart_paint.mark_lines(painter, scale, marks)
        chart_paint.strokes(painter, move, drawings, self.devicePixelRatioF())
        chart_paint.markers(painter, move, drawings)
        chart_paint.prefills(painter, scale, self._lines.prefills)
        painter.restore()
        chart_paint.outliers(painter, scale, self._outliers(scale))
        chart_paint.mark_labels(painter, scale, marks)
        chart_paint.end_labels(painter, scale, labels, lines)
        if self._hovered is not None and scale.shows(self._hovered.at):
            chart_paint.hovered(painter, scale, self._hovered)
        painter.end()

    def _scale(self, now: float) -> Scale:
        width = max(1.0, self.width() - LEFT - self._right)
        height = max(1.0, self.height() - 2.0 * LABELS_HEIGHT)
        return Scale(LEFT, LABELS_HEIGHT, width, height, now, self._axis.top).at(now)

    def _sorted_lines(self) -> list[Line]:
        return [self._lines.lines[layers] for layers in sorted(self._lines.lines)]

    def _labels(self, lines: Iterable[Line]) -> dict[tuple[int, int], str]:
        return {line.layers: self._names.get(line.layers) or show_layers(*line.layers) for line in lines}

    def _current_drawings(self, lines: Iterable[Line], scale: Scale) -> Iterator[CellDrawing]:
        """Each visible cell's drawing; only those that changed are made anew."""
        kept: dict[Cell, CellDrawing] = {}
        for line in lines:
            before: Cell | None = None
            for cell in line.cells:
                drawing = self._drawings.get(cell)
                if drawing is None or drawing.version != cell_version(before, cell):
                    drawing = draw_cell(before, cell, self._epoch)
                kept[cell] = drawing
                before = cell
        self._drawings = kept
        yield from kept.values()

    def _outliers(self, scale: Scale) -> list[HopRecord]:
        return [
            column.high
            for cell, drawing in self._drawings.items()
            if drawing.highest > scale.value_top
            for column in cell.columns
            if column.high.total_ms > scale.value_top and scale.shows(column.high.at)
        ]

    def _records_between(self, low: float, high: float) -> Iterator[HopRecord]:
        for line in self._lines.lines.values():
            for point in line.points():
                if low <= point.at <= high:
                    yield point
        for record in self._lines.prefills:
            if low <= record.at <= high:
                yield record

    def _shows_anything(self, scale: Scale) -> bool:
        newest = self._lines.newest_at()
        if newest is not None and newest >= scale.start - 2 * scale.seconds_per_px:
            return True
        return any(mark.at >= scale.now - WINDOW_S - 2 * scale.seconds_per_px for mark in self._hops.marks)
