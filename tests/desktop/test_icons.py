"""The icons: every one there is, told apart by shape, legible on any panel, and in the colours of the theme."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from importlib import resources

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QIcon, QImage, QPainter
from PySide6.QtWidgets import QApplication

from meshdesk.desktop import icons
from meshdesk.desktop.icons import TrayState, app_icon, mark_pixmap, tray_icon, tray_image, ui_icon
from meshdesk.desktop.theme import Token, theme

NAMES = sorted(
    file.name.removesuffix(".svg")
    for file in resources.files("meshdesk.resources").joinpath("icons").iterdir()
    if file.name.endswith(".svg") and not file.name.startswith("tray-")
)
STATES = [*((state, None) for state in TrayState), (TrayState.STARTING, 0.5), (TrayState.STARTING, 1.0)]
PANELS = ["#202020", "#808080", "#f0f0f0"]


@pytest.fixture(autouse=True)
def look(qapp: QApplication) -> Iterator[None]:
    theme().install(qapp)
    theme().choose("light")
    yield
    theme().choose("system")


def inked(image: QImage) -> set[tuple[int, int]]:
    """The pixels of an image's shape, of whatever colour."""
    return {
        (x, y) for x in range(image.width()) for y in range(image.height()) if image.pixelColor(x, y).alpha() >= 128
    }


def colours(icon: QIcon, pixels: int = 48) -> set[str]:
    image = icon.pixmap(pixels, pixels).toImage()
    solid = (image.pixelColor(x, y) for x in range(pixels) for y in range(pixels))
    return {colour.name() for colour in solid if colour.alpha() == 255}


@pytest.mark.parametrize("name", NAMES)
def test_every_icon_draws_something_sharp(name: str) -> None:
    pixmap = ui_icon(name).pixmap(QSize(16, 16), 2.0)
    assert (pixmap.width(), pixmap.devicePixelRatio()) == (32, 2.0)
    assert len(inked(pixmap.toImage())) > 20


def test_an_unknown_icon_is_a_fault() -> None:
    with pytest.raises(KeyError, match="no icon 'unheard-of'"):
        ui_icon("unheard-of")


def test_an_icon_follows_the_theme_and_its_token() -> None:
    plain, wrong = ui_icon("stop"), ui_icon("stop", Token.ERROR)
    light = theme().color(Token.TEXT).name()
    assert colours(plain) == {light}
    theme().choose("dark")
    assert colours(plain) == {theme().color(Token.TEXT).name()} != {light}
    assert colours(wrong) == {theme().color(Token.ERROR).name()}


def test_a_disabled_icon_is_muted() -> None:
    disabled = ui_icon("stop").pixmap(QSize(48, 48), 1.0, QIcon.Mode.Disabled)
    assert colours(QIcon(disabled)) == {theme().color(Token.MUTED).name()}


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_the_tray_states_differ_in_shape_alone(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At 16 px, the smallest there is, and without any colour."""
    monkeypatch.setattr(icons.sys, "platform", platform)
    shapes = {each: inked(tray_image(*each, 16)) for each in STATES}
    assert all(len(shape) >= 30 for shape in shapes.values())
    for one, other in itertools.combinations(STATES, 2):
        different = len(shapes[one] ^ shapes[other])
        # Two lengths of the starting icon's arc may be close; two states must not be, of 30 to 70 pixels each.
        assert different >= (6 if one[0] is other[0] else 16), f"{one} and {other} differ in {different} pixels"


def test_the_arc_of_a_start_only_grows() -> None:
    shapes = [inked(tray_image(TrayState.STARTING, step / 6, 64)) for step in range(7)]
    for shorter, longer in itertools.pairwise(shapes):
        assert len(longer - shorter) > 30
        assert len(shorter - longer) < 20


@pytest.mark.parametrize("state", TrayState)
@pytest.mark.parametrize("panel", PANELS)
def test_a_tray_icon_stands_out_on_every_panel(state: TrayState, panel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(icons.sys, "platform", "linux")
    shown = QImage(16, 16, QImage.Format.Format_RGB32)
    shown.fill(QColor(panel))
    painter = QPainter(shown)
    painter.drawImage(0, 0, tray_image(state, None, 16))
    painter.end()
    contrasts = [contrast(shown.pixelColor(x, y), QColor(panel)) for x in range(16) for y in range(16)]
    # On a middle grey no colour reaches more; there it is the edge that shows.
    assert sum(each >= (2.5 if panel == "#808080" else 3) for each in contrasts) >= 16


def contrast(one: QColor, other: QColor) -> float:
    def light(colour: QColor) -> float:
        channels = (colour.redF(), colour.greenF(), colour.blueF())
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    brighter, darker = sorted((light(one), light(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def test_macos_colours_the_shape_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(icons.sys, "platform", "darwin")
    icon = tray_icon(TrayState.RELAY)
    assert icon.isMask()
    assert colours(icon) == {"#000000"}


@pytest.mark.parametrize(("dark", "ink"), [(True, "#ffffff"), (False, "#18212c")])
def test_windows_takes_its_ink_from_the_task_bar(dark: bool, ink: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(icons.sys, "platform", "win32")
    monkeypatch.setattr(icons, "_dark_taskbar", lambda: dark)
    icon = tray_icon(TrayState.ERROR)
    assert not icon.isMask()
    assert colours(icon) == {ink}


@pytest.mark.parametrize("pixels", [16, 22, 24, 44, 66, 96])
def test_a_tray_gets_the_size_it_asks_for(pixels: int) -> None:
    assert tray_icon(TrayState.OFF).pixmap(QSize(pixels, pixels), 1.0).size() == QSize(pixels, pixels)
    assert QSize(pixels, pixels) in tray_icon(TrayState.OFF).availableSizes()


def test_the_app_icon_is_the_mark_in_white_on_the_accent() -> None:
    assert {"#ffffff", "#0a736e"} <= colours(app_icon(), 64)
    corner = app_icon().pixmap(64, 64).toImage().pixelColor(2, 2)
    assert corner.alpha() < 128


def test_the_mark_is_as_sharp_as_the_screen() -> None:
    pixmap = mark_pixmap(32, 1.5, TrayState.ERROR)
    assert (pixmap.width(), pixmap.devicePixelRatio()) == (48, 1.5)
    assert colours(QIcon(pixmap)) == {theme().color(Token.ERROR).name()}
