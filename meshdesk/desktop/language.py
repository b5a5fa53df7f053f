"""The app's language: its own translations and Qt's, installed and exchanged while it runs."""

from __future__ import annotations

import logging
import os
from importlib import resources

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, Qt, QTranslator
from PySide6.QtGui import QGuiApplication

log = logging.getLogger(__name__)

LANGUAGES = ("en", "de")
PSEUDO = "pseudo"
"""Longer and marked texts, to see what would not fit or was forgotten; chosen by environment for tests."""
LANGUAGE_VARIABLE = "MESHDESK_LANGUAGE"
_installed: list[QTranslator] = []


def chosen_language(choice: str) -> str:
    """``en`` or ``de`` for a setting, which may be ``system``: then the first of the person's languages there is."""
    forced = os.environ.get(LANGUAGE_VARIABLE, "")
    if forced:
        return forced
    if choice in LANGUAGES:
        return choice
    for name in QLocale.system().uiLanguages():
        if name[:2] in LANGUAGES:
            return name[:2]
    return "en"


def install_language(choice: str) -> str:
    """Translate the app's and Qt's texts from now on; what is on screen already must be made anew. The language."""
    language = chosen_language(choice)
    for translator in _installed:
        QCoreApplication.removeTranslator(translator)
    _installed.clear()
    if language == PSEUDO:
        _install(_PseudoTranslator())
        return language
    locale = QLocale(language)
    system = QLocale.system()
    # The person's own way of writing numbers and dates, where their system speaks the same language.
    QLocale.setDefault(system if system.language() == locale.language() else locale)
    QGuiApplication.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
    qt = QTranslator()
    if language != "en" and qt.load(f"qtbase_{language}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
        _install(qt)
    own = QTranslator()
    # English too: it has the plurals.
    data = resources.files("meshdesk.resources").joinpath("translations", f"meshdesk_{language}.qm")
    if own.load(str(data)):
        _install(own)
    else:
        log.warning("there is no translation for %s", language)
    return language


def _install(translator: QTranslator) -> None:
    QCoreApplication.installTranslator(translator)
    # Qt keeps no reference of its own to it.
    _installed.append(translator)


class _PseudoTranslator(QTranslator):
    """Every text 40 % longer and in brackets, with accents: what stays as it was, was never marked."""

    def translate(self, context: str, source: str, disambiguation: str | None = None, n: int = -1) -> str:
        text = source.replace("%n", str(n)) if n >= 0 else source
        padding = "~" * max(1, round(len(text) * 0.4))
        return f"[{text}{padding}]"

    def isEmpty(self) -> bool:
        return False
