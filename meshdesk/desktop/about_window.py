"""About: which version this is, on what it runs, and under which terms it is given."""

from __future__ import annotations

import platform

from PySide6.QtCore import Qt, qVersion
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout

from meshdesk import __version__
from meshdesk.desktop.icons import mark_pixmap
from meshdesk.desktop.theme import GRID, PADDING, theme
from meshdesk.desktop.window import DeskWindow

MARK_PX = 48


class AboutWindow(DeskWindow):
    """A small window of fixed size; its text can be selected, for reports."""

    def __init__(self) -> None:
        super().__init__("about", self.tr("About meshdesk"))
        self._mark = QLabel()
        self._mark.setAccessibleName(self.tr("The mark of meshdesk"))
        name = QLabel("meshdesk")
        name.setProperty("role", "headline")
        what = QLabel(
            self.tr("Lends this computer to a mesh that runs large language models, and shows every token's hop.")
        )
        what.setWordWrap(True)
        versions = QLabel(
            self.tr("Version {version} · Python {python} · Qt {qt}").format(
                version=__version__, python=platform.python_version(), qt=qVersion()
            )
        )
        versions.setProperty("role", "muted")
        licence = QLabel(self.tr("Free software under the Apache License 2.0. Qt is used under the LGPL, version 3."))
        licence.setProperty("role", "caption")
        licence.setWordWrap(True)
        for label in (what, versions, licence):
            label.setTextInteractionFlags(
                Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
            )
            label.setAccessibleName(label.text())
        close = QPushButton(self.tr("&Close"))
        close.clicked.connect(self.close)
        buttons = QHBoxLayout()
        buttons.addStretch()
        buttons.addWidget(close)
        text = QVBoxLayout()
        text.setSpacing(GRID)
        for widget in (name, what, versions, licence):
            text.addWidget(widget)
        text.addStretch()
        text.addLayout(buttons)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(2 * PADDING, 2 * PADDING, 2 * PADDING, 2 * PADDING)
        layout.setSpacing(2 * GRID)
        layout.addWidget(self._mark, 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(text, 1)
        self.setFixedSize(440, 240)
        theme().changed.connect(self._draw_mark)
        self._draw_mark()

    def _draw_mark(self) -> None:
        self._mark.setPixmap(mark_pixmap(MARK_PX, self.devicePixelRatioF()))
