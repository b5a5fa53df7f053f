"""The one event loop of the app: asyncio and Qt in the same thread. The only module that imports qasync.

The main coroutine must end before Qt does: a loop that Qt stops under a running coroutine fails, and one
that is never closed aborts the process.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

# qasync picks the first binding it finds; this app has only one.
os.environ.setdefault("QT_API", "pyside6")

import qasync
from PySide6.QtWidgets import QApplication

# At DEBUG it writes several lines for every wake-up of the loop.
logging.getLogger("qasync").setLevel(logging.WARNING)

T = TypeVar("T")


def run_app(app: QApplication, main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run ``main()`` on a loop that serves Qt too, until it returns; then end the loop and give its result."""
    loop = qasync.QEventLoop(app)
    asyncio.set_event_loop(loop)
    # An application that ends when its last window is hidden would take the tray with it.
    app.setQuitOnLastWindowClosed(False)
    try:
        with loop:
            try:
                return loop.run_until_complete(main())  # type: ignore[no-any-return]
            finally:
                _cancel_all(loop)
                loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        asyncio.set_event_loop(None)


def _cancel_all(loop: asyncio.AbstractEventLoop) -> None:
    """As asyncio.run does at its end: what is left must not outlive the loop."""
    left = asyncio.all_tasks(loop)
    if not left:
        return
    for task in left:
        task.cancel()
    loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
    for task in left:
        if not task.cancelled() and task.exception() is not None:
            loop.call_exception_handler(
                {"message": "a task failed at the end of the app", "exception": task.exception(), "task": task}
            )
