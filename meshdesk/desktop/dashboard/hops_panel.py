"""Per-token hop latency: the chart or the table, and each seam's figures below; or what will be here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from meshdesk.desktop.actions import Actions, Window
from meshdesk.desktop.background import Background
from meshdesk.desktop.dashboard.hop_table import HopTable
from meshdesk.desktop.dashboard.latency_chart import LatencyChart
from meshdesk.desktop.dashboard.progress_panel import ProgressPanel
from meshdesk.desktop.dashboard.seam_figures import SeamFigures
from meshdesk.desktop.icons import ui_icon
from meshdesk.desktop.theme import GRID, PADDING
from meshdesk.volunteer.hop_history import HopHistory
from meshdesk.volunteer.status import Phase, Status

WINDOW_S = 60.0
FIGURES_S, AGING_S = 0.5, 1.0
CHART, TABLE = 0, 1


class HopsPanel(QFrame):
    """A card; ``clock`` is Unix seconds. Chart and table show the same records, so neither is needed to read them."""

    def __init__(self, hops: HopHistory, actions: Actions, background: Background, clock: Callable[[], float]):
        super().__init__()
        self.setProperty("role", "card")
        self._hops = hops
        self._actions = actions
        self._clock = clock
        self._seen = -1
        self._figured_at = 0.0
        self._try_does: Callable[[], None] = actions.join
        self._try = QPushButton()
        self.chart = LatencyChart(hops, clock)
        self.table = HopTable(hops, background)
        self.figures = SeamFigures()
        self.progress = ProgressPanel(actions)
        self._empty = self._empty_state()
        self._views = QStackedWidget()
        self._views.addWidget(self.chart)
        self._views.addWidget(self.table)
        self._with_hops = QWidget()
        column = QVBoxLayout(self._with_hops)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        column.addWidget(self._views, 1)
        column.addWidget(self.figures)
        self._states = QStackedWidget()
        for state in (self._empty, self.progress, self._with_hops):
            self._states.addWidget(state)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(PADDING, PADDING, PADDING, PADDING)
        layout.setSpacing(GRID)
        layout.addLayout(self._heading())
        layout.addWidget(self._states, 1)

    def show_status(self, status: Status, names: Mapping[tuple[int, int], str]) -> None:
        """Choose between what will be here, the start's bar, and the hops."""
        starting = status.phase is Phase.STARTING
        state: QWidget = self.progress if starting else self._with_hops if len(self._hops) else self._empty
        if self._states.currentWidget() is not state:
            self._states.setCurrentWidget(state)
        self._switch.setEnabled(state is self._with_hops)
        if starting:
            self.progress.show_status(status)
        serving = status.phase is Phase.SERVING
        self._try.setVisible(serving or status.phase is Phase.OFF)
        if serving:
            text = self.tr("No hops yet. They appear with the first chat; try one.")
        else:
            text = self.tr("Every token's way through the mesh will be drawn here once you have joined.")
        if self._empty_text.text() != text:
            self._empty_text.setText(text)
        # Without letters of their own: the same steps have theirs in the head and the foot of the window.
        self._try.setText(self.tr("Try a chat") if serving else self.tr("Join mesh"))
        self._try_does = (lambda: self._actions.show(Window.CHAT)) if serving else self._actions.join
        self.chart.set_names(names)
        self.refresh(names)

    def refresh(self, names: Mapping[tuple[int, int], str]) -> None:
        """Take in new records twice a second, which is as fast as figures can be read; old ones age once a second."""
        now = self._clock()
        if self._states.currentWidget() is not self._with_hops:
            return
        if now - self._figured_at < (AGING_S if self._hops.version == self._seen else FIGURES_S):
            return
        self._seen, self._figured_at = self._hops.version, now
        self.figures.show_stats(self._hops.stats(now - WINDOW_S), names)
        if self.table.isVisible():
            self.table.refresh()

    def show_table(self, table: bool) -> None:
        """The table instead of the chart, or back."""
        self._views.setCurrentIndex(TABLE if table else CHART)
        if table:
            self.table.refresh()

    def _heading(self) -> QHBoxLayout:
        title = QLabel(self.tr("Per-token hop latency"))
        title.setProperty("role", "title")
        self._span = QLabel(self.tr("last 60 s"))
        self._span.setProperty("role", "caption")
        self._switch = QWidget()
        buttons = QHBoxLayout(self._switch)
        buttons.setContentsMargins(0, 0, 0, 0)
        buttons.setSpacing(0)
        self._group = QButtonGroup(self)
        for index, text in ((CHART, self.tr("&Chart")), (TABLE, self.tr("Ta&ble"))):
            button = QPushButton(text)
            button.setCheckable(True)
            button.setProperty("segment", "true")
            button.setChecked(index == CHART)
            self._group.addButton(button, index)
            buttons.addWidget(button)
        self._group.idClicked.connect(lambda index: self.show_table(index == TABLE))
        heading = QHBoxLayout()
        heading.setSpacing(2 * GRID)
        heading.addWidget(title)
        heading.addWidget(self._span)
        heading.addStretch()
        heading.addWidget(self._switch)
        return heading

    def _empty_state(self) -> QWidget:
        empty = QWidget()
        mark = QLabel()
        mark.setPixmap(ui_icon("relay").pixmap(32, 32))
        self._empty_text = QLabel()
        self._empty_text.setProperty("role", "muted")
        self._empty_text.setWordWrap(True)
        self._empty_text.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._try.clicked.connect(lambda: self._try_does())
        column = QVBoxLayout(empty)
        column.setSpacing(GRID)
        column.addStretch()
        column.addWidget(mark, 0, Qt.AlignmentFlag.AlignCenter)
        column.addWidget(self._empty_text)
        column.addWidget(self._try, 0, Qt.AlignmentFlag.AlignCenter)
        column.addStretch()
        return empty
