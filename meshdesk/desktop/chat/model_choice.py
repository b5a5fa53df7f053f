"""Which of the mesh's models answers; seen only where there is a choice."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QComboBox, QWidget

from meshdesk.volunteer.chat_client import printable
from meshdesk.volunteer.layers import show_layers
from meshdesk.volunteer.tracker_lists import MeshModel

MAX_LABEL_CHARS = 60


class ModelChoice(QComboBox):
    """The first entry leaves the choice to the mesh."""

    def __init__(self, parent: QWidget | None = None):
        super().__init__(parent)
        self.setAccessibleName(self.tr("Model"))
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.offer(())

    @property
    def chosen(self) -> str | None:
        """The model to ask for; None leaves it to the mesh."""
        return self.currentData() if self.count() > 1 else None

    def offer(self, models: Sequence[MeshModel]) -> None:
        """Show ``models``; the present choice stays while the mesh has it."""
        with QSignalBlocker(self):
            before = self.currentData()
            self.clear()
            self.addItem(self.tr("The mesh's choice"), None)
            if len(models) > 1:
                for model in models:
                    self.addItem(self._label(model), model.name)
            self.setCurrentIndex(max(0, self.findData(before)))
        self.setVisible(self.count() > 1)

    def _label(self, model: MeshModel) -> str:
        name = printable(model.name)
        name = name if len(name) <= MAX_LABEL_CHARS else name[: MAX_LABEL_CHARS - 1] + "…"
        if model.ready:
            return name
        if not model.missing:
            return self.tr("{model} (not ready)").format(model=name)
        return self.tr("{model} (layers {layers} missing)").format(model=name, layers=show_layers(*model.missing[0]))
