"""The route as a row of nodes and seams: mine filled, each seam with its way and how long it takes just now."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QHelpEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QSizePolicy, QToolTip

from meshdesk.desktop.amounts import ms_text
from meshdesk.desktop.dashboard.chart_paint import marker
from meshdesk.desktop.dashboard.way_style import Marker, way_style, way_text
from meshdesk.desktop.theme import CAPTION_PX, PADDING, RADIUS, TEXT_PX, Token, text_font, theme
from meshdesk.node.events import Way
from meshdesk.volunteer.layers import show_layers
from meshdesk.volunteer.status import RouteStop, Status

translate = QCoreApplication.translate
HEIGHT = 64
PILL_HEIGHT = 38
PILL_PADDING = 12.0
LEAST_SEAM, WIDEST_SEAM = 56.0, 420.0
CHAT_SEAM = 36.0
LEAST_PILL = 58.0
MARKERS = 2
LINE_PX = 2.0


@dataclass(frozen=True, slots=True)
class Place:
    """Where a stop is drawn, and the seam that leads to it."""

    stop: RouteStop
    pill: QRectF
    seam_from: float


class RouteStrip(QFrame):
    """Painted; its words are its accessible description, and a tooltip on each seam."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(translate("RouteStrip", "Route of the activations"))
        self._route: tuple[RouteStop, ...] = ()
        theme().changed.connect(self.update)

    def show_status(self, status: Status) -> None:
        """Show the status's route; repaints only for another one."""
        if status.route == self._route:
            return
        self._route = status.route
        self.setAccessibleDescription(self.description())
        self.update()

    def description(self) -> str:
        """The route in words: each node with its layers, each seam with its way and time."""
        return "; ".join(_stop_words(stop, first=not index) for index, stop in enumerate(self._route))

    def sizeHint(self) -> QSize:
        return QSize(640, HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return QSize(320, HEIGHT)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            for index, place in enumerate(self._places()):
                if place.seam_from <= event.pos().x() <= place.pill.right():
                    QToolTip.showText(event.globalPos(), _stop_words(place.stop, first=not index), self)
                    return True
            QToolTip.hideText()
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        places = self._places()
        for index, place in enumerate(places):
            if index:
                self._paint_seam(painter, place)
            else:
                self._paint_chat(painter, place)
            self._paint_pill(painter, place)
        if self.hasFocus():
            painter.setPen(QPen(theme().color(Token.DIRECT), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), RADIUS, RADIUS)
        painter.end()

    def _places(self) -> list[Place]:
        """Pills as wide as their words as far as there is room, the seams share the rest."""
        if not self._route:
            return []
        width = self.width() - 2 * PADDING - self._chat_width() - CHAT_SEAM
        route = _folded(self._route, lambda stops: _least_width(stops) <= width)
        seams = len(route) - 1
        wanted, least = [_pill_width(stop) for stop in route], [_least_pill(stop) for stop in route]
        room = width - LEAST_SEAM * seams
        # What is above the least is shared out; a pill's layers are never cut, only its name is.
        spare = min(1.0, max(0.0, room - sum(least)) / max(1.0, sum(wanted) - sum(least)))
        pills = [low + (full - low) * spare for low, full in zip(least, wanted, strict=True)]
        seam = max(LEAST_SEAM, (width - sum(pills)) / seams) if seams else 0.0
        # A short route does not need the whole width between two pills.
        seam = min(seam, WIDEST_SEAM)
        top = (self.height() - PILL_HEIGHT) / 2
        x = PADDING + self._chat_width() + CHAT_SEAM
        places = []
        for index, (stop, pill) in enumerate(zip(route, pills, strict=True)):
            start = x
            if index:
                x += seam
            places.append(Place(stop, QRectF(x, top, pill, PILL_HEIGHT), start))
            x += pill
        return places

    def _chat_width(self) -> float:
        return QFontMetricsF(text_font()).horizontalAdvance(_chat())

    def _paint_chat(self, painter: QPainter, place: Place) -> None:
        painter.setFont(text_font())
        painter.setPen(theme().color(Token.MUTED))
        middle = self.height() / 2
        left = float(PADDING)
        painter.drawText(QRectF(left, 0, self._chat_width() + 1, self.height()), Qt.AlignmentFlag.AlignVCenter, _chat())
        painter.setPen(QPen(theme().color(Token.LINE), LINE_PX))
        painter.drawLine(QPointF(left + self._chat_width() + 6, middle), QPointF(place.pill.left() - 4, middle))

    def _paint_pill(self, painter: QPainter, place: Place) -> None:
        stop, pill = place.stop, place.pill
        accent = theme().color(Token.DIRECT)
        painter.setPen(QPen(accent if stop.mine else theme().color(Token.LINE), 1))
        painter.setBrush(accent if stop.mine else theme().color(Token.BG))
        painter.drawRoundedRect(pill, PILL_HEIGHT / 2, PILL_HEIGHT / 2)
        ink = theme().ink_on(Token.DIRECT) if stop.mine else theme().color(Token.TEXT)
        inner = pill.adjusted(PILL_PADDING / 2, 4, -PILL_PADDING / 2, -4)
        _elided(painter, inner, Qt.AlignmentFlag.AlignTop, node_name(stop), text_font(TEXT_PX, bold=True), ink)
        layers = show_layers(stop.start_layer, stop.end_layer)
        quiet = ink if stop.mine else theme().color(Token.MUTED)
        _elided(painter, inner, Qt.AlignmentFlag.AlignBottom, layers, text_font(CAPTION_PX), quiet)

    def _paint_seam(self, painter: QPainter, place: Place) -> None:
        style = way_style(place.stop.way)
        colour = theme().color(style.token)
        left, right, middle = place.seam_from + 4, place.pill.left() - 4, self.height() / 2
        pen = QPen(colour, LINE_PX)
        if style.dashed:
            pen.setDashPattern([3, 2])
        painter.setPen(pen)
        painter.drawLine(QPointF(left, middle), QPointF(right, middle))
        if style.marker is not Marker.NONE:
            painter.setPen(QPen(colour, 1))
            painter.setBrush(colour)
            for number in range(MARKERS):
                x = left + (right - left) * (number + 1) / (MARKERS + 1)
                marker(painter, style.marker, QPointF(x, middle))
        above = QRectF(left, middle - 24, right - left, 18)
        below = QRectF(left, middle + 6, right - left, 18)
        font = text_font(CAPTION_PX)
        _elided(painter, above, Qt.AlignmentFlag.AlignVCenter, _fitting(_via(place.stop), font, above), font, colour)
        _elided(
            painter,
            below,
            Qt.AlignmentFlag.AlignVCenter,
            ms_text(place.stop.latency_ms),
            text_font(CAPTION_PX),
            theme().color(Token.TEXT if place.stop.latency_ms is not None else Token.MUTED),
        )


def _folded(route: Sequence[RouteStop], fits: Callable[[Sequence[RouteStop]], bool]) -> list[RouteStop]:
    """``route`` with neighbours made one until it fits, those farthest from this computer first."""
    shown = [(stop, 1) for stop in route]
    while not fits([stop for stop, _ in shown]):
        mine = next((index for index, (stop, _) in enumerate(shown) if stop.mine), 0)
        pairs = [index for index in range(len(shown) - 1) if not (shown[index][0].mine or shown[index + 1][0].mine)]
        if not pairs:
            break
        index = max(pairs, key=lambda index: abs(index + 0.5 - mine))
        (first, some), (second, more) = shown[index : index + 2]
        name = translate("RouteStrip", "{count} nodes").format(count=some + more)
        both = dataclasses.replace(first, name=name, end_layer=second.end_layer, compute_ms=None)
        shown[index : index + 2] = [(both, some + more)]
    return [stop for stop, _ in shown]


def _least_width(stops: Sequence[RouteStop]) -> float:
    return sum(_least_pill(stop) for stop in stops) + LEAST_SEAM * (len(stops) - 1)


def _pill_width(stop: RouteStop) -> float:
    name = QFontMetricsF(text_font(TEXT_PX, bold=True)).horizontalAdvance(node_name(stop))
    return max(name + 2 * PILL_PADDING, _least_pill(stop))


def _least_pill(stop: RouteStop) -> float:
    layers = QFontMetricsF(text_font(CAPTION_PX)).horizontalAdvance(show_layers(stop.start_layer, stop.end_layer))
    return max(LEAST_PILL, layers + 1.5 * PILL_PADDING)


def _elided(painter: QPainter, box: QRectF, vertical: Qt.AlignmentFlag, text: str, font: QFont, colour: QColor) -> None:
    painter.setFont(font)
    painter.setPen(colour)
    cut = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, box.width())
    painter.drawText(box, vertical | Qt.AlignmentFlag.AlignHCenter, cut)


def _chat() -> str:
    return translate("RouteStrip", "chat")


def node_name(stop: RouteStop) -> str:
    """What a node is called here: this computer is "you" wherever it appears."""
    return translate("RouteStrip", "you") if stop.mine else stop.name


def _via(stop: RouteStop) -> tuple[str, ...]:
    """What may stand over a seam, the longest first: the relay's host, else the way. Its line says the rest."""
    if stop.way is None:
        return ("",)
    if stop.way is Way.RELAY:
        return (stop.via, way_text(Way.RELAY)) if stop.via else (way_text(Way.RELAY),)
    return (way_text(stop.way), way_text(Way.DIRECT)) if stop.way is Way.DIRECT_AFTER_RELAY else (way_text(stop.way),)


def _fitting(texts: tuple[str, ...], font: QFont, box: QRectF) -> str:
    """The first text with room enough, or the last, which is then cut."""
    metrics = QFontMetricsF(font)
    return next((text for text in texts if metrics.horizontalAdvance(text) <= box.width()), texts[-1])


def _stop_words(stop: RouteStop, *, first: bool) -> str:
    node = translate("RouteStrip", "{name}, layers {layers}").format(
        name=node_name(stop), layers=show_layers(stop.start_layer, stop.end_layer)
    )
    if first:
        return node
    way = way_text(stop.way)
    if stop.via and way_style(stop.way).marker is Marker.ROUND:
        way = translate("RouteStrip", "{way} {host}").format(way=way, host=stop.via)
    if stop.latency_ms is None:
        return translate("RouteStrip", "then by {way} to {node}").format(way=way, node=node)
    return translate("RouteStrip", "then by {way} in {time} to {node}").format(
        way=way, time=ms_text(stop.latency_ms), node=node
    )
