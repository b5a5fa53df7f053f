"""What was found in this computer, and how much of it to lend."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QCoreApplication, QLocale, Qt
from PySide6.QtWidgets import QFormLayout, QHBoxLayout, QSlider, QSpinBox, QWidget

from meshdesk.desktop.amounts import size_text
from meshdesk.desktop.background import Background
from meshdesk.desktop.first_run.failure_card import FailureCard
from meshdesk.desktop.first_run.page import Page, text_label
from meshdesk.desktop.theme import GRID
from meshdesk.volunteer.hardware import (
    LEAST_MB,
    SPARED_MB,
    STEP_MB,
    Hardware,
    find_hardware,
    proposed_memory_limit_mb,
    proposed_threads,
)

MB = 1_000_000
FIELD_PX = 120


class HardwarePage(Page):
    """A slider and a number for memory, and a number of threads; both proposed."""

    def __init__(self, background: Background) -> None:
        super().__init__(QCoreApplication.translate("HardwarePage", "How much to lend"), background)
        self._hardware: Hardware | None = None
        self._looking = False
        self.found = text_label(self.tr("Looking at this computer…"), "muted")
        self.failure = FailureCard()
        self.failure.retried.connect(self._look)
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName(self.tr("Memory limit"))
        self.memory = QSpinBox()
        self.memory.setAccessibleName(self.tr("Memory limit in megabytes"))
        self.threads = QSpinBox()
        self.threads.setAccessibleName(self.tr("Threads"))
        self.memory.setSuffix(self.tr(" MB"))
        self.memory.setGroupSeparatorShown(True)
        self.memory.setLocale(QLocale())
        self.memory.setSingleStep(STEP_MB)
        for each in (self.memory, self.threads):
            each.setMinimumWidth(FIELD_PX)
            each.lineEdit().setTextMargins(GRID, 0, 0, 0)
        self.slider.valueChanged.connect(lambda steps: self.memory.setValue(steps * STEP_MB))
        self.memory.valueChanged.connect(self._memory_changed)
        self.left = text_label(role="caption")
        self._choice = QWidget()
        form = QFormLayout(self._choice)
        form.setContentsMargins(0, 0, 0, 0)
        form.setHorizontalSpacing(2 * GRID)
        form.setVerticalSpacing(GRID)
        row = QHBoxLayout()
        row.setSpacing(2 * GRID)
        row.addWidget(self.slider, 1)
        row.addWidget(self.memory)
        form.addRow(self.tr("Memory limit"), row)
        form.addRow("", self.left)
        few = QHBoxLayout()
        few.addWidget(self.threads)
        few.addStretch(1)
        form.addRow(self.tr("Threads"), few)
        form.addRow("", text_label(self.tr("Fewer leave this computer quicker for you."), "caption"))
        self.column.addWidget(self.found)
        self.column.addWidget(self.failure)
        self.column.addWidget(self._choice)
        self.column.addStretch(1)
        self._choice.hide()

    def entered(self) -> None:
        if self._hardware is None and not self._looking:
            self._look()

    def settings(self) -> Mapping[str, Any]:
        if self._hardware is None:
            return {}
        threads = self.threads.value()
        return {"memory_limit_mb": self.memory.value(), "threads": 0 if threads == self._hardware.cores else threads}

    def _look(self) -> None:
        self._looking = True
        self.failure.hide()
        self.found.show()
        self.start(self._find(), "look at the hardware", self._failed)

    async def _find(self) -> None:
        hardware = await find_hardware()
        self._looking = False
        self._hardware = hardware
        self.found.setText(self._described(hardware))
        most = max(LEAST_MB, hardware.memory_total // MB // STEP_MB * STEP_MB)
        # The number first: the slider follows it, and would else cut it to its old range.
        self.memory.setRange(LEAST_MB, most)
        self.slider.setRange(LEAST_MB // STEP_MB, most // STEP_MB)
        self.slider.setPageStep(max(1, most // STEP_MB // 10))
        self.memory.setValue(proposed_memory_limit_mb(hardware.memory_available))
        self.threads.setRange(1, hardware.cores)
        self.threads.setValue(proposed_threads(hardware.cores))
        self._memory_changed(self.memory.value())
        self._choice.show()
        self.changed.emit()

    def _failed(self, error: Exception) -> None:
        self._looking = False
        self.found.hide()
        words = self.tr("This computer could not be looked at. You can go on; half of the free memory is lent then.")
        self.failure.show_failure(words, f"{type(error).__name__}: {error}")

    def _memory_changed(self, megabytes: int) -> None:
        self.slider.blockSignals(True)
        self.slider.setValue(round(megabytes / STEP_MB))
        self.slider.blockSignals(False)
        if self._hardware is None:
            return
        left = self._hardware.memory_available - megabytes * MB
        if left < SPARED_MB * MB // 2:
            text = self.tr("That leaves very little for other programs.")
        else:
            text = self.tr("Leaves {amount} for everything else.").format(amount=size_text(left))
        self.left.setText(text)

    def _described(self, hardware: Hardware) -> str:
        memory = self.tr("Memory: {free} of {total} free.").format(
            free=size_text(hardware.memory_available), total=size_text(hardware.memory_total)
        )
        cores = self.tr("Processor: %n core(s).", "", hardware.cores)
        if hardware.processor:
            cores = self.tr("Processor: {name}, {cores} cores.").format(name=hardware.processor, cores=hardware.cores)
        if hardware.gpus:
            cards = self.tr("Graphics: {cards}, not used by this version.").format(cards=", ".join(hardware.gpus))
        else:
            cards = self.tr("Graphics: no card found; the processor computes.")
        return "\n".join((cores, memory, cards))
