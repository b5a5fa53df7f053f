"""The last questions: a name for others to see, and whether to start with the computer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QCheckBox, QLineEdit, QVBoxLayout

from meshdesk.desktop.first_run.page import Page, text_label
from meshdesk.desktop.theme import GRID
from meshdesk.volunteer.settings import NO_NAME, Settings
from meshdesk.volunteer.settings_refusal import SettingRefused, check_values

MAX_NAME_CHARS = 32


class AppPage(Page):
    """Autostart is off until somebody ticks it."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(QCoreApplication.translate("AppPage", "Almost there"))
        self._present = settings
        self.name = QLineEdit(settings.display_name)
        self.name.setAccessibleName(self.tr("Display name"))
        self.name.setPlaceholderText(self.tr("Nobody in particular"))
        self.name.setMaxLength(MAX_NAME_CHARS)
        self.wrong = text_label(role="error")
        self.wrong.hide()
        self.autostart = QCheckBox(self.tr("Start meshdesk, in the tray, when I log in"))
        name = QVBoxLayout()
        name.setSpacing(GRID // 2)
        label = text_label(self.tr("Display name"), "title")
        label.setBuddy(self.name)
        name.addWidget(label)
        name.addWidget(self.name)
        name.addWidget(self.wrong)
        name.addWidget(
            text_label(self.tr("What others in the mesh see. Empty: a part of this computer's random id."), "caption")
        )
        self.column.addLayout(name)
        self.column.addWidget(self.autostart)
        self.column.addWidget(text_label(self.tr("Both can be changed in the settings at any time."), "caption"))
        self.column.addStretch(1)
        self.name.textEdited.connect(self._show)

    @property
    def complete(self) -> bool:
        try:
            check_values(self._present, {"display_name": self.name.text()})
        except SettingRefused:
            return False
        return True

    def settings(self) -> Mapping[str, Any]:
        name = check_values(self._present, {"display_name": self.name.text()}).display_name
        return {"display_name": name} if name != self._present.display_name else {}

    def _show(self) -> None:
        self.wrong.setText("" if self.complete else QCoreApplication.translate("Settings", NO_NAME))
        self.wrong.setVisible(not self.complete)
        self.changed.emit()
