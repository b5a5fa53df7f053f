"""Check my connection: findings as they come, one sentence about them, given up when nobody looks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QTranslator
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QWidget

from meshdesk.desktop.background import Background
from meshdesk.desktop.connection_window import ConnectionWindow
from meshdesk.desktop.spoken_words import spoken
from meshdesk.volunteer.finding import Finding, Verdict
from meshdesk.volunteer.status import DirectFacts, Phase, Status, WhyNotDirect
from meshdesk.volunteer.wording import QT_TRANSLATE_NOOP, Words
from tests.desktop.conftest import RunInApp
from tests.desktop.recorded_actions import RecordedActions

GOOD = Finding("tracker", Verdict.GOOD, "http://t answers in 3.0 ms")
BAD_RELAY = Finding("relay", Verdict.BAD, "ws://r does not answer: connection refused", "Check the address.")
WARNING = Finding("clock", Verdict.WARNING, "40 s behind", "Let the system set its time by itself.")


class Doctor:
    """Finds what it is given, each finding when the test lets it go."""

    def __init__(self, *findings: Finding | Exception) -> None:
        self.findings = list(findings)
        self.gate = asyncio.Semaphore(0)
        self.looks = 0
        self.given_up = asyncio.Event()

    async def look(self) -> AsyncIterator[Finding]:
        self.looks += 1
        try:
            for finding in self.findings:
                await self.gate.acquire()
                if isinstance(finding, Exception):
                    raise finding
                yield finding
        except asyncio.CancelledError:
            self.given_up.set()
            raise

    def let_all_go(self) -> None:
        for _ in self.findings:
            self.gate.release()


async def until(holds: Any) -> None:
    """The window says nothing when it is done; a person sees it."""
    async with asyncio.timeout(5):
        while True:
            if holds():
                return
            await asyncio.sleep(0.005)


def in_window(run_in_app: RunInApp[Any], doctor: Doctor, body: Any, status: Status | None = None) -> None:
    async def run() -> None:
        background = Background()
        window = ConnectionWindow(doctor.look, lambda: status or Status(), background, RecordedActions())
        window.show()
        try:
            await body(window)
        finally:
            window.close_for_good()
            await background.close()

    run_in_app(run)


def test_each_finding_is_shown_as_it_comes(run_in_app: RunInApp[Any]) -> None:
    doctor = Doctor(GOOD, WARNING)

    async def body(window: ConnectionWindow) -> None:
        assert "Looking" in window.headline.text() and not window.again.isEnabled()
        doctor.gate.release()
        await until(lambda: len(window.rows) == 1)
        assert "Looking" in window.headline.text()
        doctor.gate.release()
        await until(lambda: window.again.isEnabled())
        assert window.headline.text() == "Your connection works"
        assert window.state.text().startswith("Checked at")

    in_window(run_in_app, doctor, body)


def test_a_mesh_out_of_reach_is_the_headline_with_what_to_do(run_in_app: RunInApp[Any]) -> None:
    doctor = Doctor(GOOD, BAD_RELAY)

    async def body(window: ConnectionWindow) -> None:
        doctor.let_all_go()
        await until(lambda: window.again.isEnabled())
        assert window.headline.text() == "This computer does not reach its mesh"
        assert window.advice.text() == "Check the address."

    in_window(run_in_app, doctor, body)


def test_how_peers_reach_a_running_node_is_said_above(run_in_app: RunInApp[Any]) -> None:
    doctor = Doctor(GOOD)
    status = Status(phase=Phase.SERVING, direct=DirectFacts(False, WhyNotDirect.WSL2_NAT, "http://172.20.1.4:1"))

    async def body(window: ConnectionWindow) -> None:
        doctor.let_all_go()
        await until(lambda: window.again.isEnabled())
        assert "WSL2" in window.sentence.text() and "normal" in window.sentence.text()
        assert "firewall" in window.advice.text()

    in_window(run_in_app, doctor, body, status)


def test_copy_and_check_again(run_in_app: RunInApp[Any]) -> None:
    doctor = Doctor(WARNING)

    async def body(window: ConnectionWindow) -> None:
        doctor.let_all_go()
        await until(lambda: window.again.isEnabled())
        window.copy.click()
        copied = QGuiApplication.clipboard().text()
        assert "! clock: 40 s behind\n    Let the system set its time by itself." in copied
        window.again.click()
        assert doctor.looks == 1 and window.rows == []
        doctor.let_all_go()
        await until(lambda: window.again.isEnabled() and len(window.rows) == 1)
        assert doctor.looks == 2

    in_window(run_in_app, doctor, body)


def test_a_hidden_window_looks_no_further_and_a_reopened_one_anew(run_in_app: RunInApp[Any]) -> None:
    doctor = Doctor(GOOD, GOOD)

    async def body(window: ConnectionWindow) -> None:
        doctor.gate.release()
        await until(lambda: len(window.rows) == 1)
        window.hide()
        await asyncio.wait_for(doctor.given_up.wait(), 5)
        window.show()
        doctor.let_all_go()
        await until(lambda: len(window.rows) == 2 and window.again.isEnabled())
        window.hide()
        window.show()
        assert doctor.looks == 2, "fresh results are shown again"

    in_window(run_in_app, doctor, body)


def test_a_check_that_fails_says_so_and_may_be_tried_again(
    run_in_app: RunInApp[Any], caplog: pytest.LogCaptureFixture
) -> None:
    doctor = Doctor(LookupError("no disk"))

    async def body(window: ConnectionWindow) -> None:
        doctor.let_all_go()
        await until(lambda: window.headline.text() == "The check itself failed")
        assert window.again.isEnabled()

    in_window(run_in_app, doctor, body)
    assert "the connection check failed" in caplog.text


def test_everything_that_takes_the_focus_has_a_name(run_in_app: RunInApp[Any]) -> None:
    doctor = Doctor(GOOD, BAD_RELAY)

    async def body(window: ConnectionWindow) -> None:
        doctor.let_all_go()
        await until(lambda: window.again.isEnabled())
        for widget in window.findChildren(QWidget):
            if widget.focusPolicy().value and not widget.objectName().startswith("qt_"):
                assert widget.accessibleName() or getattr(widget, "text", str)(), widget
        names = [label.accessibleName() for label in window.rows[1].findChildren(QLabel)]
        assert "Problem: Relay: ws://r does not answer: connection refused" in names

    in_window(run_in_app, doctor, body)


def test_words_are_spoken_in_the_apps_language_with_the_words_in_them(qapp: QCoreApplication) -> None:
    class German(QTranslator):
        def translate(self, context: str, source: str, disambiguation: str = "", n: int = -1) -> str:
            known = {"{who} waits": "{who} wartet", "the relay": "das Relay"}
            return known.get(source, "") if context == "Test" else ""

        def isEmpty(self) -> bool:
            return False

    words = Words("Test", "{who} waits").format(who=QT_TRANSLATE_NOOP("Test", "the relay"))
    translator = German()
    QCoreApplication.installTranslator(translator)
    try:
        assert spoken(words) == "das Relay wartet" and words == "the relay waits"
        assert spoken("plain") == "plain" and spoken(Words("Test", "")) == ""
    finally:
        QCoreApplication.removeTranslator(translator)
