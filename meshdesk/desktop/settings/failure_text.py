"""What a person is told of a change that failed."""

from __future__ import annotations

import logging

from PySide6.QtCore import QCoreApplication

from meshdesk.desktop.spoken_words import spoken
from meshdesk.protocol.errors import MeshdeskError

log = logging.getLogger(__name__)


def failure_text(error: Exception) -> str:
    """What happened and what to do, in the app's language; a fault of the program goes to the log."""
    if isinstance(error, MeshdeskError):
        return " ".join(spoken(each) for each in (error.message, error.hint) if each)
    log.error("a change of the settings failed", exc_info=error)
    return QCoreApplication.translate("Settings", "This did not work. The log says more.")
