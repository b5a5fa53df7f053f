"""The dashboard: am I in, how do people reach me, how fast is each hop. One calm window that shows the status."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QIcon, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from meshdesk.desktop.actions import Actions, Window
from meshdesk.desktop.background import Background
from meshdesk.desktop.dashboard.banner import Banner
from meshdesk.desktop.dashboard.connection_card import ConnectionCard
from meshdesk.desktop.dashboard.given_card import GivenCard
from meshdesk.desktop.dashboard.header import Header
from meshdesk.desktop.dashboard.hops_panel import HopsPanel
from meshdesk.desktop.dashboard.route_strip import RouteStrip, node_name
from meshdesk.desktop.dashboard.seam_figures import SeamFigures
from meshdesk.desktop.dashboard.shard_card import ShardCard
from meshdesk.desktop.icons import ui_icon
from meshdesk.desktop.theme import GRID
from meshdesk.desktop.window import DeskWindow
from meshdesk.volunteer.hop_history import HopHistory
from meshdesk.volunteer.status import Phase, Status

SIZE = (900, 640)
LEAST = (640, 480)
GAP_MS = 200
"""The least time between two refreshes: five a second are as many as a person reads."""
TICK_MS = 1000
"""How often times and speeds are renewed while nothing else changes."""
CARDS_BESIDE = 760
HOPS_HEIGHT = 224


class DashboardWindow(DeskWindow):
    """Shows ``status``; it holds nothing of its own. Hidden, it neither listens nor ticks nor paints."""

    def __init__(
        self,
        status: Callable[[], Status],
        hops: HopHistory,
        listen: Callable[[Callable[[], None]], Callable[[], None]],
        actions: Actions,
        background: Background,
        *,
        clock: Callable[[], float] = time.time,
    ):
        super().__init__("dashboard", "meshdesk")
        self._status = status
        self._listen = listen
        self._actions = actions
        self._clock = clock
        self._unlisten: Callable[[], None] | None = None
        self.header = Header(actions)
        self.banner = Banner(actions)
        self.route_strip = RouteStrip()
        self.hops_panel = HopsPanel(hops, actions, background, clock)
        self.connection = ConnectionCard(actions)
        self.shard = ShardCard(actions)
        self.given = GivenCard()
        self._links: list[tuple[QPushButton, str]] = []
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(GAP_MS)
        self._soon.timeout.connect(self.refresh)
        self._ticking = QTimer(self)
        self._ticking.setInterval(TICK_MS)
        self._ticking.timeout.connect(self.refresh)
        self._lay_out()
        self.set_actions(actions)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setMinimumSize(*LEAST)
        self.resize(*SIZE)

    @property
    def seam_figures(self) -> SeamFigures:
        return self.hops_panel.figures

    @property
    def running(self) -> bool:
        """Whether it listens and ticks, which it does only while it is seen."""
        return self._unlisten is not None

    def refresh(self) -> None:
        """Show what is true now."""
        status, now = self._status(), self._clock()
        self.header.show_status(status, now)
        self.banner.show_status(status, now)
        self.route_strip.show_status(status)
        self.route_strip.setVisible(bool(status.route))
        self.hops_panel.show_status(status, _names(status))
        self.connection.show_status(status, now)
        self.shard.show_status(status, now)
        self.given.show_status(status, now)
        ticks = status.phase is not Phase.OFF
        if ticks and not self._ticking.isActive():
            self._ticking.start()
        elif not ticks:
            self._ticking.stop()

    def shown(self) -> None:
        super().shown()
        # No button has the focus before the person asks for one by Tab.
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        self._unlisten = self._listen(self._changed)
        self.refresh()

    def hidden(self) -> None:
        super().hidden()
        if self._unlisten is not None:
            self._unlisten()
            self._unlisten = None
        self._soon.stop()
        self._ticking.stop()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        beside = event.size().width() >= CARDS_BESIDE
        wanted = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        if self._cards.direction() is not wanted:
            self._cards.setDirection(wanted)
            for link, icon in self._links:
                link.setIcon(ui_icon(icon) if beside else QIcon())

    def _changed(self) -> None:
        if not self._soon.isActive():
            self._soon.start()

    def _lay_out(self) -> None:
        # Its own wish would push the cards out of a window of the usual size; it takes what is left instead.
        self.hops_panel.setMinimumHeight(HOPS_HEIGHT)
        self.hops_panel.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self._cards = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._cards.setSpacing(GRID)
        for card in (self.connection, self.shard, self.given):
            self._cards.addWidget(card, 1)
        content = Content()
        column = QVBoxLayout(content)
        column.setContentsMargins(2 * GRID, 0, 2 * GRID, GRID)
        column.setSpacing(GRID)
        column.addWidget(self.banner)
        column.addWidget(self.route_strip)
        column.addWidget(self.hops_panel, 1)
        column.addLayout(self._cards)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setAccessibleName(self.tr("Route, hops and cards"))
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidget(content)
        head = QVBoxLayout()
        head.setContentsMargins(2 * GRID, 2 * GRID, 2 * GRID, 0)
        head.addWidget(self.header)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GRID + 2)
        layout.addLayout(head)
        layout.addWidget(scroll, 1)
        layout.addLayout(self._foot())

    def _foot(self) -> QHBoxLayout:
        """The other windows: nothing is in the tray's menu that is not here."""
        foot = QHBoxLayout()
        foot.setContentsMargins(2 * GRID, 0, 2 * GRID, GRID + 2)
        foot.setSpacing(GRID)
        for text, icon, window in (
            (self.tr("Try a c&hat"), "chat", Window.CHAT),
            (self.tr("Lo&gs"), "logs", Window.LOGS),
            (self.tr("&Settings"), "settings", Window.SETTINGS),
            (self.tr("Check my co&nnection"), "wifi", Window.CONNECTION),
            (self.tr("&Diagnostics"), "export", Window.DIAGNOSTICS),
            (self.tr("&About"), "info", Window.ABOUT),
        ):
            foot.addWidget(self._link(text, icon, window))
        foot.addStretch()
        end = QPushButton(self.tr("&Quit"))
        end.setProperty("role", "link")
        end.clicked.connect(self._actions.quit)
        foot.addWidget(end)
        return foot

    def _link(self, text: str, icon: str, window: Window) -> QPushButton:
        button = QPushButton(text)
        button.setIcon(ui_icon(icon))
        self._links.append((button, icon))
        button.setProperty("role", "link")
        button.setAccessibleName(text.replace("&", ""))
        button.clicked.connect(lambda: self._actions.show(window))
        return button


class Content(QWidget):
    """What scrolls when the window is small: as high as the window lets it, but never less than its parts need."""

    def heightForWidth(self, width: int) -> int:
        # The scroll area asks for the wish, and the hops' panel has none, so it would be laid over the cards.
        layout = self.layout()
        return layout.minimumHeightForWidth(width) if layout is not None else -1


def _names(status: Status) -> Mapping[tuple[int, int], str]:
    """Names of the nodes by the layers they hold, for chart and table."""
    return {(stop.start_layer, stop.end_layer): node_name(stop) for stop in status.route}
