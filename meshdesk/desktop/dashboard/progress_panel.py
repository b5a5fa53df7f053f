"""While the node starts, one bar in the chart's place: what is being done, how much of it, and a way out."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from meshdesk.desktop.actions import Actions
from meshdesk.desktop.dashboard.card import set_text
from meshdesk.desktop.sentences import progress_text
from meshdesk.desktop.theme import GRID, PADDING
from meshdesk.volunteer.status import Status

STEPS = 1000
BAR_WIDTH = 360


class ProgressPanel(QWidget):
    """Also read out: the bar has a name and a value."""

    def __init__(self, actions: Actions):
        super().__init__()
        self.text = QLabel()
        self.text.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.text.setWordWrap(True)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(BAR_WIDTH)
        self.bar.setAccessibleName(self.tr("Progress of joining"))
        self.cancel = QPushButton(self.tr("&Cancel"))
        self.cancel.clicked.connect(actions.leave)
        column = QVBoxLayout(self)
        column.setContentsMargins(PADDING, PADDING, PADDING, PADDING)
        column.setSpacing(2 * GRID)
        column.addStretch()
        column.addWidget(self.text)
        column.addWidget(self.bar)
        column.setAlignment(self.bar, Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(self.cancel, 0, Qt.AlignmentFlag.AlignCenter)
        column.addStretch()

    def show_status(self, status: Status) -> None:
        """Say how far the start is; a bar that runs to and fro where nobody knows."""
        text = progress_text(status.progress, status.shard)
        set_text(self.text, text)
        fraction = status.progress.fraction if status.progress is not None else None
        # Qt animates a bar without an end by itself; a still one would look stuck.
        self.bar.setRange(0, STEPS if fraction is not None else 0)
        if fraction is not None:
            self.bar.setValue(round(fraction * STEPS))
        self.bar.setAccessibleDescription(text)
