"""A fault is told once, whole, and without a word over the network."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from meshdesk.desktop.fault_notice import MAX_SHOWN, FaultNotice, FaultNotices
from meshdesk.volunteer.log_records import LogLine
from meshdesk.volunteer.log_setup import Fault, LogStream
from tests.desktop.recorded_actions import RecordedActions


@pytest.fixture
def stream(tmp_path: Path) -> Iterator[LogStream]:
    stream = LogStream.install(tmp_path)
    yield stream
    stream.close()


def fail_in_thread(kind: type[Exception] = ValueError) -> None:
    def fail() -> None:
        raise kind("token=abcdef")

    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()


def test_a_fault_of_any_thread_is_shown_once_a_kind(qtbot: QtBot, stream: LogStream) -> None:
    fail_in_thread()
    notices = FaultNotices(stream.listen_to_faults, RecordedActions())
    qtbot.waitUntil(lambda: notices.notice is not None)
    notice = notices.notice
    assert notice is not None and notice.isVisible() and notice.windowTitle() == "meshdesk met a fault"
    text = notice.text.toPlainText()
    assert "Traceback" in text and "in fail" in text and "token=[removed]" in text and "abcdef" not in text
    fail_in_thread()
    fail_in_thread(KeyError)
    qtbot.waitUntil(lambda: "KeyError" in notice.text.toPlainText())
    assert notice.text.toPlainText().count("Traceback") == 2
    notices.close()
    fail_in_thread(LookupError)
    assert notices.notice is None


def a_fault(number: int = 1) -> Fault:
    return Fault(LogLine(number, 0.0, logging.ERROR, "fault", "meshdesk.fault", f"failed {number}", "Traceback…"), "g")


def test_keys_pressed_at_once_do_nothing_but_close(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def no_network(*args: object) -> None:
        raise AssertionError("a fault went to the network")

    monkeypatch.setattr(socket.socket, "connect", no_network)
    actions = RecordedActions()
    notice = FaultNotice(actions)
    qtbot.addWidget(notice)
    notice.add(a_fault())
    assert notice.testAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
    assert notice.focusWidget() is notice.dismiss
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
        qtbot.keyClick(notice.focusWidget(), key)
    assert not notice.isVisible() and actions.done == []


def test_its_buttons_copy_and_lead_to_the_diagnostics(qtbot: QtBot) -> None:
    actions = RecordedActions()
    notice = FaultNotice(actions)
    qtbot.addWidget(notice)
    notice.add(a_fault())
    qtbot.mouseClick(notice.copy, Qt.MouseButton.LeftButton)
    assert "failed 1" in QGuiApplication.clipboard().text() and "Traceback…" in QGuiApplication.clipboard().text()
    qtbot.mouseClick(notice.export, Qt.MouseButton.LeftButton)
    assert actions.done == ["show diagnostics"]


def test_many_faults_stay_readable(qtbot: QtBot) -> None:
    notice = FaultNotice(RecordedActions())
    qtbot.addWidget(notice)
    for number in range(MAX_SHOWN + 3):
        notice.add(a_fault(number))
    assert notice.details().count("Traceback…") == MAX_SHOWN and "(3 more in the log)" in notice.details()
    notice.close()
    notice.add(a_fault(99))
    assert notice.details().count("Traceback…") == 1, "what was seen and closed is not shown again"
