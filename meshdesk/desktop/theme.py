"""The look's tokens, light and dark, and the one theme of the app that follows the system or the person's choice."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QStyleFactory

from meshdesk import resources
from meshdesk.desktop.style_sheet import style_sheet

HEADLINE_PX, TEXT_PX, CAPTION_PX = 20, 13, 11
GRID, PADDING, RADIUS = 8, 12, 8

Choice = Literal["system", "light", "dark"]
_MARKS = Path(resources.__path__[0]) / "icons"


class Token(StrEnum):
    """What a colour is for. ``DIRECT`` is the accent too; ``RELAY`` is a normal state, not a warning."""

    BG = "bg"
    SURFACE = "surface"
    LINE = "line"
    TEXT = "text"
    MUTED = "muted"
    DIRECT = "direct"
    RELAY = "relay"
    FALLBACK = "fallback"
    ERROR = "error"


LIGHT = {
    Token.BG: "#F5F7FA",
    Token.SURFACE: "#FFFFFF",
    Token.LINE: "#D5DBE3",
    Token.TEXT: "#18212C",
    Token.MUTED: "#55616F",
    Token.DIRECT: "#0A736E",
    Token.RELAY: "#4353C9",
    Token.FALLBACK: "#A85400",
    Token.ERROR: "#B8322A",
}
DARK = {
    Token.BG: "#11151B",
    Token.SURFACE: "#1A2029",
    Token.LINE: "#323C4A",
    Token.TEXT: "#E8ECF2",
    Token.MUTED: "#9CA9B8",
    Token.DIRECT: "#43C9BF",
    Token.RELAY: "#9FAAFF",
    Token.FALLBACK: "#F3A73F",
    Token.ERROR: "#FF8178",
}


class Theme(QObject):
    """The colours as they are now. ``changed`` comes after palette and style sheet are in place."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._choice: Choice = "system"
        self._app: QApplication | None = None
        self._dark = False

    @property
    def dark(self) -> bool:
        return self._dark

    def color(self, token: Token) -> QColor:
        return QColor((DARK if self._dark else LIGHT)[token])

    def ink_on(self, token: Token) -> QColor:
        """What is written on a filled area of ``token``'s colour."""
        return QColor("#11151B" if self._dark else "#FFFFFF")

    def choose(self, choice: Choice) -> None:
        """Light, dark, or as the system has it; takes effect at once."""
        self._choice = choice
        self._follow()

    def install(self, app: QApplication) -> None:
        """Give ``app`` this look, and follow the system's from now on."""
        self._app = app
        app.setStyle(QStyleFactory.create("Fusion"))
        app.setFont(text_font())
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._follow)
        self._dark = self._wanted_dark()
        self._apply()

    def _wanted_dark(self) -> bool:
        if self._choice != "system":
            return self._choice == "dark"
        # Offscreen and some desktops do not say; light is what documents look like.
        return QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark

    def _follow(self) -> None:
        dark = self._wanted_dark()
        if dark == self._dark:
            return
        self._dark = dark
        self._apply()

    def _apply(self) -> None:
        if self._app is None:
            return
        self._app.setPalette(self._palette())
        tokens = {token.value: self.color(token).name() for token in Token}
        self._app.setStyleSheet(style_sheet(tokens, self.ink_on(Token.DIRECT).name(), self._mixed, self._mark))
        self.changed.emit()

    def _mark(self, name: str) -> str:
        """The file of a control's sign; a style sheet takes files only, so there is one for each theme."""
        return (_MARKS / f"mark-{name}-{'dark' if self._dark else 'light'}.svg").as_posix()

    def _mixed(self, token: str, part: float) -> str:
        """``part`` of a token's colour over the surface, for areas that are only tinted."""
        over, under = self.color(Token(token)), self.color(Token.SURFACE)
        return QColor(
            *(round(part * a + (1 - part) * b) for a, b in zip(_channels(over), _channels(under), strict=True))
        ).name()

    def _palette(self) -> QPalette:
        palette = QPalette()
        role = QPalette.ColorRole
        for target, token in (
            (role.Window, Token.BG),
            (role.WindowText, Token.TEXT),
            (role.Base, Token.SURFACE),
            (role.AlternateBase, Token.BG),
            (role.Text, Token.TEXT),
            (role.Button, Token.SURFACE),
            (role.ButtonText, Token.TEXT),
            (role.ToolTipBase, Token.SURFACE),
            (role.ToolTipText, Token.TEXT),
            (role.PlaceholderText, Token.MUTED),
            (role.Highlight, Token.DIRECT),
            (role.Link, Token.DIRECT),
            (role.LinkVisited, Token.DIRECT),
            (role.Accent, Token.DIRECT),
            (role.Mid, Token.LINE),
            (role.Midlight, Token.LINE),
            (role.Light, Token.SURFACE),
            (role.Dark, Token.LINE),
            (role.BrightText, Token.ERROR),
        ):
            palette.setColor(target, self.color(token))
        palette.setColor(role.HighlightedText, self.ink_on(Token.DIRECT))
        for target in (role.WindowText, role.Text, role.ButtonText):
            palette.setColor(QPalette.ColorGroup.Disabled, target, self.color(Token.MUTED))
        return palette


_theme: Theme | None = None


def theme() -> Theme:
    """The app's one theme, made at its first use."""
    global _theme
    if _theme is None:
        _theme = Theme()
    return _theme


def text_font(px: int = TEXT_PX, *, bold: bool = False, mono: bool = False) -> QFont:
    """The system's font in one of the look's sizes, with figures of equal width, so that numbers do not jump."""
    kind = QFontDatabase.SystemFont.FixedFont if mono else QFontDatabase.SystemFont.GeneralFont
    font = QFontDatabase.systemFont(kind)
    font.setPixelSize(px)
    if bold:
        font.setWeight(QFont.Weight.DemiBold)
    if not mono and sys.platform != "darwin":
        # macOS' system font has them by itself, and there the feature would pick another font.
        font.setFeature(QFont.Tag("tnum"), 1)
    return font


def _channels(color: QColor) -> tuple[int, int, int]:
    return color.red(), color.green(), color.blue()
