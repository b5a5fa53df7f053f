"""The log window under its user's hands: follows, stays, finds, copies, and rests when nobody looks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from meshdesk.desktop.background import Background
from meshdesk.desktop.logs.log_window import LogWindow
from meshdesk.volunteer.log_records import LogRing, origin_of
from meshdesk.volunteer.log_redaction import forget_secrets, keep_secret
from tests.desktop.conftest import RunInApp
from tests.desktop.recorded_actions import RecordedActions

CAPACITY = 2_000


class Desk:
    """A log window over a ring that the test fills."""

    def __init__(self, directory: Path) -> None:
        self.ring = LogRing(CAPACITY)
        self.actions = RecordedActions()
        self.background = Background()
        self.window = LogWindow(self.ring, directory, self.actions, self.background)

    def say(self, count: int = 1, message: str = "line", level: int = logging.INFO, logger: str = "meshdesk") -> None:
        for _ in range(count):
            number = self.ring.last + 1
            self.ring.append(float(number), level, origin_of(logger), logger, f"{message} {number}")

    def tick(self) -> None:
        self.window.feed.drain()
        QApplication.sendPostedEvents()

    @property
    def messages(self) -> list[str]:
        return [line.message for line in self.window.model.shown_lines()]

    @property
    def jump(self) -> str:
        """What the floating button says; "" while it is not there."""
        button = self.window.view._jump
        return button.text() if button.isVisible() else ""

    @property
    def at_end(self) -> bool:
        bar = self.window.view.verticalScrollBar()
        return bar.value() == bar.maximum()

    def top_message(self) -> str:
        # The table lays itself out when it gets round to it.
        QApplication.sendPostedEvents()
        return self.window.model.line_at(self.window.view.rowAt(0)).message


@pytest.fixture
def desk(qtbot: QtBot, tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    qtbot.addWidget(desk.window)
    desk.say(200)
    desk.window.resize(900, 500)
    desk.window.show()
    yield desk
    forget_secrets()


def test_what_was_logged_before_is_shown_and_what_comes_is_followed(desk: Desk) -> None:
    assert desk.messages == [f"line {number}" for number in range(1, 201)]
    assert desk.at_end and desk.jump == ""
    desk.say(50)
    assert len(desk.messages) == 200, "nothing moves between two ticks"
    desk.tick()
    assert desk.messages[-1] == "line 250" and desk.at_end
    assert desk.window.status.text() == "250 records, 250 shown, 0 dropped"


def test_scrolling_up_stays_there_and_offers_the_way_back(desk: Desk, qtbot: QtBot) -> None:
    view = desk.window.view
    qtbot.keyClick(view, Qt.Key.Key_PageUp)
    assert not view.following and not desk.window.toolbar.follow.isChecked()
    view.verticalScrollBar().setValue(10)
    top = desk.top_message()
    desk.say(37)
    desk.tick()
    assert desk.top_message() == top
    assert desk.jump == "Jump to newest (37)"
    qtbot.mouseClick(view._jump, Qt.MouseButton.LeftButton)
    assert view.following and desk.at_end and desk.jump == "" and desk.window.toolbar.follow.isChecked()


def test_scrolling_to_the_end_follows_again(desk: Desk, qtbot: QtBot) -> None:
    view = desk.window.view
    bar = view.verticalScrollBar()
    bar.triggerAction(bar.SliderAction.SliderToMinimum)
    qtbot.waitUntil(lambda: not view.following)  # It is looked at once the bar has moved.
    bar.triggerAction(bar.SliderAction.SliderToMaximum)
    qtbot.waitUntil(lambda: view.following)


def test_holding_still_takes_nothing_until_it_ends(desk: Desk) -> None:
    desk.window.toolbar.pause.setChecked(True)
    desk.say(12)
    desk.tick()
    assert len(desk.messages) == 200 and desk.jump == "Jump to newest (12)"
    assert desk.window.status.text().endswith("Held still, 12 waiting.")
    desk.window.jump_to_newest()
    assert desk.messages[-1] == "line 212" and not desk.window.toolbar.pause.isChecked()


def test_lines_that_came_too_fast_are_told_of_in_a_row(desk: Desk) -> None:
    desk.window.toolbar.pause.setChecked(True)
    desk.say(CAPACITY + 134)
    desk.window.toolbar.pause.setChecked(False)
    while desk.window.feed.waiting:
        desk.tick()
    gaps = [line.message for line in desk.window.model.lines if line.is_gap]
    assert gaps == ["334 lines dropped"], "those that were here before had to go too"
    assert desk.window.model.total == CAPACITY + 1
    assert desk.messages[-1] == f"line {desk.ring.last}"


def test_what_the_person_looks_at_does_not_move_when_old_lines_go(desk: Desk) -> None:
    desk.say(CAPACITY - 250)
    while desk.window.feed.waiting:
        desk.tick()
    desk.window.view.go_to(1_000)
    top, chosen = desk.top_message(), desk.window.view.chosen_line()
    desk.say(300)
    desk.tick()
    assert desk.window.model.line_at(0).is_gap and desk.window.model.total == CAPACITY + 1
    assert desk.top_message() == top and desk.window.view.chosen_line() == chosen
    assert desk.jump == "Jump to newest (300)"


def test_a_flood_is_caught_up_with(desk: Desk) -> None:
    for _ in range(30):
        desk.say(600)
        desk.tick()
    ticks = 0
    while desk.window.feed.waiting:
        desk.tick()
        ticks += 1
    assert ticks <= 6
    assert desk.messages[-1] == f"line {desk.ring.last}"


def test_a_hidden_window_rests_and_knows_everything_when_it_comes_back(desk: Desk) -> None:
    desk.window.close()
    timers = [timer for timer in desk.window.findChildren(QTimer) if timer.isActive()]
    assert timers == [] and desk.window.model.total == 0
    desk.say(5)
    desk.tick()
    assert desk.window.model.total == 0
    desk.window.show()
    assert desk.window.feed.running and desk.messages[-1] == "line 205"


def test_level_and_source_choose_the_lines(desk: Desk) -> None:
    desk.say(2, "bad", logging.ERROR, "meshdesk.node.head")
    desk.say(3, "warned", logging.WARNING, "qt.qpa")
    desk.tick()
    bar = desk.window.toolbar
    bar.level.setCurrentIndex(2)
    assert desk.messages == ["bad 201", "bad 202", "warned 203", "warned 204", "warned 205"]
    assert desk.window.status.text() == "205 records, 5 shown, 0 dropped"
    bar.source.setCurrentIndex(bar.source.findData("engine"))
    assert desk.messages == ["bad 201", "bad 202"]
    desk.say(1, "more", logging.ERROR, "meshdesk.node.head")
    desk.say(1, "more", logging.ERROR, "qt.qpa")
    desk.tick()
    assert desk.messages == ["bad 201", "bad 202", "more 206"]
    bar.source.setCurrentIndex(bar.source.findData("logger: qt.qpa"))
    assert desk.messages[-1] == "more 207"
    bar.source.setCurrentIndex(bar.source.findData("child"))
    assert desk.messages == [] and desk.window.view._empty.text() == "No line passes the filter."


def test_f3_goes_from_match_to_match_and_round(desk: Desk, qtbot: QtBot) -> None:
    window = desk.window
    window.activateWindow()
    qtbot.keyClick(window, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClicks(window.toolbar.search.edit, "LINE 19")
    qtbot.keyClick(window.toolbar.search.edit, Qt.Key.Key_Return)
    assert window.view.chosen_line() == window.model.line_at(18), "from the newest, the next is the first again"
    count = window.toolbar.search.count
    assert count.text() == "1 of 11"
    seen = []
    for _ in range(11):
        qtbot.keyClick(window, Qt.Key.Key_F3)
        chosen = window.view.chosen_line()
        assert chosen is not None
        seen.append(chosen.number)
    assert seen == [*range(190, 200), 19]
    qtbot.keyClick(window, Qt.Key.Key_F3, Qt.KeyboardModifier.ShiftModifier)
    assert count.text() == "11 of 11" and not window.view.following
    desk.say(1, "line 19 once more")
    desk.tick()
    assert count.text() == "11 of 12"


def test_esc_leaves_the_search_before_it_closes_the_window(desk: Desk, qtbot: QtBot) -> None:
    search = desk.window.toolbar.search
    desk.window.search_for("line")
    search.edit.setFocus()
    qtbot.keyClick(search.edit, Qt.Key.Key_Escape)
    assert search.edit.text() == "" and desk.window.isVisible() and search.count.text() == ""
    qtbot.keyClick(desk.window, Qt.Key.Key_Escape)
    assert not desk.window.isVisible()


def test_only_matches_are_shown_if_asked(desk: Desk) -> None:
    search = desk.window.toolbar.search
    desk.window.search_for(r"line 1\d$")
    search.regex.setChecked(True)
    search.only.setChecked(True)
    assert desk.messages == [f"line {number}" for number in range(10, 20)]
    desk.window.search_for("(")
    assert "Not a valid expression" in desk.window.status.text() and search.edit.property("invalid") is True
    assert len(desk.messages) == 200, "a half-typed expression does not empty the view"
    search.regex.setChecked(False)
    assert desk.messages == [] and search.edit.property("invalid") is False


def test_the_selection_and_all_that_is_shown_can_be_copied(desk: Desk, qtbot: QtBot) -> None:
    clipboard = QGuiApplication.clipboard()
    desk.window.view.go_to(4)
    qtbot.keyClick(desk.window.view, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClick(desk.window.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert [text.rpartition(": ")[2] for text in clipboard.text().splitlines()] == ["line 5", "line 6"]
    desk.window.toolbar.search.only.setChecked(True)
    desk.window.search_for("line 20")
    qtbot.keyClick(desk.window.view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    desk.window.copy_selected()
    selected = clipboard.text()
    desk.window.copy_shown()
    assert clipboard.text() == selected and selected.count("\n") == 1


def test_a_line_is_shown_whole_below_its_traceback_folded(desk: Desk) -> None:
    desk.ring.append(1.0, logging.ERROR, "fault", "meshdesk.fault", "failed\nbadly", "Traceback (most…)\n  in fail")
    desk.tick()
    details = desk.window.details
    desk.window.view.go_to(200)
    assert details.text.toPlainText() == "failed\nbadly" and details.fold.isVisible()
    details.fold.setChecked(True)
    assert details.text.toPlainText() == "failed\nbadly\n\nTraceback (most…)\n  in fail"
    desk.window.view.go_to(199)
    assert details.text.toPlainText() == "line 200" and not details.fold.isVisible()
    assert "meshdesk" in details.head.text()


def test_clearing_the_view_keeps_the_log(desk: Desk) -> None:
    desk.window.toolbar.clear.trigger()
    assert desk.messages == [] and len(desk.ring) == 200
    desk.say(1)
    desk.tick()
    desk.window.close()
    desk.window.show()
    assert desk.messages == ["line 201"], "what was cleared stays away"


def test_long_lines_wrap_while_following(desk: Desk) -> None:
    desk.say(30, "word " * 100)
    desk.tick()
    view = desk.window.view
    plain = view.delegate.row_height
    desk.window.toolbar.wrap.setChecked(True)
    assert view.rowHeight(229) > 3 * plain and desk.at_end
    desk.window.toolbar.wrap.setChecked(False)
    assert {view.rowHeight(row) for row in range(view.model().rowCount())} == {plain}


# The plugin that draws nowhere has no window manager to tell the dialog's size to.
@pytest.mark.qt_log_ignore("propagateSizeHints")
def test_saving_writes_what_is_shown_without_secrets(tmp_path: Path, run_in_app: RunInApp[Any]) -> None:
    async def body() -> None:
        desk = Desk(tmp_path)
        desk.say(3)
        desk.say(1, "of q7Zt-vW3x_Kp9")
        desk.window.show()
        keep_secret("q7Zt-vW3x_Kp9")
        dialog = desk.window.ask_where_to_save()
        assert dialog.isVisible()
        for path in (tmp_path / "saved.txt", tmp_path / "nowhere" / "saved.txt"):
            dialog.fileSelected.emit(str(path))
            while tasks := desk.background._tasks:
                await asyncio.wait(tasks)
                await asyncio.sleep(0)
        dialog.close()
        assert "could not be saved: No such file" in desk.window.status.text()
        await desk.background.close()
        desk.window.close_for_good()

    run_in_app(body)
    forget_secrets()
    texts = (tmp_path / "saved.txt").read_text().splitlines()
    assert [text.rpartition(": ")[2] for text in texts] == ["line 1", "line 2", "line 3", "of [removed] 4"]


def test_diagnostics_are_one_step_away(desk: Desk) -> None:
    desk.window.toolbar.diagnostics.trigger()
    assert desk.actions.done == ["show diagnostics"]


def test_everything_that_takes_the_focus_has_a_name(desk: Desk) -> None:
    nameless = [
        widget
        for widget in desk.window.findChildren(QWidget)
        if widget.focusPolicy() != Qt.FocusPolicy.NoFocus
        and not (widget.accessibleName() or widget.property("text"))
        and not widget.objectName().startswith("qt_")
    ]
    assert nameless == [], [(widget, widget.parent(), widget.objectName()) for widget in nameless]
    index = desk.window.model.index(0, 1)
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == "Info"
