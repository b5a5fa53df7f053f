"""Windows under test: drawn offscreen, on the loop the app has."""

from __future__ import annotations

import os

# Before Qt is first used; what a person's machine has set must not open windows there.
os.environ["QT_QPA_PLATFORM"] = "offscreen"
os.environ["QT_API"] = "pyside6"

from collections.abc import Callable, Coroutine, Iterator
from typing import Any, TypeVar

import pytest
from PySide6.QtCore import QCoreApplication, QLocale
from PySide6.QtWidgets import QApplication

from meshdesk.desktop import language
from meshdesk.desktop.event_loop import run_app
from meshdesk.desktop.theme import theme
from meshdesk.desktop.window import DeskWindow

T = TypeVar("T")
RunInApp = Callable[[Callable[[], Coroutine[Any, Any, T]]], T]


@pytest.fixture
def run_in_app(qapp: QApplication) -> RunInApp[Any]:
    """Run an asynchronous test's body on the app's own kind of loop: ``run_in_app(body)``."""

    def run(body: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        return run_app(qapp, body)

    return run


@pytest.fixture(autouse=True)
def as_the_app_looks(request: pytest.FixtureRequest) -> Iterator[None]:
    """Windows have the app's look in every test, and each test finds it light and English, whatever went before."""
    if "qapp" not in request.fixturenames and "qtbot" not in request.fixturenames:
        yield
        return
    qt = request.getfixturevalue("qapp")
    if not qt.styleSheet():
        theme().install(qt)
    theme().choose("light")
    yield
    DeskWindow.geometries = None
    DeskWindow.may_hide = staticmethod(lambda: True)
    DeskWindow.closed_to_tray = staticmethod(lambda: None)


@pytest.fixture
def back_to_english(qapp: QApplication) -> Iterator[None]:
    """Whatever language the test installs is gone after it."""
    before = QLocale()
    yield
    for translator in language._installed:
        QCoreApplication.removeTranslator(translator)
    language._installed.clear()
    QLocale.setDefault(before)
