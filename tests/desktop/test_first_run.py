"""The first run: all of it by keyboard, five presses of Enter with the defaults, and nothing kept before its end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QPushButton, QWidget

from meshdesk.desktop.background import Background
from meshdesk.desktop.first_run import hardware_page, mesh_page, model_page
from meshdesk.desktop.first_run.app_page import AppPage
from meshdesk.desktop.first_run.first_run_choice import FirstRunChoice
from meshdesk.desktop.first_run.first_run_window import FirstRunWindow
from meshdesk.desktop.first_run.hardware_page import HardwarePage
from meshdesk.desktop.first_run.mesh_page import MeshPage
from meshdesk.desktop.first_run.model_page import ModelPage
from meshdesk.volunteer.hardware import Hardware
from meshdesk.volunteer.invite import Invite, make_invite
from meshdesk.volunteer.model_place import ModelPlace
from meshdesk.volunteer.onboarding import Onboarding, Step
from meshdesk.volunteer.settings import Settings
from tests.desktop.conftest import RunInApp
from tests.volunteer.stand_in_tracker import StandInTracker

DEADLINE_S = 10.0
COMPUTER = Hardware(8, 32_000_000_000, 24_300_000_000, ("Tesla T4",), "Some Processor")


class FirstRun:
    """A shown window, and what came of it."""

    def __init__(self, path: Path, steps: tuple[Step, ...] = (), settings: Settings | None = None):
        self.onboarding = Onboarding(path / "onboarding.json")
        self.background = Background()
        self.choices: list[FirstRunChoice] = []
        holder = SimpleNamespace(settings=settings or Settings())
        self.window = FirstRunWindow(self.onboarding, holder, self.background, self.choices.append, steps)

    def press(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """Press a key where the focus is."""
        QTest.keyClick(self.window.focusWidget() or self.window, key, modifiers)

    def type(self, text: str) -> None:
        QTest.keyClicks(self.window.focusWidget(), text)

    def page(self, kind: type[Any]) -> Any:
        page = self.window.page
        assert isinstance(page, kind), page
        return page

    async def remaining(self) -> tuple[Step, ...]:
        """What a next start would ask, once all work in the background is done."""
        await asyncio.gather(*(task for task in asyncio.all_tasks() if task.get_name() == "keep the answers"))
        return await asyncio.to_thread(self.onboarding.remaining)

    async def until(self, met: Callable[[], Any]) -> None:
        """A page has no signal for each of its words, so it is looked at with every turn of the loop."""
        async with asyncio.timeout(DEADLINE_S):
            while not met():  # noqa: ASYNC110
                await asyncio.sleep(0.005)


@pytest.fixture(autouse=True)
def known_computer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def find() -> Hardware:
        return COMPUTER

    monkeypatch.setattr(hardware_page, "find_hardware", find)
    monkeypatch.setattr(model_page, "present_folder", lambda chosen: tmp_path / "models")


@contextlib.asynccontextmanager
async def _open(path: Path, **options: Any) -> AsyncIterator[FirstRun]:
    run = FirstRun(path, **options)
    run.window.show()
    try:
        # Keys and the focus are an active window's.
        await run.until(lambda: QApplication.activeWindow() is run.window)
        yield run
    finally:
        await run.background.close()
        run.window.close_for_good()


def _run(run_in_app: RunInApp[Any], path: Path, body: Callable[[FirstRun], Awaitable[None]], **options: Any) -> None:
    async def main() -> None:
        async with _open(path, **options) as run:
            await body(run)

    run_in_app(main)


def test_five_presses_of_enter_start_a_practice_mesh(run_in_app: RunInApp[Any], tmp_path: Path) -> None:
    async def body(run: FirstRun) -> None:
        for _ in range(5):
            assert run.choices == []
            run.press(Qt.Key.Key_Return)
        choice = run.choices[0]
        assert (choice.join, choice.practice, choice.autostart) == (True, True, False)
        assert not run.window.isVisible()
        assert await run.remaining() == ()

    _run(run_in_app, tmp_path, body)


def test_every_page_says_what_it_should(run_in_app: RunInApp[Any], tmp_path: Path) -> None:
    async def body(run: FirstRun) -> None:
        window = run.window
        assert window.next.text() == "Next" and not window.back.isVisible()
        run.press(Qt.Key.Key_Return)
        said = " ".join(label.text() for label in window.page.findChildren(QLabel))
        for word in ("memory", "address", "relay", "read", "files", "Leave mesh"):
            assert word in said
        run.press(Qt.Key.Key_Return)
        hardware = run.page(HardwarePage)
        await run.until(lambda: hardware.memory.isVisible())
        assert "24 GB of 32 GB free" in hardware.found.text()
        assert "Tesla T4, not used" in hardware.found.text()
        assert (hardware.memory.value(), hardware.threads.value()) == (12_100, 7)
        hardware.slider.setFocus()
        run.press(Qt.Key.Key_Home)
        assert hardware.memory.value() == 600
        hardware.threads.setValue(8)
        run.press(Qt.Key.Key_Return)
        model = run.page(ModelPage)
        await run.until(lambda: "free" in model.room.text())
        assert model.folder.text() == str(tmp_path / "models")
        run.press(Qt.Key.Key_Return)
        app = run.page(AppPage)
        assert not app.autostart.isChecked()
        assert window.next.text() == "Join mesh"
        assert window.indicator.accessibleName() == "Step 5 of 5"
        app.autostart.setFocus()
        run.press(Qt.Key.Key_Space)
        app.name.setFocus()
        run.type("anna")
        run.press(Qt.Key.Key_Return)
        assert run.choices[0].settings == {"memory_limit_mb": 600, "threads": 0, "display_name": "anna"}
        assert run.choices[0].autostart is True

    _run(run_in_app, tmp_path, body)


def test_an_invite_is_looked_up_and_joined(run_in_app: RunInApp[Any], tmp_path: Path) -> None:
    async def main() -> None:
        async with StandInTracker() as tracker, _open(tmp_path) as run:
            page = run.page(MeshPage)
            run.press(Qt.Key.Key_Down)
            assert page.invited.isChecked()
            run.press(Qt.Key.Key_Tab)
            assert run.window.focusWidget() is page.field
            QGuiApplication.clipboard().setText(make_invite(Invite(tracker.url, "ws://127.0.0.1:9", "Anna's")) + "\n")
            run.press(Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
            assert page.found.text() == f"“Anna's”: tracker {tracker.url}, relay ws://127.0.0.1:9"
            run.press(Qt.Key.Key_Return)
            assert run.window.next.text() == "Looking…" and not run.window.next.isEnabled()
            await run.until(lambda: run.window.page is not page)
            run.press(Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
            assert run.window.page is page
            for _ in range(5):
                run.press(Qt.Key.Key_Return)
            assert not run.choices[0].practice
            assert run.choices[0].settings["tracker"] == tracker.url
            assert run.choices[0].settings["relay"] == "ws://127.0.0.1:9"

    run_in_app(main)


def test_what_is_no_invite_is_said_inline(run_in_app: RunInApp[Any], tmp_path: Path) -> None:
    async def body(run: FirstRun) -> None:
        page = run.page(MeshPage)
        page.field.setFocus()
        assert page.invited.isChecked(), "whoever writes an address means it"
        run.type("<b>no such mesh</b>")
        assert not page.wrong.isVisible(), "not while it is being written"
        run.press(Qt.Key.Key_Return)
        assert run.window.page is page
        assert page.wrong.text().startswith("“b>no such mesh</b” is not an address. Paste a tracker's address")
        assert page.wrong.textFormat() is Qt.TextFormat.PlainText
        run.type("x")
        assert not page.wrong.isVisible()

    _run(run_in_app, tmp_path, body)


def test_a_tracker_that_does_not_answer_holds_nobody_up(run_in_app: RunInApp[Any], tmp_path: Path) -> None:
    async def body(run: FirstRun) -> None:
        page = run.page(MeshPage)
        page.field.setFocus()
        run.type("127.0.0.1:1")
        run.press(Qt.Key.Key_Return)
        await run.until(page.failure.isVisible)
        assert page.failure.words.text().startswith("No tracker answers at http://127.0.0.1:1.")
        page.failure.copy.click()
        assert "refused" in QGuiApplication.clipboard().text()
        page.failure.retry.click()
        assert not page.failure.isVisible()
        await run.until(page.failure.isVisible)
        assert run.window.next.text() == "Go on anyway"
        page.field.setFocus()
        run.press(Qt.Key.Key_Return)
        assert run.window.page is not page

    _run(run_in_app, tmp_path, body)


def test_a_tracker_that_says_nothing_is_given_up(
    run_in_app: RunInApp[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []

    async def never(_: str, deadline_s: float) -> int:
        waited.append(deadline_s)
        await asyncio.Event().wait()
        return 0

    monkeypatch.setattr(mesh_page, "count_nodes", never)

    async def body(run: FirstRun) -> None:
        page = run.page(MeshPage)
        page.field.setFocus()
        run.type("mesh.example")
        run.press(Qt.Key.Key_Return)
        await run.until(lambda: waited)
        assert waited == [5.0]
        run.press(Qt.Key.Key_Return)
        assert run.window.page is page, "a second press does not overtake the first"
        run.type("2")
        assert run.window.next.text() == "Next", "another address ends the look"
        page.practice.setFocus()
        page.practice.setChecked(True)
        run.press(Qt.Key.Key_Return)
        assert run.window.page is not page

    _run(run_in_app, tmp_path, body)


def test_closed_midway_nothing_is_kept(run_in_app: RunInApp[Any], tmp_path: Path) -> None:
    async def body(run: FirstRun) -> None:
        first = run.page(MeshPage)
        first.field.setFocus()
        run.type("something")
        first.practice.setChecked(True)
        first.practice.setFocus()
        run.press(Qt.Key.Key_Return)
        run.press(Qt.Key.Key_Return)
        run.press(Qt.Key.Key_Escape)
        assert not run.window.isVisible()
        assert run.choices == [] and await run.remaining() == tuple(Step)
        run.window.show()
        assert run.page(MeshPage).field.text() == ""

    _run(run_in_app, tmp_path, body)


def test_a_later_version_asks_its_new_question_only(run_in_app: RunInApp[Any], tmp_path: Path) -> None:
    async def body(run: FirstRun) -> None:
        assert not run.window.indicator.isVisible() and run.window.next.text() == "Done"
        run.press(Qt.Key.Key_Return)
        assert run.choices == [FirstRunChoice(join=False, practice=False, autostart=False, steps=(Step.APP,))]
        assert Step.APP not in await run.remaining()

    _run(run_in_app, tmp_path, body, steps=(Step.APP,))


def test_hardware_that_cannot_be_looked_at(
    run_in_app: RunInApp[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[int] = []

    async def find() -> Hardware:
        tries.append(1)
        if len(tries) == 1:
            raise OSError("no /proc here")
        return COMPUTER

    monkeypatch.setattr(hardware_page, "find_hardware", find)

    async def body(run: FirstRun) -> None:
        page = run.page(HardwarePage)
        await run.until(page.failure.isVisible)
        page.failure.copy.click()
        assert QGuiApplication.clipboard().text() == "OSError: no /proc here"
        assert run.window.next.isEnabled()
        page.failure.retry.click()
        await run.until(page.memory.isVisible)
        assert not page.failure.isVisible()

    _run(run_in_app, tmp_path, body, steps=(Step.HARDWARE,))


@pytest.mark.qt_log_ignore("propagateSizeHints")
def test_a_folder_that_will_not_do_is_changed(
    run_in_app: RunInApp[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(folder: Path) -> ModelPlace:
        return ModelPlace(folder, 200_000_000, 270_000_000 if folder.name == "models" else 0, folder.name != "locked")

    monkeypatch.setattr(model_page, "look_at", look)

    async def body(run: FirstRun) -> None:
        page = run.page(ModelPage)
        await run.until(page.failure.isVisible)
        assert page.failure.words.text() == "There is too little room here: 270 MB are needed, 200 MB are free."
        run.press(Qt.Key.Key_Return)
        assert run.choices == []
        page.choose(str(tmp_path / "locked"))
        await run.until(lambda: "Nothing can be written" in page.failure.words.text())
        page.change.setFocus()
        run.press(Qt.Key.Key_Return)
        dialog = page.findChild(QFileDialog)
        assert dialog is not None and dialog.isVisible()
        ticks = asyncio.create_task(asyncio.sleep(0.02))
        await ticks
        dialog.fileSelected.emit(str(tmp_path / "good"))
        dialog.reject()
        await run.until(lambda: not page.failure.isVisible())
        assert "is here already" in page.room.text()
        run.window.next.click()
        assert run.choices[0].settings == {"models_folder": str(tmp_path / "good")}

    _run(run_in_app, tmp_path, body, steps=(Step.MODEL,))


def test_a_name_that_cannot_be_is_said_inline(run_in_app: RunInApp[Any], tmp_path: Path) -> None:
    async def body(run: FirstRun) -> None:
        page = run.page(AppPage)
        page.name.setFocus()
        page.name.insert("a\u202eb")
        page.name.textEdited.emit(page.name.text())
        assert page.wrong.isVisible() and not run.window.next.isEnabled()
        run.press(Qt.Key.Key_Return)
        assert run.choices == []

    _run(run_in_app, tmp_path, body, steps=(Step.APP,))


def test_every_control_has_a_name_and_one_is_primary(run_in_app: RunInApp[Any], tmp_path: Path) -> None:
    async def body(run: FirstRun) -> None:
        for _ in Step:
            visible = [each for each in run.window.findChildren(QWidget) if each.isVisible()]
            for widget in visible:
                if widget.focusPolicy() != Qt.FocusPolicy.NoFocus and widget.isEnabled():
                    name = QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name)
                    assert name, f"{widget} has no name"
            primary = [each for each in visible if isinstance(each, QPushButton) and each.property("role") == "primary"]
            assert primary == [run.window.next]
            if isinstance(run.window.page, HardwarePage):
                await run.until(run.window.page.memory.isVisible)
            if run.window.next.text() != "Join mesh":
                run.press(Qt.Key.Key_Return)

    _run(run_in_app, tmp_path, body)
