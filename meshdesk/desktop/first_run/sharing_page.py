"""What a volunteer shares, and what others can see: in plain words, before anything is shared."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QGridLayout, QLabel

from meshdesk.desktop.first_run.page import Page, text_label
from meshdesk.desktop.icons import ui_icon
from meshdesk.desktop.theme import GRID, Token, theme

ICON_PX = 20


class SharingPage(Page):
    """Facts with an icon each."""

    def __init__(self) -> None:
        super().__init__(QCoreApplication.translate("SharingPage", "What you share, and what others can see"))
        facts = (
            (
                "computer",
                self.tr("You share"),
                self.tr("Spare processor time and memory, to compute a part of a language model. Nothing else."),
            ),
            (
                "wifi",
                self.tr("Others see"),
                self.tr("Your display name, and this computer's address, or only the relay's if you use one."),
            ),
            (
                "chat",
                self.tr("Others could read"),
                self.tr(
                    "What you ask the mesh: it travels through other people's computers as numbers, and they "
                    "could be turned back into words. Keep secrets out of your chats."
                ),
            ),
            (
                "check",
                self.tr("Nobody sees"),
                self.tr("Your files, your other programs, and what you do when you do not chat with the mesh."),
            ),
            (
                "stop",
                self.tr("To stop"),
                self.tr("Choose Pause or Leave mesh in the menu of the tray icon, at any time."),
            ),
        )
        self._icons: list[tuple[QLabel, str]] = []
        grid = QGridLayout()
        grid.setHorizontalSpacing(2 * GRID)
        grid.setVerticalSpacing(2 * GRID)
        grid.setColumnStretch(2, 1)
        for row, (icon, name, words) in enumerate(facts):
            picture = QLabel()
            picture.setFixedWidth(ICON_PX)
            self._icons.append((picture, icon))
            top = Qt.AlignmentFlag.AlignTop
            grid.addWidget(picture, row, 0, top)
            title = text_label(name, "title")
            title.setWordWrap(False)
            grid.addWidget(title, row, 1, top)
            grid.addWidget(text_label(words), row, 2, top)
        self.column.addLayout(grid)
        self.column.addStretch(1)
        theme().changed.connect(self._draw)
        self._draw()

    def _draw(self) -> None:
        for label, icon in self._icons:
            label.setPixmap(ui_icon(icon, Token.DIRECT).pixmap(ICON_PX, ICON_PX))
