"""Check my connection: the doctor's findings as they come, and in one sentence how peers reach this computer."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from meshdesk.desktop.actions import Actions
from meshdesk.desktop.amounts import clock_text
from meshdesk.desktop.background import Background
from meshdesk.desktop.finding_row import FindingRow
from meshdesk.desktop.icons import ui_icon
from meshdesk.desktop.spoken_words import spoken
from meshdesk.desktop.theme import GRID, PADDING
from meshdesk.desktop.window import DeskWindow
from meshdesk.volunteer.direct_words import explain
from meshdesk.volunteer.finding import Finding, Verdict
from meshdesk.volunteer.status import Phase, Status, WhyNotDirect

log = logging.getLogger(__name__)

FRESH_S = 60.0
"""Results younger than this are shown again when the window is opened again."""
_MESH_CHECKS = ("tracker", "relay")


class ConnectionWindow(DeskWindow):
    """``findings`` begins to look each time it is called; ``status`` tells how peers reach a running node."""

    def __init__(
        self,
        findings: Callable[[], AsyncIterator[Finding]],
        status: Callable[[], Status],
        background: Background,
        actions: Actions,
    ):
        super().__init__("connection", "")
        self.setWindowTitle(self.tr("Check my connection"))
        self.setAccessibleName(self.windowTitle())
        self.resize(680, 600)
        self.setMinimumSize(460, 360)
        self._findings = findings
        self._status = status
        self._background = background
        self._task: asyncio.Task[None] | None = None
        self._checked_at: float | None = None
        self.rows: list[FindingRow] = []
        self.headline = QLabel()
        self.headline.setProperty("role", "headline")
        self.headline.setWordWrap(True)
        self.sentence = QLabel()
        self.advice = QLabel()
        self.advice.setProperty("role", "muted")
        for label in (self.sentence, self.advice):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
        self.state = QLabel()
        self.state.setProperty("role", "caption")
        self.copy = QPushButton(ui_icon("copy"), self.tr("&Copy as text"))
        self.again = QPushButton(self.tr("Check &again"))
        self.again.setProperty("role", "primary")
        self._list = QVBoxLayout()
        self._lay_out()
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.text()))
        self.again.clicked.connect(self.check)
        self.set_actions(actions)
        self._summarise()

    def shown(self) -> None:
        self.again.setFocus()
        if self._checked_at is None or time.time() - self._checked_at > FRESH_S:
            self.check()

    def hidden(self) -> None:
        """Nobody waits for the rest any more."""
        if self._task is not None:
            self._task.cancel()

    def check(self) -> None:
        """Look at everything anew; a look under way is given up."""
        if self._task is not None:
            self._task.cancel()
        self._clear()
        self._checked_at = None
        self._task = self._background.start(self._check(), "connection check", self._failed)
        self._summarise()

    def text(self) -> str:
        """All that is shown, as plain text."""
        lines = [self.headline.text(), self.sentence.text(), self.advice.text()]
        lines = [line for line in lines if line]
        return "\n".join([*lines, "", *(row.text() for row in self.rows)]).strip() + "\n"

    async def _check(self) -> None:
        task = asyncio.current_task()
        try:
            async for finding in self._findings():
                self._add(finding)
            self._checked_at = time.time()
        finally:
            # One that was given up for a newer one has no say any more.
            if self._task is task:
                self._task = None
                self._summarise()

    def _failed(self, error: Exception) -> None:
        log.error("the connection check failed", exc_info=error)
        self.headline.setText(self.tr("The check itself failed"))
        self.advice.setText(self.tr("The log says why."))

    def _add(self, finding: Finding) -> None:
        if self.rows:
            divider = QFrame()
            divider.setProperty("role", "divider")
            self._list.insertWidget(self._list.count() - 1, divider)
        row = FindingRow(finding)
        self.rows.append(row)
        self._list.insertWidget(self._list.count() - 1, row)
        self._summarise()

    def _clear(self) -> None:
        self.rows.clear()
        while self._list.count() > 1:
            item = self._list.takeAt(0)
            widget = item.widget() if item is not None else None
            if widget is not None:
                widget.hide()
                widget.deleteLater()

    def _summarise(self) -> None:
        running = self._task is not None
        self.again.setEnabled(not running)
        self.copy.setEnabled(bool(self.rows))
        bad = [row.finding for row in self.rows if row.finding.verdict is Verdict.BAD]
        mesh = [finding for finding in bad if str(finding.check) in _MESH_CHECKS]
        sentence, advice = self._reach()
        if mesh:
            self.headline.setText(self.tr("This computer does not reach its mesh"))
            sentence, advice = spoken(mesh[0].found), spoken(mesh[0].advice)
        elif bad:
            self.headline.setText(self.tr("%n thing(s) need your attention", "", len(bad)))
        elif running or not self.rows:
            self.headline.setText(self.tr("Looking at your connection …"))
        else:
            self.headline.setText(self.tr("Your connection works"))
        self.sentence.setText(sentence)
        self.advice.setText(advice)
        self.sentence.setVisible(bool(sentence))
        self.advice.setVisible(bool(advice))
        if running:
            self.state.setText(self.tr("%n check(s) done, more to come", "", len(self.rows)))
        elif self._checked_at is not None:
            self.state.setText(self.tr("Checked at {time}").format(time=clock_text(self._checked_at)))
        else:
            self.state.setText("")

    def _reach(self) -> tuple[str, str]:
        """How peers reach this computer and what could be done: of the running node, else as the doctor judges it."""
        status = self._status()
        if status.phase is Phase.SERVING and status.direct.why is not WhyNotDirect.UNKNOWN:
            sentence, advice = explain(status.direct)
            return spoken(sentence), spoken(advice)
        for row in self.rows:
            if str(row.finding.check) == "direct hops":
                return spoken(row.finding.found), spoken(row.finding.advice)
        return "", ""

    def _lay_out(self) -> None:
        self._list.setContentsMargins(PADDING, GRID // 2, PADDING, GRID // 2)
        self._list.setSpacing(0)
        self._list.addStretch()
        inside = QFrame()
        inside.setProperty("role", "card")
        inside.setLayout(self._list)
        # The card is as wide as the window and as high as its rows.
        holder = QWidget()
        holding = QVBoxLayout(holder)
        holding.setContentsMargins(0, 0, 0, 0)
        holding.addWidget(inside)
        holding.addStretch()
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setAccessibleName(self.tr("Findings"))
        scroll.setWidget(holder)
        buttons = QHBoxLayout()
        buttons.setSpacing(GRID)
        buttons.addWidget(self.state, 1)
        buttons.addWidget(self.copy)
        buttons.addWidget(self.again)
        column = QVBoxLayout(self)
        column.setContentsMargins(2 * PADDING, 2 * PADDING, 2 * PADDING, PADDING)
        column.setSpacing(GRID)
        column.addWidget(self.headline)
        column.addWidget(self.sentence)
        column.addWidget(self.advice)
        column.addSpacing(GRID)
        column.addWidget(scroll, 1)
        column.addLayout(buttons)
