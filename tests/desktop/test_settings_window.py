"""The settings window: made from the model, applied at once, and true to the system and the keyring."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import keyring
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from meshdesk.desktop.background import Background
from meshdesk.desktop.settings.controls import DaysControl
from meshdesk.desktop.settings.setting_texts import CHOICES, TEXTS
from meshdesk.desktop.settings.settings_window import HUB_TOKEN, SettingsWindow
from meshdesk.volunteer.autostart import Autostart
from meshdesk.volunteer.autostart_xdg import XdgAutostart
from meshdesk.volunteer.hub_token import HubToken
from meshdesk.volunteer.log_redaction import forget_secrets
from meshdesk.volunteer.settings import GROUPS, Settings, info_of
from meshdesk.volunteer.settings_file import SettingsFile
from meshdesk.volunteer.settings_refusal import choices_of
from tests.desktop.conftest import RunInApp
from tests.desktop.recorded_actions import RecordedActions

TOKEN = "hf_AbCdEfGhIjKlMnOpQrStUvWxYz01234567"
WAIT_S = 5.0

# A dialog of fixed size tells its system so; the one without a screen does not care, and says that.
pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")


class Desk:
    """A settings window over files in a directory of the test's own. Made outside of the loop, for it reads."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.file = SettingsFile(directory / "settings.json")
        self.desktop_file = directory / "config" / "autostart" / "meshdesk.desktop"
        self.token_file = directory / "hub-token"
        self.background = Background()
        self.actions = RecordedActions()

    @asynccontextmanager
    async def window(self) -> AsyncIterator[SettingsWindow]:
        window = SettingsWindow(
            self.file,
            self.background,
            self.actions,
            Autostart(XdgAutostart(self.directory / "config"), ["meshdesk", "--background"]),
            HubToken(self.token_file),
        )
        window.show()
        window.activateWindow()
        try:
            yield window
        finally:
            window.close()
            await self.background.close()
            await self.file.saved()
            window.close_for_good()
            QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)

    async def when(self, true: Callable[[], bool]) -> None:
        """Wait for what comes of a task that the window started; nothing tells a test of its end."""
        async with asyncio.timeout(WAIT_S):
            while not true():  # noqa: ASYNC110 - widgets have no event to wait for
                await asyncio.sleep(0.005)


async def there(path: Path) -> bool:
    return await asyncio.to_thread(path.exists)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qapp: QApplication) -> Iterator[Desk]:
    for name in ("MESHDESK_CACHE", "HF_HUB_CACHE"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    before = keyring.get_keyring()
    keyring.core.init_backend()
    yield Desk(tmp_path)
    keyring.set_keyring(before)
    forget_secrets()


def test_every_text_of_the_model_is_marked_for_the_translations() -> None:
    texts = set(GROUPS)
    for name, field in Settings.model_fields.items():
        info = info_of(name)
        texts |= {info.label, field.description or "", info.unit, info.zero}
    assert set(TEXTS) == texts - {""}
    assert set(CHOICES) == {(name, value) for name in Settings.model_fields for value in choices_of(name)}


def test_every_setting_has_a_control_that_a_screen_reader_can_name(desk: Desk, run_in_app: RunInApp[None]) -> None:
    async def body() -> None:
        async with desk.window() as window:
            assert set(window.rows) == set(Settings.model_fields)
            for widget in window.findChildren(QWidget):
                internal = widget.objectName().startswith("qt_")
                if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and not internal:
                    assert widget.accessibleName() or getattr(widget, "text", str)(), widget
            for name, row in window.rows.items():
                assert info_of(name).label in row.control.input.accessibleName()
                assert (Settings.model_fields[name].description or "") in row.control.input.accessibleDescription()

    run_in_app(body)


def test_each_control_changes_its_setting_at_once(desk: Desk, run_in_app: RunInApp[None]) -> None:
    async def body() -> None:
        async with desk.window() as window:
            rows = window.rows
            rows["notifications"].control.input.click()
            rows["pause_below_percent"].control.input.setValue(20)
            combo = rows["theme"].control.input
            window.show_about("theme")
            combo.setFocus()
            QTest.keyClick(combo, Qt.Key.Key_Down)
            rows["schedule"].label.clicked.emit()
            days = rows["schedule_days"].control
            assert isinstance(days, DaysControl)
            days.buttons["tue"].click()
            QTest.keyClicks(rows["display_name"].control.input, "  anna  b ")
            QTest.keyClick(rows["display_name"].control.input, Qt.Key.Key_Return)
            found = desk.file.settings
            assert (found.notifications, found.pause_below_percent, found.theme) == (False, 20, "light")
            assert found.schedule
            assert found.schedule_days == {"mon", "wed", "thu", "fri", "sat", "sun"}
            # As it is kept, so it is shown.
            assert found.display_name == rows["display_name"].control.input.text() == "anna b"
        again = await asyncio.to_thread(SettingsFile, desk.file.path)
        assert again.settings == found

    run_in_app(body)


def test_a_bad_value_is_told_beside_it_and_not_kept(desk: Desk, run_in_app: RunInApp[None]) -> None:
    async def body() -> None:
        async with desk.window() as window:
            row = window.rows["tracker"]
            QTest.keyClicks(row.control.input, "ftp://mesh")
            QTest.keyClick(row.control.input, Qt.Key.Key_Return)
            assert row.message.isVisible()
            assert row.message.text() == "This is not an address. Write it like http://203.0.113.5:7000."
            assert row.message.text() in row.control.input.accessibleDescription()
            assert row.control.input.property("invalid") is True
            assert row.control.input.text() == "ftp://mesh"
            assert desk.file.settings.tracker == ""
            # A change elsewhere does not wipe away what is still being mended.
            desk.file.change(threads=2)
            assert row.control.input.text() == "ftp://mesh"
            row.control.input.selectAll()
            QTest.keyClicks(row.control.input, "mesh.example:7000")
            assert not row.message.isVisible()
            QTest.keyClick(row.control.input, Qt.Key.Key_Return)
            assert row.control.input.property("invalid") is False
            assert desk.file.settings.tracker == row.control.input.text() == "http://mesh.example:7000"

    run_in_app(body)


def test_a_setting_that_restarts_the_node_waits_until_it_is_finished(desk: Desk, run_in_app: RunInApp[None]) -> None:
    async def body() -> None:
        async with desk.window() as window:
            row = window.rows["threads"]
            assert row.restarts.text() == "The node restarts."
            row.control.input.stepUp()
            row.control.input.stepUp()
            assert (desk.file.settings.threads, row.restarts.text()) == (
                0,
                "Press Enter to apply. The node restarts.",
            )
            QTest.keyClick(row.control.input, Qt.Key.Key_Return)
            assert (desk.file.settings.threads, row.restarts.text()) == (2, "The node restarts.")
            row.control.input.stepUp()
            window.close()
            assert desk.file.settings.threads == 3

    run_in_app(body)


def test_zero_is_written_as_what_it_means(desk: Desk, run_in_app: RunInApp[None]) -> None:
    async def body() -> None:
        async with desk.window() as window:
            assert window.rows["memory_limit_mb"].control.input.text() == "half of what is free"
            desk.file.change(memory_limit_mb=4000)
            assert window.rows["memory_limit_mb"].control.input.text() == "4,000 MB"

    run_in_app(body)


def test_the_way_back_to_the_default_is_there_when_it_is_needed(desk: Desk, run_in_app: RunInApp[None]) -> None:
    async def body() -> None:
        async with desk.window() as window:
            window.show_about("pause_on_battery")
            row = window.rows["pause_on_battery"]
            assert not row.reset.isVisible()
            row.control.input.click()
            assert row.reset.isVisible()
            assert row.reset.toolTip() == "Back to the default: on"
            row.reset.click()
            assert (desk.file.settings.pause_on_battery, row.control.input.isChecked()) == (True, True)
            assert not row.reset.isVisible()

    run_in_app(body)


def test_what_has_no_effect_is_greyed_with_its_reason(desk: Desk, run_in_app: RunInApp[None]) -> None:
    async def body() -> None:
        async with desk.window() as window:
            window.show_about("schedule")
            row = window.rows["schedule_from"]
            assert not row.control.isEnabled()
            assert row.reason.text() == "Has no effect while “Only at set times” is off."
            window.rows["schedule"].control.input.click()
            assert row.control.isEnabled()
            assert not row.reason.isVisible()

    run_in_app(body)


def test_a_link_leads_to_the_setting_and_into_it(desk: Desk, run_in_app: RunInApp[None]) -> None:
    async def body() -> None:
        async with desk.window() as window:
            window.resize(640, 400)
            window.search.setText("nothing of the kind")
            assert window.nothing.isVisible()
            for name in ("monthly_quota_gb", "schedule_days", HUB_TOKEN, "pause_on_battery"):
                row = window.token if name == HUB_TOKEN else window.rows[name]
                window.show_about(name)
                await desk.when(lambda row=row: row.isVisible() and not row.visibleRegion().isEmpty())  # type: ignore[misc]
                assert row.property("highlight") is True
                assert not window.nothing.isVisible()
            await desk.when(lambda: QApplication.focusWidget() is window.rows["pause_on_battery"].control.input)
            assert window.token.property("highlight") is False
            window.show_about("no_such_setting")
            assert window.rows["pause_on_battery"].property("highlight") is True

    run_in_app(body)


def test_the_search_finds_settings_on_every_page(desk: Desk, run_in_app: RunInApp[None]) -> None:
    async def body() -> None:
        async with desk.window() as window:

            def found() -> set[str]:
                return {name for name, row in window.rows.items() if row.isVisibleTo(window)}

            everything = found()
            assert everything == {"tracker", "relay", "display_name"}
            window.search.setText("BATTERY")
            assert found() == {"pause_on_battery", "pause_below_percent"}
            window.search.setText("warnings errors")
            assert found() == {"log_level"}
            QTest.keyClick(window.search, Qt.Key.Key_Escape)
            assert (window.isVisible(), found()) == (True, everything)

    run_in_app(body)


def test_a_wheel_that_rolls_over_the_page_changes_nothing(desk: Desk, run_in_app: RunInApp[None]) -> None:
    async def body() -> None:
        async with desk.window() as window:
            for name in ("pause_below_percent", "theme"):
                window.show_about(name)
                window.search.setFocus()
                wheel = QWheelEvent(
                    QPointF(5, 5),
                    QPointF(5, 5),
                    QPoint(),
                    QPoint(0, -120),
                    Qt.MouseButton.NoButton,
                    Qt.KeyboardModifier.NoModifier,
                    Qt.ScrollPhase.NoScrollPhase,
                    False,
                )
                QApplication.sendEvent(window.rows[name].control.input, wheel)
            assert desk.file.settings == Settings()

    run_in_app(body)


def test_a_broken_file_is_told_and_can_be_hidden(tmp_path: Path, desk: Desk, run_in_app: RunInApp[None]) -> None:
    desk.file.path.write_text('{"threads": "many", "port": 7')
    broken = SettingsFile(desk.file.path)
    desk.file.path.write_text('{"threads": "many"}')
    desk.file = SettingsFile(desk.file.path)

    async def body() -> None:
        async with desk.window() as window:
            assert window.banner.isVisible()
            assert window.problem.text() == desk.file.problem
            row = window.rows["threads"]
            assert "The file has a value here that cannot be." in row.message.text()
            assert row.reset.isVisibleTo(row)
            row.reset.click()
            assert not window.banner.isVisible()
            assert row.message.text() == ""
        desk.file, desk.background = broken, Background()
        async with desk.window() as window:
            assert "kept as" in window.problem.text()

    run_in_app(body)


def test_the_autostart_switch_tells_the_systems_truth(desk: Desk, run_in_app: RunInApp[None]) -> None:
    async def body() -> None:
        async with desk.window() as window:
            window.show_about("autostart")
            row = window.autostart
            switch = row.control.input
            assert not await there(desk.desktop_file)
            await desk.when(lambda: row._work is not None and row._work.done())
            switch.click()
            await desk.when(lambda: switch.isChecked() and row.control.isEnabled())
            assert await there(desk.desktop_file)
            await asyncio.to_thread(desk.desktop_file.unlink)
            window.close()
            window.show()
            await desk.when(lambda: not switch.isChecked())
            assert not await there(desk.desktop_file)

    run_in_app(body)


def test_an_autostart_that_the_system_refuses_stays_off_and_says_so(desk: Desk, run_in_app: RunInApp[None]) -> None:
    (desk.directory / "config").write_text("a file where a directory should be")

    async def body() -> None:
        async with desk.window() as window:
            window.show_about("autostart")
            row = window.autostart
            row.control.input.click()
            await desk.when(lambda: row.message.isVisible())
            assert "The system did not take the change" in row.message.text()
            assert (row.control.input.isChecked(), row.control.isEnabled()) == (False, True)
            assert desk.file.settings.autostart is False

    run_in_app(body)


def test_without_a_keyring_the_token_needs_a_yes_for_a_private_file(
    desk: Desk, run_in_app: RunInApp[None], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    async def body() -> None:
        async with desk.window() as window:
            window.show_about(HUB_TOKEN)
            dialog = window.token.dialog
            window.token.change.click()
            assert dialog.isVisible()
            QTest.keyClicks(dialog.field, "short")
            dialog.save.click()
            await desk.when(dialog.message.isVisible)
            assert "This is not a token." in dialog.message.text()
            dialog.field.clear()
            QTest.keyClicks(dialog.field, TOKEN)
            dialog.save.click()
            await desk.when(dialog.offer.isVisible)
            assert not await there(desk.token_file)
            assert "no keyring" in dialog.offer_text.text()
            # One more Enter is no yes: the button to cancel has the keys.
            assert QApplication.focusWidget() is dialog.cancel
            dialog.save.click()
            await desk.when(lambda: not dialog.isVisible())
            assert await asyncio.to_thread(desk.token_file.read_text) == TOKEN
            if sys.platform != "win32":
                assert (await asyncio.to_thread(desk.token_file.stat)).st_mode & 0o777 == 0o600
            assert dialog.field.text() == ""
            await desk.when(lambda: "file that only you can read" in window.token.state.text())
            window.token.remove.click()
            await desk.when(lambda: window.token.state.text().startswith("None."))
            assert not await there(desk.token_file)
            for widget in window.findChildren(QWidget):
                assert TOKEN not in str(getattr(widget, "text", str)())

    run_in_app(body)
    assert TOKEN not in caplog.text
    assert TOKEN not in "".join(str(vars(record)) for record in caplog.records)
    assert not desk.file.path.exists() or TOKEN not in desk.file.path.read_text()


def test_a_dialog_that_was_cancelled_offers_nothing_the_next_time(desk: Desk, run_in_app: RunInApp[None]) -> None:
    async def body() -> None:
        async with desk.window() as window:
            dialog = window.token.dialog
            dialog.ask()
            dialog.field.setText(TOKEN)
            dialog.save.click()
            await desk.when(dialog.offer.isVisible)
            dialog.reject()
            dialog.ask()
            assert (dialog.field.text(), dialog.offer.isVisible(), dialog.save.text()) == ("", False, "&Save")
            dialog.reject()

    run_in_app(body)


def test_the_storage_page_counts_when_it_is_looked_at(desk: Desk, run_in_app: RunInApp[None]) -> None:
    model = desk.directory / "MESHDESK_CACHE" / "models" / "org" / "small"
    model.mkdir(parents=True)
    (model / "weights.safetensors").write_bytes(bytes(2_500_000))

    async def body() -> None:
        async with desk.window() as window:
            assert window.storage.free.text() == "Counting…"
            window.pages.setCurrentRow(len(window.sections) - 1)
            await desk.when(lambda: "2.5 MB used" in window.storage.free.text())
            assert window.storage.path.text() == str(desk.directory / "MESHDESK_CACHE")
            assert window.storage.open.isEnabled()

    run_in_app(body)


def test_a_hidden_window_rests(desk: Desk, run_in_app: RunInApp[None]) -> None:
    async def body() -> None:
        async with desk.window() as window:
            window.show_about("theme")
            window.close()
            await asyncio.sleep(0)
            assert [timer for timer in window.findChildren(QTimer) if timer.isActive()] == []
            await desk.when(lambda: not desk.background._tasks)

    run_in_app(body)
