"""The dashboard: what each moment says, what its buttons do, and that nobody works for a window nobody sees."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest
from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from meshdesk.desktop.background import Background
from meshdesk.desktop.dashboard.dashboard_window import LEAST, DashboardWindow
from meshdesk.desktop.dashboard.hop_table_model import WAY_COLUMN
from meshdesk.desktop.language import install_language
from meshdesk.volunteer.status import DirectFacts, Given, Phase, Status, WhyNotDirect
from tests.desktop.recorded_actions import RecordedActions
from tests.desktop.sample_status import (
    NOW,
    STATES,
    error,
    falling_back,
    hops_of,
    off,
    paused_by_person,
    paused_on_battery,
    reconnecting,
    serving_by_relay,
    serving_quietly,
    starting,
)


class Board:
    """A dashboard on a status that a test may change; ``tell`` is what the engine calls."""

    def __init__(self, qtbot: QtBot, status: Status, state: str = "quiet"):
        self.status = status
        self.listeners: list[Callable[[], None]] = []
        self.actions = RecordedActions()
        self.hops = hops_of(state)
        self.window = DashboardWindow(
            lambda: self.status, self.hops, self._listen, self.actions, Background(), clock=lambda: NOW
        )
        qtbot.addWidget(self.window)
        self.window.show()
        qtbot.waitExposed(self.window)

    def _listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)

    def tell(self) -> None:
        for listener in list(self.listeners):
            listener()


@pytest.mark.parametrize(
    ("moment", "headline", "primary", "does"),
    [
        (off, "Not in the mesh", "Join mesh", "join"),
        (serving_by_relay, "Serving layers 15–29 of SmolLM2-135M by relay", "Leave mesh", "leave"),
        (reconnecting, "Reconnecting to the mesh", "Leave mesh", "leave"),
        (paused_by_person, None, "Resume", "resume"),
        (paused_on_battery, None, "Leave mesh", "leave"),
        (error, "meshdesk needs your attention", "Try again", "join"),
    ],
)
def test_one_headline_and_one_next_step(
    qtbot: QtBot, moment: Callable[[], Status], headline: str | None, primary: str, does: str
) -> None:
    board = Board(qtbot, moment())
    header = board.window.header
    if headline is not None:
        assert header.headline.text() == headline
    assert header.primary.text().replace("&", "") == primary
    header.primary.click()
    assert board.actions.done == [does]


def test_while_it_starts_the_bar_says_how_far_and_has_the_way_out(qtbot: QtBot) -> None:
    board = Board(qtbot, starting())
    progress = board.window.hops_panel.progress
    assert progress.isVisible() and not board.window.header.primary.isVisible()
    assert progress.bar.value() == round(progress.bar.maximum() * 84 / 141)
    for part in ("layers 15–29", "84", "141", "6.2", "9 s"):
        assert part in progress.text.text()
    progress.cancel.click()
    assert board.actions.done == ["leave"]


def test_a_problem_says_what_to_do_and_has_the_one_button_for_it(qtbot: QtBot) -> None:
    board = Board(qtbot, error())
    banner = board.window.banner
    assert banner.isVisible()
    assert "Not enough memory" in banner.what.text() and "Close other programs" in banner.meaning.text()
    banner.button.click()
    assert board.actions.done == ["show settings"]


def test_an_outage_asks_nothing_of_the_person_and_goes_away(qtbot: QtBot) -> None:
    board = Board(qtbot, reconnecting())
    banner = board.window.banner
    assert banner.isVisible() and "relay" in banner.what.text() and not banner.button.isVisible()
    board.status = serving_by_relay()
    board.tell()
    qtbot.waitUntil(lambda: not banner.isVisible())


def test_a_rules_pause_leads_to_its_setting(qtbot: QtBot) -> None:
    board = Board(qtbot, paused_on_battery())
    board.window.banner.button.click()
    assert board.actions.done == ["show settings pause_on_battery"]


def test_a_fallen_relay_is_told_in_figures_and_card(qtbot: QtBot) -> None:
    board = Board(qtbot, falling_back(), "fallback")
    assert "direct (relay failed)" in board.window.route_strip.accessibleDescription()
    assert "lost" in texts_in(board.window.connection)


@pytest.mark.parametrize("why", [w for w in WhyNotDirect if w is not WhyNotDirect.REACHABLE])
def test_every_reason_not_to_be_reachable_is_explained(qtbot: QtBot, why: WhyNotDirect) -> None:
    reachable = None if why is WhyNotDirect.UNKNOWN else False
    board = Board(qtbot, dataclasses.replace(serving_by_relay(), direct=DirectFacts(reachable, why)))
    folded = all_texts(board)
    board.window.connection.why.click()
    assert len(all_texts(board)) > len(folded) + 80


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("state", sorted(STATES))
def test_no_letter_stands_for_two_things(qtbot: QtBot, back_to_english: None, state: str, language: str) -> None:
    install_language(language)
    board = Board(qtbot, STATES[state](), state)
    for table in (False, True):
        board.window.hops_panel.show_table(table)
        buttons = [b for b in board.window.findChildren(QPushButton) if b.isVisible() and b.isEnabled()]
        letters = [b.shortcut().toString() for b in buttons if not b.shortcut().isEmpty()]
        assert sorted(letters) == sorted(set(letters)), sorted(b.text() for b in buttons)


def test_the_way_is_never_cut_off_in_the_table(qtbot: QtBot) -> None:
    board = Board(qtbot, falling_back(), "fallback")
    board.window.resize(*LEAST)
    board.window.hops_panel.show_table(True)
    QApplication.processEvents()
    view = board.window.hops_panel.table.view
    needed = view.fontMetrics().horizontalAdvance("direct (relay failed)")
    assert view.columnWidth(WAY_COLUMN) > needed + 4


def test_without_hops_it_says_how_to_get_some(qtbot: QtBot) -> None:
    board = Board(qtbot, serving_quietly())
    tries = [b for b in board.window.hops_panel.findChildren(QPushButton) if b.text() == "Try a chat"]
    assert [b.isVisible() for b in tries] == [True]
    tries[0].click()
    assert board.actions.done == ["show chat"]


def test_figures_follow_within_a_refresh(qtbot: QtBot) -> None:
    board = Board(qtbot, serving_by_relay(), "relay")
    assert "1204" in all_texts(board)
    board.status = dataclasses.replace(board.status, today=Given(7, 1_305, 4_200_000, 4_100_000, 12_000))
    board.tell()
    qtbot.waitUntil(lambda: "1305" in all_texts(board))


@pytest.mark.parametrize("state", sorted(STATES))
def test_every_moment_fits_the_least_window(qtbot: QtBot, state: str) -> None:
    board = Board(qtbot, STATES[state](), state)
    board.window.resize(*LEAST)
    QApplication.processEvents()
    window = board.window
    for button in window.findChildren(QPushButton):
        if button.isVisible() and window.header.isAncestorOf(button):
            assert button.mapTo(window, button.rect().topRight()).x() <= window.width()
    assert window.width() == LEAST[0]


class Paints(QObject):
    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() is QEvent.Type.Paint
        return False


def test_hidden_it_neither_listens_nor_ticks_nor_paints(qtbot: QtBot) -> None:
    board = Board(qtbot, serving_by_relay(), "relay")
    assert board.window.running and board.listeners
    board.window.hide()
    QApplication.processEvents()
    paints = Paints()
    qapp = QApplication.instance()
    assert qapp is not None
    qapp.installEventFilter(paints)
    try:
        for tokens in range(2000, 2020):
            board.status = dataclasses.replace(board.status, today=Given(tokens=tokens))
            board.tell()
            QApplication.processEvents()
    finally:
        qapp.removeEventFilter(paints)
    assert paints.count == 0
    assert not board.listeners and not board.window.running
    assert not [timer for timer in board.window.findChildren(QTimer) if timer.isActive()]
    board.window.show()
    assert "2019" in all_texts(board)


def test_when_off_nothing_ticks(qtbot: QtBot) -> None:
    board = Board(qtbot, off())
    assert board.status.phase is Phase.OFF
    assert not [timer for timer in board.window.findChildren(QTimer) if timer.isActive()]


def all_texts(board: Board) -> str:
    return texts_in(board.window)


def texts_in(widget: QWidget) -> str:
    """Every label's words that a person sees."""
    return "\n".join(label.text() for label in widget.findChildren(QLabel) if label.isVisible())
