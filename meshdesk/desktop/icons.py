"""Icons drawn for meshdesk, from SVG, in the theme's colours and as sharp as the screen allows.

``ui_icon`` are lines for buttons and menus; ``tray_icon`` are the six states of the tray, told apart by
their shape; ``app_icon`` and ``mark_pixmap`` are the sign of the app.
"""

from __future__ import annotations

import functools
import math
import re
import sys
from enum import StrEnum
from importlib import resources

from PySide6.QtCore import QByteArray, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QIconEngine, QImage, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from meshdesk.desktop.theme import Token, theme

TRAY_PIXELS = (16, 20, 22, 24, 32, 40, 44, 48, 60, 64, 66, 72, 96, 128)
"""What trays ask for, at one to three pixels a point."""
HALO = 1.0
"""Width of the contrasting edge of a tray icon, in units of its grid of 24."""
LEAST_ARC, MOST_ARC = 0.25, 0.8
"""How much of the way the arc of a start goes; the whole way is the relay's."""
ARC_STEPS = 24
_QUARTER_ARC = b"M4.5 18.25C4.5 13 6.2 8.6 9 6.4"
_STROKE = re.compile(rb'stroke-width="([0-9.]+)"')


class TrayState(StrEnum):
    """What the tray icon can say."""

    OFF = "off"
    STARTING = "starting"
    DIRECT = "direct"
    RELAY = "relay"
    PAUSED = "paused"
    ERROR = "error"


_INK = {
    TrayState.OFF: "#6E7A88",
    TrayState.STARTING: "#0B8F88",
    TrayState.DIRECT: "#0B8F88",
    TrayState.RELAY: "#5E70EA",
    TrayState.PAUSED: "#BF6F0E",
    TrayState.ERROR: "#D8453C",
}
"""Middle tones, which stand on light and on dark panels; the halo does the rest."""


def ui_icon(name: str, token: Token = Token.TEXT) -> QIcon:
    """The line icon ``name`` in a token's colour; it follows the theme by itself. KeyError for an unknown name."""
    return QIcon(_LineEngine(name, token, _svg(name)))


@functools.cache
def app_icon() -> QIcon:
    """The app's own icon, for windows and task bars."""
    icon = QIcon()
    for size in (16, 24, 32, 48, 64, 128, 256):
        icon.addPixmap(QPixmap.fromImage(_drawn(_svg("app"), size)))
    return icon


def mark_pixmap(size: int, ratio: float, state: TrayState = TrayState.RELAY, progress: float | None = None) -> QPixmap:
    """The mark in one of its states, in the theme's colours; ``size`` in logical pixels."""
    token = {
        TrayState.OFF: Token.MUTED,
        TrayState.RELAY: Token.RELAY,
        TrayState.PAUSED: Token.FALLBACK,
        TrayState.ERROR: Token.ERROR,
    }.get(state, Token.DIRECT)
    image = _drawn(_inked(tray_svg(state, progress), theme().color(token)), round(size * ratio))
    image.setDevicePixelRatio(ratio)
    return QPixmap.fromImage(image)


def tray_icon(state: TrayState, progress: float | None = None) -> QIcon:
    """The tray's icon for a state; while starting, its arc is as long as ``progress`` (0 to 1)."""
    icon = QIcon()
    for pixels in TRAY_PIXELS:
        icon.addPixmap(QPixmap.fromImage(tray_image(state, progress, pixels)))
    if sys.platform == "darwin":
        icon.setIsMask(True)
    return icon


def tray_image(state: TrayState, progress: float | None, pixels: int) -> QImage:
    """One picture of a tray icon, ``pixels`` wide and high."""
    svg = tray_svg(state, progress)
    if sys.platform == "darwin":
        return _drawn(_inked(svg, QColor("black")), pixels)
    if sys.platform == "win32":
        return _drawn(_inked(svg, QColor("white" if _dark_taskbar() else "#18212C")), pixels)
    # Nobody says how a Linux panel is coloured, so the shape brings a thin edge that stands on either.
    image = _drawn(_inked(_haloed(svg), QColor("white")), pixels)
    painter = QPainter(image)
    painter.drawImage(0, 0, _drawn(_inked(svg, QColor(_INK[state])), pixels))
    painter.end()
    return image


def tray_svg(state: TrayState, progress: float | None = None) -> bytes:
    """The shape of a state, its ink still ``currentColor``."""
    svg = _svg(f"tray-{state.value}")
    if state is TrayState.STARTING:
        assert _QUARTER_ARC in svg
        svg = svg.replace(_QUARTER_ARC, _arc(progress or 0.0).encode())
    return svg


def _arc(progress: float) -> str:
    """The arc from the left dot over the top, as far as ``progress`` has come."""
    part = LEAST_ARC + (MOST_ARC - LEAST_ARC) * min(1.0, max(0.0, progress))
    angles = (math.pi * (1 - part * step / ARC_STEPS) for step in range(ARC_STEPS + 1))
    points = (f"{12 + 7.5 * math.cos(angle):.2f} {18.25 - 13 * math.sin(angle):.2f}" for angle in angles)
    return "M" + "L".join(points)


class _LineEngine(QIconEngine):
    """Draws at paint time, so that a switch of theme or screen needs no new icon."""

    def __init__(self, name: str, token: Token, svg: bytes):
        super().__init__()
        self._name = name
        self._token = token
        self._svg = svg

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        token = Token.MUTED if mode is QIcon.Mode.Disabled else self._token
        renderer = QSvgRenderer(QByteArray(_inked(self._svg, theme().color(token))))
        renderer.setAspectRatioMode(Qt.AspectRatioMode.KeepAspectRatio)
        renderer.render(painter, QRectF(rect))

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        pixmap = QPixmap(size)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        self.paint(painter, QRect(0, 0, size.width(), size.height()), mode, state)
        painter.end()
        return pixmap

    def clone(self) -> QIconEngine:
        return _LineEngine(self._name, self._token, self._svg)


@functools.cache
def _svg(name: str) -> bytes:
    file = resources.files("meshdesk.resources").joinpath("icons", f"{name}.svg")
    try:
        return file.read_bytes()
    except FileNotFoundError:
        raise KeyError(f"there is no icon {name!r}") from None


def _inked(svg: bytes, ink: QColor) -> bytes:
    return svg.replace(b"currentColor", ink.name().encode())


def _haloed(svg: bytes) -> bytes:
    """The same shape, wider all around."""
    wide = _STROKE.sub(lambda found: b'stroke-width="%.2f"' % (float(found[1]) + 2 * HALO), svg)
    return wide.replace(b'stroke="none"', b'stroke-width="%.2f"' % (2 * HALO))


def _drawn(svg: bytes, pixels: int) -> QImage:
    image = QImage(pixels, pixels, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(0)
    painter = QPainter(image)
    QSvgRenderer(QByteArray(svg)).render(painter, QRectF(0, 0, pixels, pixels))
    painter.end()
    return image


def _dark_taskbar() -> bool:
    """Windows: the task bar has a theme of its own, which may differ from the apps'."""
    if sys.platform != "win32":
        return False
    import winreg

    path = r"Software\Microsoft\Windows\CurrentVersion\Themes\Personalize"
    try:
        with winreg.OpenKey(winreg.HKEY_CURRENT_USER, path) as key:
            return not winreg.QueryValueEx(key, "SystemUsesLightTheme")[0]
    except OSError:
        return True
