"""What every window does when it is closed, hidden, shown again; and that none is lost where there is no tray."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from meshdesk.desktop.actions import Window
from meshdesk.desktop.geometry_file import GeometryFile
from meshdesk.desktop.window import DeskWindow
from meshdesk.desktop.windows import Windows
from tests.desktop.recorded_actions import RecordedActions


class Watched(DeskWindow):
    """Counts what it is told."""

    def __init__(self) -> None:
        super().__init__("watched", "A window")
        self.told: list[str] = []

    def shown(self) -> None:
        self.told.append("shown")

    def hidden(self) -> None:
        self.told.append("hidden")


@pytest.fixture
def window(qtbot: QtBot) -> Watched:
    window = Watched()
    qtbot.addWidget(window)
    return window


@pytest.mark.parametrize("key", ["Esc", "Ctrl+W"])
def test_keys_close_it_and_it_can_be_shown_again(window: Watched, qtbot: QtBot, key: str) -> None:
    with qtbot.waitActive(window):
        window.show_and_raise()
    qtbot.keyClick(
        window,
        Qt.Key.Key_Escape if key == "Esc" else Qt.Key.Key_W,
        Qt.KeyboardModifier.NoModifier if key == "Esc" else Qt.KeyboardModifier.ControlModifier,
    )
    assert not window.isVisible()
    window.show_and_raise()
    assert window.isVisible()
    assert window.told == ["shown", "hidden", "shown"]


def test_minimised_is_as_good_as_hidden(window: Watched, qtbot: QtBot) -> None:
    window.show()
    window.showMinimized()
    qtbot.waitUntil(lambda: window.told == ["shown", "hidden"])  # Qt tells of it in a later turn.
    window.show_and_raise()
    qtbot.waitUntil(lambda: window.told == ["shown", "hidden", "shown"])


def test_without_a_tray_the_main_window_stays_listed(window: Watched) -> None:
    window.stays_reachable = True
    DeskWindow.may_hide = staticmethod(lambda: False)
    window.show()
    window.close()
    assert window.isVisible() and window.isMinimized()
    assert window in QApplication.topLevelWidgets()


def test_with_a_tray_it_hides_and_says_so(window: Watched) -> None:
    said: list[str] = []
    window.stays_reachable = True
    DeskWindow.closed_to_tray = staticmethod(lambda: said.append("still running"))
    window.show()
    window.close()
    assert not window.isVisible()
    assert said == ["still running"]


def test_ctrl_q_ends_the_app(window: Watched, qtbot: QtBot) -> None:
    actions = RecordedActions()
    window.set_actions(actions)
    with qtbot.waitActive(window):
        window.show_and_raise()
    qtbot.keyClick(window, Qt.Key.Key_Q, Qt.KeyboardModifier.ControlModifier)
    assert actions.done == ["quit"]


def test_it_opens_where_it_was(qtbot: QtBot, tmp_path: Path) -> None:
    for attempt in range(2):
        kept = GeometryFile(tmp_path / "windows.json")
        kept.load()
        DeskWindow.geometries = kept
        window = Watched()
        qtbot.addWidget(window)
        window.resize(300, 200)
        window.show_and_raise()
        if attempt == 0:
            window.setGeometry(60, 70, 410, 320)
        else:
            assert (window.width(), window.height()) == (410, 320)
        window.close()
        kept.save()


@pytest.mark.parametrize("place", [(5000, 4000, 410, 320), (-3000, 10, 410, 320), (0, 0, 9000, 7000)])
def test_it_opens_on_a_screen_that_is_there(qtbot: QtBot, tmp_path: Path, place: tuple[int, int, int, int]) -> None:
    DeskWindow.geometries = GeometryFile(tmp_path / "windows.json")
    before, after = Watched(), Watched()
    qtbot.addWidget(before)
    qtbot.addWidget(after)
    before.show()
    before.setGeometry(*place)
    before.close()
    after.show_and_raise()
    assert QApplication.primaryScreen().availableGeometry().contains(after.geometry())


@pytest.mark.parametrize("text", ["", "[]", '{"watched": 7}', '{"watched": "nonsense"}', "x" * 70_000])
def test_a_file_of_places_that_makes_no_sense_is_no_matter(qtbot: QtBot, tmp_path: Path, text: str) -> None:
    (tmp_path / "windows.json").write_text(text)
    kept = GeometryFile(tmp_path / "windows.json")
    kept.load()
    DeskWindow.geometries = kept
    window = Watched()
    qtbot.addWidget(window)
    window.show_and_raise()
    assert window.isVisible()


def test_windows_are_made_once_and_told_what_to_show(qtbot: QtBot) -> None:
    made: list[Watched] = []

    class Deep(Watched):
        def show_about(self, about: str) -> None:
            self.told.append(about)

    def make() -> DeskWindow:
        made.append(Deep())
        return made[-1]

    windows = Windows({Window.SETTINGS: make})
    windows.show(Window.SETTINGS, "layers")
    windows.show(Window.SETTINGS)
    assert len(made) == 1 and made[0].told == ["shown", "layers"]
    assert windows.visible() == [Window.SETTINGS]
    windows.forget(Window.SETTINGS)
    assert windows.visible() == []
    windows.show(Window.SETTINGS)
    assert len(made) == 2
    windows.close()
