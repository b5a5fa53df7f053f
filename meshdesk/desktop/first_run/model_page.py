"""Where the model goes: the folder, the room in it, and the room that is needed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QFileDialog, QFrame, QHBoxLayout, QPushButton, QVBoxLayout

from meshdesk.desktop.amounts import size_text
from meshdesk.desktop.background import Background
from meshdesk.desktop.first_run.failure_card import FailureCard
from meshdesk.desktop.first_run.page import Page, text_label
from meshdesk.desktop.theme import GRID, PADDING
from meshdesk.volunteer.model_place import ModelPlace, look_at, present_folder
from meshdesk.volunteer.settings import Settings


class ModelPage(Page):
    """The person cannot go on with a folder that nothing can be written to, or that is too small."""

    def __init__(self, settings: Settings, background: Background) -> None:
        super().__init__(QCoreApplication.translate("ModelPage", "Where the model goes"), background)
        self._folder = present_folder(settings.models_folder)
        self._chosen = False
        self._place: ModelPlace | None = None
        self.folder = text_label(str(self._folder), "title")
        self.room = text_label(self.tr("Looking at the folder…"), "muted")
        self.change = QPushButton(self.tr("Change…"))
        self.change.setAccessibleName(self.tr("Change the folder for models"))
        self.change.clicked.connect(self._open_dialog)
        self.failure = FailureCard()
        self.failure.retried.connect(self._look)
        card = QFrame()
        card.setProperty("role", "card")
        row = QHBoxLayout(card)
        row.setContentsMargins(PADDING, PADDING, PADDING, PADDING)
        row.setSpacing(2 * GRID)
        words = QVBoxLayout()
        words.setSpacing(GRID)
        words.addWidget(self.folder)
        words.addWidget(self.room)
        row.addLayout(words, 1)
        row.addWidget(self.change)
        self.column.addWidget(
            text_label(self.tr("The layers that this computer serves are kept here, so they are fetched only once."))
        )
        self.column.addWidget(card)
        self.column.addWidget(self.failure)
        self.column.addStretch(1)

    @property
    def complete(self) -> bool:
        return self._place is None or (self._place.writable and self._place.fits)

    def entered(self) -> None:
        self._look()

    def settings(self) -> Mapping[str, Any]:
        return {"models_folder": str(self._folder)} if self._chosen else {}

    def choose(self, folder: str) -> None:
        """Take another folder, "" for none."""
        if folder and Path(folder) != self._folder:
            self._folder, self._chosen = Path(folder), True
            self.folder.setText(folder)
            self._look()

    def _open_dialog(self) -> None:
        dialog = QFileDialog(self, self.tr("Folder for models"))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.fileSelected.connect(self.choose)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _look(self) -> None:
        self.start(self._find(self._folder), "look at the models folder", self._failed)

    async def _find(self, folder: Path) -> None:
        place = await asyncio.to_thread(look_at, folder)
        if folder != self._folder:
            return
        self._place = place
        self.room.setText(self._described(place))
        if not place.writable:
            words = self.tr("Nothing can be written to this folder. Choose another one, or allow it and try again.")
            self.failure.show_failure(words, f"not writable: {folder}")
        elif not place.fits:
            words = self.tr("There is too little room here: {needed} are needed, {free} are free.")
            self.failure.show_failure(
                words.format(needed=size_text(place.needed), free=size_text(place.free)), f"too small: {place}"
            )
        else:
            self.failure.hide()
        self.changed.emit()

    def _failed(self, error: Exception) -> None:
        self._place = None
        self.room.setText(self.tr("How much room there is cannot be told."))
        words = self.tr("This folder cannot be looked at. Choose another one, or try again.")
        self.failure.show_failure(words, f"{type(error).__name__}: {error}")
        self.changed.emit()

    def _described(self, place: ModelPlace) -> str:
        if not place.needed:
            return self.tr("{free} free. The small model that comes with meshdesk is here already.").format(
                free=size_text(place.free)
            )
        text = self.tr("{free} free. The small model that comes with meshdesk takes up to {needed}; others take more.")
        return text.format(free=size_text(place.free), needed=size_text(place.needed))
