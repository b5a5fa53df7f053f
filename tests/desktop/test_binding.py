"""The Qt binding that is installed keeps count of None: one that loses references aborts after some thousand calls."""

from __future__ import annotations

import sys

from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

CALLS = 1000


def test_calls_that_return_nothing_keep_none_alive(qtbot: QtBot) -> None:
    label = QLabel()
    qtbot.addWidget(label)
    before = sys.getrefcount(None)
    for _ in range(CALLS):
        label.setText("text")
    assert abs(sys.getrefcount(None) - before) < 50
