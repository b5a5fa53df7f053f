"""The models on the disk among the settings: where they lie and how much room each takes."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from meshdesk.desktop.amounts import size_text
from meshdesk.desktop.background import Background
from meshdesk.desktop.icons import ui_icon
from meshdesk.desktop.theme import GRID, PADDING, text_font
from meshdesk.volunteer.kept_models import KeptModel, hub_cache, kept_models

MAX_SHOWN = 50


class StorageRow(QFrame):
    """``reread`` when it is shown: nothing is counted before."""

    def __init__(self, background: Background):
        super().__init__()
        self._background = background
        self._work: asyncio.Task[Any] | None = None
        self._directory = Path()
        self.setProperty("role", "row")
        self.path = QLabel()
        self.path.setWordWrap(True)
        self.path.setMinimumWidth(1)
        self.path.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.free = QLabel(self.tr("Counting…"))
        self.free.setProperty("role", "caption")
        self.free.setWordWrap(True)
        self.free.setMinimumWidth(1)
        self.open = QPushButton(ui_icon("folder"), self.tr("Open folder"))
        self.open.setAccessibleName(self.tr("Open the folder of the models"))
        self.open.setEnabled(False)
        self.open.clicked.connect(self._open)
        self._list = QWidget()
        self._grid = QGridLayout(self._list)
        self._grid.setContentsMargins(0, GRID, 0, 0)
        self._grid.setHorizontalSpacing(2 * GRID)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(0, 1)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(self.path)
        texts.addWidget(self.free)
        head = QHBoxLayout()
        head.setSpacing(2 * GRID)
        head.addLayout(texts, 1)
        head.addWidget(self.open, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(PADDING, PADDING - 4, PADDING, PADDING)
        column.addLayout(head)
        column.addWidget(self._list)

    def reread(self) -> None:
        """Count again, beside the loop; a count that goes on is not begun anew."""
        if self._work is None or self._work.done():
            self._work = self._background.start(self._count(), "counting the models' sizes")

    def stop(self) -> None:
        """Nobody looks any more."""
        if self._work is not None:
            self._work.cancel()

    def matches(self, words: list[str]) -> bool:
        """As a setting's row."""
        said = self.tr("Storage: folder, size and free space of the models").casefold()
        return all(word in said for word in words)

    async def _count(self) -> None:
        self._take(*await asyncio.to_thread(_look))

    def _take(self, directory: Path, there: bool, free: int | None, models: list[KeptModel]) -> None:
        self._directory = directory
        self.path.setText(str(directory))
        self.path.setAccessibleName(self.tr("Folder of the models: {path}").format(path=directory))
        self.open.setEnabled(there)
        self.free.setText(
            self.tr("{used} used by models, {free} free on this disk").format(
                used=size_text(sum(model.size for model in models)), free=size_text(free)
            )
        )
        while (item := self._grid.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        if not models:
            self._grid.addWidget(_caption(self.tr("No models yet. The first one comes when you join a mesh.")), 0, 0)
        for line, model in enumerate(models[:MAX_SHOWN]):
            name = QLabel(model.name)
            name.setWordWrap(True)
            name.setMinimumWidth(1)
            name.setToolTip(str(model.directory))
            size = QLabel(size_text(model.size))
            size.setFont(text_font())
            origin = self.tr("shared with other programs") if model.downloaded else self.tr("made by meshdesk")
            self._grid.addWidget(name, 2 * line, 0)
            self._grid.addWidget(_caption(origin), 2 * line + 1, 0)
            self._grid.addWidget(size, 2 * line, 1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
        if len(models) > MAX_SHOWN:
            rest = self.tr("and %n more", "", len(models) - MAX_SHOWN)
            self._grid.addWidget(_caption(rest), 2 * MAX_SHOWN, 0)

    def _open(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._directory)))


def _look() -> tuple[Path, bool, int | None, list[KeptModel]]:
    """Folder, whether it is there, free octets on its disk, and what lies in it; blocks."""
    from meshdesk.shard.model_source import cache_root

    directory = cache_root()
    place = directory
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        free: int | None = shutil.disk_usage(place).free
    except OSError:
        free = None
    return directory, directory.is_dir(), free, kept_models(directory, hub_cache())


def _caption(text: str) -> QLabel:
    label = QLabel(text)
    label.setProperty("role", "caption")
    label.setWordWrap(True)
    label.setMinimumWidth(1)
    return label
