"""The look's colours: legible by the numbers, and exchanged while windows are open."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPlainTextEdit
from pytestqt.qtbot import QtBot

from meshdesk.desktop import theme as theme_module
from meshdesk.desktop.theme import DARK, LIGHT, Theme, Token, text_font

LEAST_CONTRAST = 4.5


def luminance(color: QColor) -> float:
    def linear(channel: float) -> float:
        return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(each) for each in (color.redF(), color.greenF(), color.blueF()))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: QColor, other: QColor) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


INKS = [Token.TEXT, Token.MUTED, Token.DIRECT, Token.RELAY, Token.FALLBACK, Token.ERROR]


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("ink", INKS)
def test_every_ink_is_legible_on_both_grounds(colours: dict[Token, str], ink: Token) -> None:
    for ground in (Token.BG, Token.SURFACE):
        assert contrast(QColor(colours[ink]), QColor(colours[ground])) >= LEAST_CONTRAST


@pytest.fixture
def theme(qapp: QApplication) -> Theme:
    theme = Theme()
    theme.install(qapp)
    return theme


@pytest.mark.parametrize("choice", ["light", "dark"])
def test_what_is_written_on_the_accent_is_legible(theme: Theme, choice: str) -> None:
    theme.choose(choice)  # type: ignore[arg-type]
    assert contrast(theme.ink_on(Token.DIRECT), theme.color(Token.DIRECT)) >= LEAST_CONTRAST


def test_a_switch_reaches_what_is_open(theme: Theme, qtbot: QtBot) -> None:
    theme.choose("light")
    label = QLabel("x")
    qtbot.addWidget(label)
    label.show()
    assert label.palette().windowText().color() == theme.color(Token.TEXT)
    light = label.grab().toImage()
    with qtbot.waitSignal(theme.changed):
        theme.choose("dark")
    assert theme.dark
    assert label.palette().windowText().color() == QColor(DARK[Token.TEXT])
    assert label.grab().toImage() != light
    theme.choose("dark")
    with qtbot.assertNotEmitted(theme.changed):
        theme.choose("dark")


class SystemHints(QObject):
    """What QStyleHints is to the theme; a system that is light until a test says otherwise."""

    colorSchemeChanged = Signal(Qt.ColorScheme)

    def __init__(self) -> None:
        super().__init__()
        self.scheme = Qt.ColorScheme.Light

    def colorScheme(self) -> Qt.ColorScheme:
        return self.scheme

    def turn(self, scheme: Qt.ColorScheme) -> None:
        self.scheme = scheme
        self.colorSchemeChanged.emit(scheme)


def test_the_system_is_followed_until_the_person_chooses(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    hints = SystemHints()
    monkeypatch.setattr(theme_module.QGuiApplication, "styleHints", lambda: hints)
    theme = Theme()
    theme.install(qapp)
    told: list[bool] = []
    theme.changed.connect(lambda: told.append(theme.dark))
    hints.turn(Qt.ColorScheme.Dark)
    assert told == [True]
    theme.choose("light")
    hints.turn(Qt.ColorScheme.Light)
    hints.turn(Qt.ColorScheme.Dark)
    assert told == [True, False]
    theme.choose("system")
    assert told == [True, False, True]


@pytest.mark.parametrize("field", [QLineEdit, QPlainTextEdit])
def test_what_stands_in_an_empty_field_is_legible(
    theme: Theme, qtbot: QtBot, field: type[QLineEdit] | type[QPlainTextEdit]
) -> None:
    empty = field()
    qtbot.addWidget(empty)
    empty.ensurePolished()
    ink = empty.palette().placeholderText().color()
    assert (ink.name(), ink.alpha()) == (theme.color(Token.MUTED).name(), 255)


def test_where_the_system_does_not_say_it_is_light(theme: Theme) -> None:
    theme.choose("dark")
    theme.choose("system")
    assert not theme.dark


def test_figures_are_as_wide_as_each_other(qapp: QApplication) -> None:
    from PySide6.QtGui import QFontMetricsF

    metrics = QFontMetricsF(text_font())
    assert len({round(metrics.horizontalAdvance(figure), 3) for figure in "0123456789"}) == 1
