"""The strokes of the chart's brush: grid, areas, lines, markers, marks and labels, each painted where a scale says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from PySide6.QtCore import QCoreApplication, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QPolygonF, QTransform

from meshdesk.desktop.dashboard.chart_cells import CellDrawing
from meshdesk.desktop.dashboard.chart_lines import Line
from meshdesk.desktop.dashboard.chart_scale import WINDOW_S, Scale, spread_out
from meshdesk.desktop.dashboard.hop_words import mark_label
from meshdesk.desktop.dashboard.way_style import Marker, way_style
from meshdesk.desktop.theme import Token, theme
from meshdesk.volunteer.hop_history import HopRecord, Mark, MarkKind

translate = QCoreApplication.translate

LINE_PX = 1.5
AREA_ALPHA = 56
MARKER_PX = 2.6
LABEL_HEIGHT = 13
TIME_MARKS = 4
ARROWS_APART_PX = 9
LABEL_ASTRAY_PX = 40
"""How far from its mark a label may end."""


def grid(painter: QPainter, scale: Scale, ticks: Sequence[float]) -> None:
    """The horizontal lines with their values, and the times below."""
    line, muted = theme().color(Token.LINE), theme().color(Token.MUTED)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    for tick in ticks:
        y = round(scale.y(tick))
        painter.setPen(hairline(line))
        painter.drawLine(QPointF(scale.left, y), QPointF(scale.right, y))
    painter.setPen(muted)
    shown = ticks if scale.height / max(1, len(ticks) - 1) >= LABEL_HEIGHT + 2 else (ticks[0], ticks[-1])
    for tick in shown:
        box = QRectF(0, round(scale.y(tick)) - 8, scale.left - 8, 16)
        painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, f"{tick:g}")
    unit = QRectF(0, scale.top - 20, scale.left - 8, 12)
    if scale.top >= 18:
        painter.drawText(unit, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, translate("Chart", "ms"))
    for number in range(TIME_MARKS + 1):
        ago = WINDOW_S * (TIME_MARKS - number) / TIME_MARKS
        text = (
            translate("Chart", "now") if not ago else translate("Chart", "{seconds} s ago").format(seconds=f"{ago:g}")
        )
        x = scale.left + scale.width * number / TIME_MARKS
        align = (
            Qt.AlignmentFlag.AlignLeft
            if number == 0
            else Qt.AlignmentFlag.AlignRight
            if number == TIME_MARKS
            else Qt.AlignmentFlag.AlignHCenter
        )
        box = QRectF(x - (0 if number == 0 else 80 if number == TIME_MARKS else 40), scale.bottom + 4, 80, 14)
        painter.drawText(box, align | Qt.AlignmentFlag.AlignVCenter, text)


def areas(painter: QPainter, move: QTransform, drawings: Iterable[CellDrawing]) -> None:
    """What was computed, filled below each line."""
    painter.save()
    painter.setTransform(move, True)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(Qt.PenStyle.NoPen)
    for drawing in drawings:
        for stroke in drawing.strokes:
            color = theme().color(stroke.style.token)
            color.setAlpha(AREA_ALPHA)
            painter.setBrush(color)
            if stroke.area is not None:
                painter.drawPolygon(stroke.area)
            else:
                painter.drawRects(stroke.bars)
    painter.restore()


def strokes(painter: QPainter, move: QTransform, drawings: Sequence[CellDrawing], dpr: float) -> None:
    """The lines, in passes of one device pixel each that lie below one another: together as thick as LINE_PX."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    passes = max(2, round(LINE_PX * dpr))
    for number in range(passes):
        painter.save()
        painter.translate(0.0, (number - (passes - 1) / 2) / dpr)
        painter.setTransform(move, True)
        for drawing in drawings:
            for stroke in drawing.strokes:
                painter.setPen(hairline(theme().color(stroke.style.token)))
                if stroke.line is not None:
                    painter.drawPolyline(stroke.line)
                elif stroke.dashes:
                    painter.drawLines(stroke.dashes)
        painter.restore()


def markers(painter: QPainter, move: QTransform, drawings: Iterable[CellDrawing]) -> None:
    """Dots on a relay's line, triangles on a fallback's, and lone points."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    painter.setPen(Qt.PenStyle.NoPen)
    for drawing in drawings:
        for stroke in drawing.strokes:
            painter.setBrush(theme().color(stroke.style.token))
            for point in stroke.markers:
                marker(painter, stroke.style.marker, move.map(point))
            if stroke.lone is not None and stroke.style.marker is Marker.NONE:
                painter.drawEllipse(move.map(stroke.lone), 1.8, 1.8)


def marker(painter: QPainter, kind: Marker, place: QPointF, size: float = MARKER_PX) -> None:
    """One marker, with the painter's brush."""
    if kind is Marker.ROUND:
        painter.drawEllipse(place, size, size)
    elif kind is Marker.TRIANGLE:
        painter.drawPolygon(triangle(place, size + 0.9))


def prefills(painter: QPainter, scale: Scale, records: Iterable[HopRecord]) -> None:
    """Prompts as hollow squares: they are no tokens, and belong to no line. Those above the chart are arrows."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    surface = theme().color(Token.SURFACE)
    for record in records:
        if not scale.shows(record.at):
            continue
        color = theme().color(way_style(record.way, served=record.served).token)
        painter.setPen(QPen(color, 1.2))
        painter.setBrush(surface)
        x, y = scale.x(record.at), scale.y(record.total_ms)
        if y < scale.top:
            painter.drawPolygon(triangle(QPointF(x, scale.top + 5), 4.0))
        else:
            painter.drawRect(QRectF(x - 3, y - 3, 6, 6))


def outliers(painter: QPainter, scale: Scale, records: Sequence[HopRecord]) -> None:
    """Arrows at the upper edge for points above the chart."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    painter.setPen(Qt.PenStyle.NoPen)
    last = float("-inf")
    for record in sorted(records, key=lambda record: record.at):
        x = scale.x(record.at)
        if x - last < ARROWS_APART_PX:
            continue
        last = x
        painter.setBrush(theme().color(way_style(record.way, served=record.served).token))
        painter.drawPolygon(triangle(QPointF(x, scale.top + 2), 4.0))


def mark_lines(painter: QPainter, scale: Scale, marks: Iterable[Mark]) -> None:
    """A dashed upright where a relay was lost or came back."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    for mark in marks:
        pen = hairline(_mark_color(mark))
        pen.setDashPattern([3.0, 3.0])
        painter.setPen(pen)
        x = round(scale.x(mark.at))
        painter.drawLine(QPointF(x, scale.top), QPointF(x, scale.bottom))


def mark_labels(painter: QPainter, scale: Scale, marks: Iterable[Mark]) -> None:
    """Above the plot: what happened when. An older one makes way to the left; where it would end up too far
    from its mark, it is left to the tooltip."""
    metrics = QFontMetricsF(painter.font())
    free_to = scale.right
    said: set[str] = set()
    for mark in sorted(marks, key=lambda mark: mark.at, reverse=True):
        text = mark_label(mark)
        if text in said:
            continue
        width = metrics.horizontalAdvance(text) + 2
        x = scale.x(mark.at)
        left = min(x - 4, free_to - width)
        if left < 0 or left + width < x - LABEL_ASTRAY_PX:
            continue
        free_to = left - 10
        said.add(text)
        painter.setPen(_mark_color(mark))
        box = QRectF(left, scale.top - 18, width + 4, 15)
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)


def end_labels(painter: QPainter, scale: Scale, labels: Mapping[tuple[int, int], str], lines: Sequence[Line]) -> None:
    """Each line's name beside its newest point, pushed apart where they would touch."""
    found = [(scale.clipped_y(line.last.total_ms), line) for line in lines if line.last is not None]
    found.sort(key=lambda each: each[0])
    places = spread_out([y for y, _ in found], LABEL_HEIGHT, scale.top + 4, scale.bottom - 4)
    for (_, line), y in zip(found, places, strict=True):
        if line.last is None or y > scale.bottom:
            continue
        painter.setPen(theme().color(way_style(line.last.way, served=line.last.served).token))
        box = QRectF(scale.right + 8, y - 8, 200, 16)
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, labels[line.layers])


def hovered(painter: QPainter, scale: Scale, record: HopRecord) -> None:
    """A ring around the record under the pointer."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    painter.setPen(QPen(theme().color(Token.TEXT), 1.5))
    painter.setBrush(theme().color(Token.SURFACE))
    painter.drawEllipse(QPointF(scale.x(record.at), scale.clipped_y(record.total_ms)), 4.5, 4.5)


def hairline(color: QColor) -> QPen:
    """A pen of one device pixel, which Qt draws fast."""
    pen = QPen(color)
    pen.setWidthF(1.0)
    pen.setCosmetic(True)
    return pen


def triangle(place: QPointF, size: float) -> QPolygonF:
    """A triangle that points upwards, around ``place``."""
    return QPolygonF(
        [
            QPointF(place.x(), place.y() - size),
            QPointF(place.x() + size, place.y() + size * 0.8),
            QPointF(place.x() - size, place.y() + size * 0.8),
        ]
    )


def _mark_color(mark: Mark) -> QColor:
    return theme().color(Token.FALLBACK if mark.kind is MarkKind.FELL_BACK else Token.RELAY)
