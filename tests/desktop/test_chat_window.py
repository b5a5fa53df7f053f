"""The chat window against a tracker on loopback: it streams, stops, fails with a way out, and trusts no text."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAccessible, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QPushButton, QVBoxLayout, QWidget

from meshdesk.desktop.background import Background
from meshdesk.desktop.chat.answer_figures import AnswerFigures, figures_text, tokens_text
from meshdesk.desktop.chat.chat_failures import MAX_CHARS, failure_of
from meshdesk.desktop.chat.chat_window import ChatWindow
from meshdesk.desktop.chat.conversation import MAX_TURNS, Conversation
from meshdesk.desktop.chat.plain_text_view import BORDER, PlainTextView
from meshdesk.desktop.chat.turn_view import TurnView
from meshdesk.volunteer.chat_client import ChatRefused, Piece
from meshdesk.volunteer.status import Phase, Status
from tests.desktop.conftest import RunInApp
from tests.desktop.recorded_actions import RecordedActions
from tests.volunteer.stand_in_tracker import Say, Script, StandInTracker, chunk, hop, say_hello

DEADLINE_S = 10.0


class Chat:
    """A shown chat window, and what it talks to."""

    def __init__(self, tracker: StandInTracker):
        self.tracker = tracker
        self.tracker_url: str | None = tracker.url
        self.status = Status(phase=Phase.SERVING)
        self.actions = RecordedActions()
        self.background = Background()
        self.listeners: list[Callable[[], None]] = []
        self.window = ChatWindow(
            lambda: self.tracker_url, self.background, self.actions, lambda: self.status, self._listen
        )

    def _listen(self, changed: Callable[[], None]) -> Callable[[], None]:
        self.listeners.append(changed)
        return lambda: self.listeners.remove(changed)

    @property
    def last(self) -> TurnView:
        return self.window.transcript.turns[-1]

    def type(self, text: str) -> None:
        QTest.keyClicks(self.window.composer.field, text)
        QTest.keyClick(self.window.composer.field, Qt.Key.Key_Return)

    async def until(self, met: Callable[[], Any]) -> None:
        """The window has no signal for everything it shows, so it is looked at with every turn of the loop."""
        async with asyncio.timeout(DEADLINE_S):
            while not met():  # noqa: ASYNC110
                await asyncio.sleep(0.005)

    async def ask(self, text: str) -> TurnView:
        """Ask, and wait until the answer has ended."""
        self.type(text)
        await self.until(lambda: not self.window.asking.running)
        return self.last


@contextlib.asynccontextmanager
async def open_chat(script: Script = say_hello, **options: Any) -> AsyncIterator[Chat]:
    async with StandInTracker(script, **options) as tracker:
        chat = Chat(tracker)
        chat.window.show()
        try:
            # Keys and the focus are an active window's.
            await chat.until(lambda: QApplication.activeWindow() is chat.window)
            yield chat
        finally:
            await chat.background.close()
            if chat.listeners:
                chat.window.close_for_good()


def _run(run_in_app: RunInApp[Any], body: Callable[[Chat], Awaitable[None]], script: Script = say_hello) -> None:
    async def main() -> None:
        async with open_chat(script) as chat:
            await body(chat)

    run_in_app(main)


async def _say_some_then_wait(tracker: StandInTracker, say: Say) -> None:
    for token in range(3):
        await say(chunk("word ", token))
    await tracker.go_on.wait()
    await say(chunk("end.", 3, finish="stop"))


def test_an_answer_streams_and_shows_what_it_cost(run_in_app: RunInApp[Any]) -> None:
    async def body(chat: Chat) -> None:
        chat.type("Hello?")
        await chat.until(lambda: chat.last.answer.toPlainText() == "word word word ")
        assert chat.window.composer.button.text() == "Stop"
        assert chat.last.cost.text() == f"Answering · {tokens_text(3)}"
        chat.tracker.go_on.set()
        await chat.until(lambda: not chat.window.asking.running)
        assert chat.last.answer.toPlainText() == "word word word end."
        rate, tokens, slowest = chat.last.cost.text().split(" · ")
        assert rate.endswith(" tokens/s")
        assert (tokens, slowest) == (tokens_text(4), "slowest hop: layers 15–29 by relay, 21.0 ms")
        assert chat.window.composer.button.text() == "Send"
        chat.last.copy.click()
        assert QGuiApplication.clipboard().text() == "word word word end."

    _run(run_in_app, body, _say_some_then_wait)


def test_the_next_question_knows_what_was_said(run_in_app: RunInApp[Any]) -> None:
    async def body(chat: Chat) -> None:
        await chat.ask("My name is Ruth.")
        await chat.ask("What is it?")
        said = [(each["role"], each["content"]) for each in chat.tracker.questions[1]["messages"]]
        assert said == [
            ("user", "My name is Ruth."),
            ("assistant", "Hello from the mesh."),
            ("user", "What is it?"),
        ]
        QTest.keyClick(chat.window, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
        assert chat.window.transcript.turns == []
        assert chat.window.empty.isVisible()
        await chat.ask("And now?")
        assert len(chat.tracker.questions[2]["messages"]) == 1

    _run(run_in_app, body)


@pytest.mark.parametrize("by_key", [True, False])
def test_stop_hangs_up_and_keeps_what_came(run_in_app: RunInApp[Any], by_key: bool) -> None:
    async def body(chat: Chat) -> None:
        chat.type("Tell me a story")
        await chat.until(lambda: chat.last.answer.toPlainText())
        if by_key:
            QTest.keyClick(chat.window.composer.field, Qt.Key.Key_Escape)
        else:
            chat.window.composer.button.click()
        assert not chat.window.asking.running
        await asyncio.wait_for(chat.tracker.hung_up.wait(), DEADLINE_S)
        assert chat.window.isVisible(), "Esc stopped the answer, it did not close the window"
        assert chat.last.answer.toPlainText() == "word word word "
        assert chat.last.cost.text().startswith("stopped · ")
        chat.tracker.script = say_hello
        await chat.ask("Go on")
        assert chat.tracker.questions[1]["messages"][1]["content"] == "word word word "
        QTest.keyClick(chat.window.composer.field, Qt.Key.Key_Escape)
        assert not chat.window.isVisible(), "with nothing to stop, Esc closes"

    _run(run_in_app, body, _say_some_then_wait)


def test_a_failure_in_mid_answer_is_said_and_tried_again(run_in_app: RunInApp[Any]) -> None:
    async def break_off(_: StandInTracker, say: Say) -> None:
        await say(chunk("Half", 0))
        await say({"error": {"message": "Node \u202eanna\x07 is gone.", "code": "head_failed"}})

    async def body(chat: Chat) -> None:
        failed = await chat.ask("Hello?")
        assert failed.answer.toPlainText() == "Half"
        assert failed.failure_words == "Node anna is gone."
        assert failed.cost.text() == f"broken off · {tokens_text(1)}"
        chat.tracker.script = say_hello
        failed.way_out.click()
        await chat.until(lambda: not chat.window.asking.running)
        assert chat.last is failed
        assert failed.answer.toPlainText() == "Hello from the mesh."
        assert not failed.banner.isVisible()
        assert [each["content"] for each in chat.tracker.questions[1]["messages"]] == ["Hello?"]

    _run(run_in_app, body, break_off)


def test_missing_layers_are_named(run_in_app: RunInApp[Any]) -> None:
    async def body(chat: Chat) -> None:
        error = {"message": "No node holds layers.", "code": "no_route", "missing_layers": [[15, 30]]}
        chat.tracker.refusal = (503, error)
        failed = await chat.ask("Hello?")
        assert failed.failure_words.startswith("The mesh has no node for layers 15–29 yet.")
        assert failed.way_out.text() == "Try again"
        assert not failed.cost.isVisible()

    _run(run_in_app, body)


def test_a_chat_too_long_for_the_model_begins_anew(run_in_app: RunInApp[Any]) -> None:
    async def body(chat: Chat) -> None:
        chat.tracker.refusal = (400, {"message": "Too long.", "code": "context_length_exceeded"})
        failed = await chat.ask("Hello?")
        assert failed.way_out.text() == "New chat"
        failed.way_out.click()
        assert chat.window.transcript.turns == []

    _run(run_in_app, body)


def test_a_strangers_text_is_text(run_in_app: RunInApp[Any]) -> None:
    markup = "<b>bold</b> <a href='http://x'>x</a> ![i](http://y)"

    async def evil(_: StandInTracker, say: Say) -> None:
        await say(chunk(markup + "\u202e\x1b[31m\n# five", 0, warnings=["<i>warned</i>\u202e"]))

    async def body(chat: Chat) -> None:
        turn = await chat.ask("<h1>mine</h1>")
        assert turn.question.toPlainText() == "<h1>mine</h1>"
        assert turn.answer.toPlainText() == markup + "[31m\n# five"
        assert turn.warnings.text() == "<i>warned</i>"
        assert turn.warnings.textFormat() is turn.cost.textFormat() is Qt.TextFormat.PlainText

    _run(run_in_app, body, evil)


def test_pieces_that_come_fast_are_drawn_together(run_in_app: RunInApp[Any]) -> None:
    async def fast(_: StandInTracker, say: Say) -> None:
        for token in range(2000):
            await say(chunk("so many words\n", token))

    async def body(chat: Chat) -> None:
        drawn: list[float] = []
        chat.window.asking.drawn.connect(lambda: drawn.append(asyncio.get_running_loop().time()))
        turn = await chat.ask("Fast!")
        assert turn.answer.toPlainText() == "so many words\n" * 2000
        assert all(later - earlier > 0.03 for earlier, later in itertools.pairwise(drawn))
        assert len(drawn) < 200
        bar = chat.window.transcript.verticalScrollBar()
        await chat.until(lambda: bar.maximum() > 2000 and bar.value() == bar.maximum())

    _run(run_in_app, body, fast)


def test_a_hidden_window_draws_nothing_and_has_the_answer_later(run_in_app: RunInApp[Any]) -> None:
    async def body(chat: Chat) -> None:
        chat.type("Hello?")
        await chat.until(lambda: chat.last.answer.toPlainText())
        chat.window.hide()
        drawn: list[None] = []
        chat.window.asking.drawn.connect(lambda: drawn.append(None))
        chat.tracker.go_on.set()
        await chat.until(lambda: not chat.window.asking.running)
        assert drawn == []
        assert not any(timer.isActive() for timer in chat.window.findChildren(QTimer))
        chat.window.show()
        assert chat.last.answer.toPlainText() == "word word word end."

    _run(run_in_app, body, _say_some_then_wait)


def test_a_window_that_goes_hangs_up(run_in_app: RunInApp[Any], caplog: pytest.LogCaptureFixture) -> None:
    async def body(chat: Chat) -> None:
        chat.type("Hello?")
        await chat.until(lambda: chat.last.answer.toPlainText())
        chat.window.close_for_good()
        assert chat.listeners == []
        await asyncio.wait_for(chat.tracker.hung_up.wait(), DEADLINE_S)

    _run(run_in_app, body, _say_some_then_wait)
    assert caplog.records == []


def test_it_follows_until_the_person_scrolls_up(run_in_app: RunInApp[Any]) -> None:
    async def long(tracker: StandInTracker, say: Say) -> None:
        await say(chunk("line\n" * 200, 0))
        await tracker.go_on.wait()
        await say(chunk("more\n" * 50, 1))

    async def body(chat: Chat) -> None:
        transcript = chat.window.transcript
        bar = transcript.verticalScrollBar()
        chat.type("Long, please")
        await chat.until(lambda: bar.maximum() > 1000 and bar.value() == bar.maximum())
        QTest.keyClick(chat.window.composer.field, Qt.Key.Key_PageUp)
        at = bar.value()
        assert transcript.newest.isVisible()
        chat.tracker.go_on.set()
        before = bar.maximum()
        await chat.until(lambda: bar.maximum() > before)
        assert bar.value() == at, "what is read does not move away"
        transcript.newest.click()
        assert bar.value() == bar.maximum()
        assert not transcript.newest.isVisible()

    _run(run_in_app, body, long)


def test_enter_sends_and_shift_enter_makes_a_line(run_in_app: RunInApp[Any]) -> None:
    async def body(chat: Chat) -> None:
        field = chat.window.composer.field
        height = field.height()
        QTest.keyClick(field, Qt.Key.Key_Return)
        assert chat.window.transcript.turns == [], "nothing is not a question"
        QTest.keyClicks(field, "one")
        QTest.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
        QTest.keyClicks(field, "two")
        assert field.height() > height
        await chat.ask("")
        assert chat.tracker.questions[0]["messages"][-1]["content"] == "one\ntwo"
        assert field.height() == height

    _run(run_in_app, body)


def test_models_are_offered_where_there_is_a_choice(run_in_app: RunInApp[Any]) -> None:
    async def body(chat: Chat) -> None:
        models = chat.window.models
        assert not models.isVisible()
        chat.window.hide()
        chat.tracker.models.append({"id": "Qwen", "meshdesk": {"ready": False, "missing_layers": [[0, 4]]}})
        chat.window.show()
        await chat.until(models.isVisible)
        shown = [models.itemText(each) for each in range(models.count())]
        assert shown == ["The mesh's choice", "SmolLM2-135M", "Qwen (layers 0–3 missing)"]
        models.setCurrentIndex(2)
        await chat.ask("Hello?")
        assert chat.tracker.questions[0]["model"] == "Qwen"

    _run(run_in_app, body)


def test_an_example_is_a_question(run_in_app: RunInApp[Any]) -> None:
    async def body(chat: Chat) -> None:
        chat.window.empty.examples[0].click()
        await chat.until(lambda: not chat.window.asking.running)
        assert chat.tracker.questions[0]["messages"][0]["content"] == "What is the capital of France?"

    _run(run_in_app, body)


@pytest.mark.parametrize(
    ("phase", "button", "done"),
    [
        (Phase.OFF, "Join mesh", ["join"]),
        (Phase.STARTING, "Show progress", ["show dashboard"]),
        (Phase.ERROR, "Show why", ["show dashboard"]),
        (Phase.PAUSED, "Resume", ["resume"]),
        (Phase.LEAVING, None, []),
    ],
)
def test_without_a_mesh_there_is_one_thing_to_do(
    run_in_app: RunInApp[Any], phase: Phase, button: str | None, done: list[str]
) -> None:
    async def body(chat: Chat) -> None:
        chat.tracker_url, chat.status = None, Status(phase=phase)
        for listener in chat.listeners:
            listener()
        empty = chat.window.empty
        assert not any(each.isVisible() for each in empty.examples)
        assert empty.button.isVisible() == (button is not None)
        chat.type("Hello?")
        assert chat.window.composer.field.toPlainText() == "Hello?", "what was written is not lost"
        if button is not None:
            assert empty.button.text() == button
            empty.button.click()
        assert chat.actions.done == done

    _run(run_in_app, body)


def test_the_mesh_goes_on_while_dialogs_are_open(run_in_app: RunInApp[Any]) -> None:
    async def body(chat: Chat) -> None:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.01)
                ticks += 1

        ticking = asyncio.create_task(tick())
        chat.type("Hello?")
        dialog = QDialog(chat.window)
        dialog.open()
        await chat.until(lambda: chat.last.answer.toPlainText())
        before = ticks
        await chat.until(lambda: ticks > before + 10)
        chat.tracker.go_on.set()
        await chat.until(lambda: not chat.window.asking.running)
        assert chat.last.answer.toPlainText().endswith("end.")
        dialog.close()
        before = ticks
        await chat.until(lambda: ticks > before + 3)
        ticking.cancel()

    _run(run_in_app, body, _say_some_then_wait)


def test_every_control_has_a_name(run_in_app: RunInApp[Any]) -> None:
    async def body(chat: Chat) -> None:
        chat.tracker.refusal = (503, {"message": "x", "code": "no_route"})
        await chat.ask("Hello?")
        for widget in chat.window.findChildren(QWidget):
            if widget.focusPolicy() != Qt.FocusPolicy.NoFocus and widget.isVisible() and widget.isEnabled():
                name = QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name)
                assert name, f"{widget} has no name"
        assert sum(each.property("role") == "primary" for each in chat.window.findChildren(QPushButton)) == 2

    _run(run_in_app, body)


def test_figures_leave_out_the_prompt_and_what_makes_no_sense() -> None:
    now = iter((10.0, 10.5, 11.0))
    figures = AnswerFigures(lambda: next(now))
    assert figures_text(figures) == tokens_text(0)
    figures.add(Piece("", token_ids=[1], hops=[hop(0, "local", 900.0, 0), hop(1, "relay", 800.0, 0)]))
    assert figures_text(figures) == tokens_text(1)
    odd: list[dict[str, Any]] = [
        {},
        hop(0, "pigeon", 5.0, 1),
        hop(0, "local", 5.0, 1) | {"total_ms": None},
        hop(0, "local", 5.0, 1) | {"total_ms": float("nan")},
        hop(0, "local", 5.0, 1) | {"start_layer": "0"},
        hop(0, "local", 5.0, 1) | {"end_layer": 0},
        hop(0, "local", 5.0, 1) | {"way": []},
    ]
    figures.add(Piece("a", token_ids=[2], hops=odd))
    assert figures.slowest is None
    figures.add(Piece("b", token_ids=[3], hops=[hop(0, "local", 9.0, 2), hop(1, "direct-after-relay", 5.0, 2)]))
    assert (
        figures_text(figures) == f"2.0 tokens/s · {tokens_text(3)} · slowest hop: layers 0–14 at the first node, 9.0 ms"
    )


def test_a_long_failure_is_cut() -> None:
    failure = failure_of(ChatRefused("x\n" * 5000))
    assert len(failure.words) == MAX_CHARS
    assert "\n" not in failure.words


def test_a_conversation_forgets_its_oldest_turns_and_skips_unanswered_ones() -> None:
    conversation = Conversation()
    for number in range(MAX_TURNS + 5):
        conversation.ask(str(number)).answer = "" if number % 2 else "yes"
    last = conversation.turns[-1]
    assert len(conversation.turns) == MAX_TURNS
    messages = conversation.messages_for(last)
    assert [each["content"] for each in messages[:3]] == ["6", "yes", "8"]
    assert messages[-1] == {"role": "user", "content": last.question}


def test_a_long_text_is_as_tall_as_its_lines(qtbot: Any) -> None:
    window, view = QWidget(), PlainTextView()
    qtbot.addWidget(window)
    column = QVBoxLayout(window)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)
    column.addWidget(view)
    column.addStretch(1)
    window.resize(300, 600)
    window.show()
    line = view.height() - 2 * BORDER
    for _ in range(20):
        view.append_text("a line\n")
    assert abs(view.height() - 2 * BORDER - 21 * line) <= 2
    view.append_text("w" * 400)
    assert view.height() > 22 * line
    window.resize(10_000, 600)
    assert abs(view.height() - 2 * BORDER - 21 * line) <= 2
    view.clear_text()
    assert view.height() == line + 2 * BORDER
