"""What Qt has to say goes into the log instead of to standard error."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler

from meshdesk.volunteer.log_records import QT_LOGGER

_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}


class QtMessages:
    """Logs Qt's messages under ``qt`` and its categories, from its making to ``close``."""

    def __init__(self) -> None:
        self._inside = threading.local()
        self._take: Callable[[QtMsgType, QMessageLogContext, str], None] = self._log
        self._before: Any = qInstallMessageHandler(self._take)

    def close(self) -> None:
        """Give the messages back to who had them before."""
        qInstallMessageHandler(self._before)

    def _log(self, kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
        # A listener of the log that makes Qt complain must not be asked to log that too.
        if getattr(self._inside, "busy", False):
            return
        self._inside.busy = True
        try:
            logging.getLogger(_logger_name(context.category)).log(_LEVELS.get(kind, logging.WARNING), "%s", message)
        finally:
            self._inside.busy = False


def _logger_name(category: str | None) -> str:
    if not category or category == "default":
        return QT_LOGGER
    return category if category.startswith(f"{QT_LOGGER}.") else f"{QT_LOGGER}.{category}"
