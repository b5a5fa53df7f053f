"""The tray icon in a real tray on a real X screen, used with the mouse."""

from __future__ import annotations

from collections import Counter

from PySide6.QtGui import QImage

from meshdesk.desktop.icons import TrayState, tray_image
from tests.desktop.virtual_screen import Box, Program, VirtualScreen, middle, needs_screen, virtual_screen, wait_for


def icon_box(program: Program) -> Box:
    x, y, width, height = (int(part) for part in program.line("icon ").split())
    return x, y, width, height


def open_menu(screen: VirtualScreen, program: Program, icon: Box) -> dict[str, tuple[int, int]]:
    """Right-click the icon; where each line of its menu is, by its text."""
    seen = len(program.lines)
    screen.click(*middle(icon), button=3)
    program.line("menu is open")
    entries = (line.removeprefix("entry ").split(" ", 2) for line in program.lines[seen:] if line.startswith("entry "))
    return {text: (int(x), int(y)) for x, y, text in entries}


def solid_colours(image: QImage) -> Counter[str]:
    pixels = (image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height()))
    return Counter(pixel.name() for pixel in pixels if pixel.alpha() == 255)


def shows(screen: VirtualScreen, icon: Box, state: TrayState) -> bool:
    """Whether the screen has at least half of the ink there that the icon of ``state`` has."""
    ((ink, amount),) = solid_colours(tray_image(state, None, icon[2])).most_common(1)
    return solid_colours(screen.screenshot(icon))[ink] * 2 >= amount


@needs_screen
def test_a_late_tray_gets_the_icon_and_its_menu_joins_the_mesh() -> None:
    with virtual_screen() as screen:
        program = screen.start_module("tests.desktop.tray_program")
        assert program.line("ready") == ", without a tray"
        screen.start_tray()
        icon = icon_box(program)
        wait_for(lambda: shows(screen, icon, TrayState.OFF), "the icon of a computer that is off")
        entries = open_menu(screen, program, icon)
        screen.click(*entries["Join mesh"])
        program.line("did join")
        # Off the icon, so that no tooltip lies over it.
        screen.move(10, 10)
        wait_for(lambda: shows(screen, icon, TrayState.RELAY), "the icon of a computer reached by relay")
        assert not shows(screen, icon, TrayState.OFF)
        assert {"Leave mesh", "Quit"} <= open_menu(screen, program, icon).keys()
