"""A cell of a chart's line as Qt draws it fast: made once, then only moved by the painter's transform.

Coordinates are seconds since the epoch of the chart and milliseconds. Pens must be cosmetic and at most
one device pixel wide: Qt has a fast path for those, while wider ones cost fifty times as much.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field

from PySide6.QtCore import QLineF, QPointF, QRectF
from PySide6.QtGui import QPolygonF

from meshdesk.desktop.dashboard.chart_lines import Cell, Run, pause_s, runs
from meshdesk.desktop.dashboard.way_style import Marker, WayStyle, way_style
from meshdesk.volunteer.hop_history import HopRecord

MARKER_EVERY_S = 2.0
DASH_S = 0.55
GAP_S = 0.35
SPARSE = 40
"""Up to so many points the compute is filled as a polygon; beyond it a step a column is cheaper and looks the same."""


@dataclass(slots=True)
class Stroke:
    """One run: its line or dashes, its compute's area and its markers' places."""

    style: WayStyle
    line: QPolygonF | None = None
    dashes: list[QLineF] = field(default_factory=list)
    area: QPolygonF | None = None
    bars: list[QRectF] = field(default_factory=list)
    markers: list[QPointF] = field(default_factory=list)
    lone: QPointF | None = None
    """A single point that joins with nothing."""


@dataclass(slots=True)
class CellDrawing:
    """What a cell looks like as of its ``version``, and after its neighbour's."""

    version: tuple[int, int]
    strokes: list[Stroke]
    highest: float


def draw_cell(before: Cell | None, cell: Cell, epoch: float) -> CellDrawing:
    """The drawing of ``cell``, joined up with the cell before it."""
    joined = before.columns[-1].points()[-1] if before is not None else None
    found = runs(cell.points(), joined, pause_s(before, cell))
    return CellDrawing(
        version=cell_version(before, cell),
        strokes=[_stroke(run, epoch) for run in found],
        highest=max(column.high.total_ms for column in cell.columns),
    )


def cell_version(before: Cell | None, cell: Cell) -> tuple[int, int]:
    """A drawing of another version is out of date."""
    return (before.version if before is not None else 0, cell.version)


def _stroke(run: Run, epoch: float) -> Stroke:
    style = way_style(run.way, served=run.way is None)
    stroke = Stroke(style)
    points = [QPointF(point.at - epoch, point.total_ms) for point in run.points]
    if len(points) == 1:
        stroke.lone = points[0]
    elif style.dashed:
        stroke.dashes = dashes(points)
    else:
        stroke.line = QPolygonF(points)
    if len(points) <= SPARSE:
        stroke.area = QPolygonF(
            [
                QPointF(points[0].x(), 0.0),
                *(QPointF(point.at - epoch, point.compute_ms) for point in run.points),
                QPointF(points[-1].x(), 0.0),
            ]
        )
    else:
        stroke.bars = _bars(run.points, epoch)
    if style.marker is not Marker.NONE:
        stroke.markers = _markers(run.points, epoch)
    return stroke


def _bars(points: list[HopRecord], epoch: float) -> list[QRectF]:
    return [
        QRectF(point.at - epoch, 0.0, following.at - point.at, point.compute_ms)
        for point, following in itertools.pairwise(points)
    ]


def _markers(points: list[HopRecord], epoch: float) -> list[QPointF]:
    """One point in each span of time, the same one wherever the chart has moved to."""
    marked: list[QPointF] = []
    span: int | None = None
    for point in points:
        number = math.floor(point.at / MARKER_EVERY_S)
        if number != span:
            span = number
            marked.append(QPointF(point.at - epoch, point.total_ms))
    return marked


def dashes(points: list[QPointF]) -> list[QLineF]:
    """The line through ``points``, cut by a clock: dashes that do not crawl while the chart moves."""
    period = DASH_S + GAP_S
    found: list[QLineF] = []
    for first, second in itertools.pairwise(points):
        start, end = first.x(), second.x()
        if end <= start:
            found.append(QLineF(first, second))
            continue
        slope = (second.y() - first.y()) / (end - start)
        at = start
        while at < end:
            cycle = math.floor(at / period + 1e-9)
            dash_end = cycle * period + DASH_S
            if at < dash_end - 1e-9:
                until = min(end, dash_end)
                found.append(QLineF(at, first.y() + (at - start) * slope, until, first.y() + (until - start) * slope))
            at = (cycle + 1) * period
    return found
