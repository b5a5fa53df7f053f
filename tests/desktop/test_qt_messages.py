"""What Qt says goes into the log, and nowhere else."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QLoggingCategory, qCWarning, qDebug, qWarning

from meshdesk.desktop.logs.qt_messages import QtMessages
from meshdesk.volunteer.log_records import origin_of


@pytest.fixture
def messages() -> Iterator[QtMessages]:
    messages = QtMessages()
    yield messages
    messages.close()


def test_messages_are_logged_by_kind_and_category(messages: QtMessages, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    qDebug("a detail")
    qWarning("a warning of 100%")
    qCWarning(QLoggingCategory("qt.qpa.fonts"), "a font is missing")
    assert [(record.name, record.levelno, record.getMessage()) for record in caplog.records] == [
        ("qt", logging.DEBUG, "a detail"),
        ("qt", logging.WARNING, "a warning of 100%"),
        ("qt.qpa.fonts", logging.WARNING, "a font is missing"),
    ]
    assert {origin_of(record.name) for record in caplog.records} == {"qt"}


def test_a_handler_that_makes_qt_complain_does_not_go_round(messages: QtMessages) -> None:
    class Complaining(logging.Handler):
        seen = 0

        def emit(self, record: logging.LogRecord) -> None:
            self.seen += 1
            qWarning("again")

    handler = Complaining()
    logging.getLogger().addHandler(handler)
    qWarning("once")
    logging.getLogger().removeHandler(handler)
    assert handler.seen == 1


def test_after_close_they_go_where_they_went_before(qtlog: object, caplog: pytest.LogCaptureFixture) -> None:
    QtMessages().close()
    qDebug("not for us")
    assert not caplog.records
    assert [record.message for record in qtlog.records] == ["not for us"]  # type: ignore[attr-defined]
