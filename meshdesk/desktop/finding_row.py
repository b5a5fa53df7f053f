"""One finding of the doctor as a row: a sign, what was looked at, what was found, and what to do about it."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel

from meshdesk.desktop.icons import ui_icon
from meshdesk.desktop.spoken_words import spoken
from meshdesk.desktop.theme import GRID, Token, theme
from meshdesk.volunteer.finding import Finding, Verdict

SIGN_PX = 16
CHECK_PX = 112
_SIGNS = {
    Verdict.GOOD: ("check", Token.DIRECT, "✓"),
    Verdict.WARNING: ("warning", Token.FALLBACK, "!"),
    Verdict.BAD: ("error", Token.ERROR, "✗"),
}


class FindingRow(QFrame):
    """Its texts can be selected, and are read out in one sentence."""

    def __init__(self, finding: Finding):
        super().__init__()
        self.finding = finding
        self._sign = QLabel()
        self._sign.setFixedSize(SIGN_PX, SIGN_PX + 2)
        check = spoken(finding.check)
        name = QLabel(check[:1].upper() + check[1:])
        name.setProperty("role", "title")
        name.setMinimumWidth(CHECK_PX)
        self._sign.setAccessibleName(self._verdict())
        found = _wrapping(spoken(finding.found))
        found.setAccessibleName(f"{self._verdict()}: {name.text()}: {found.text()}")
        grid = QGridLayout(self)
        grid.setContentsMargins(0, GRID, 0, GRID)
        grid.setHorizontalSpacing(GRID)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(2, 1)
        top = Qt.AlignmentFlag.AlignTop
        grid.addWidget(self._sign, 0, 0, top)
        grid.addWidget(name, 0, 1, top)
        grid.addWidget(found, 0, 2)
        if finding.advice:
            advice = _wrapping(spoken(finding.advice))
            advice.setProperty("role", "muted")
            advice.setAccessibleName(self.tr("What to do: {advice}").format(advice=advice.text()))
            grid.addWidget(advice, 1, 2)
        theme().changed.connect(self._draw_sign)
        self._draw_sign()

    def text(self) -> str:
        """The row as plain text."""
        sign = _SIGNS[self.finding.verdict][2]
        text = f"{sign} {spoken(self.finding.check)}: {spoken(self.finding.found)}"
        return text + (f"\n    {spoken(self.finding.advice)}" if self.finding.advice else "")

    def _draw_sign(self) -> None:
        icon, token, _ = _SIGNS[self.finding.verdict]
        size = QSize(SIGN_PX, SIGN_PX)
        self._sign.setPixmap(ui_icon(icon, token).pixmap(size, self.devicePixelRatioF()))

    def _verdict(self) -> str:
        return {
            Verdict.GOOD: self.tr("Good"),
            Verdict.WARNING: self.tr("Warning"),
            Verdict.BAD: self.tr("Problem"),
        }[self.finding.verdict]


def _wrapping(text: str) -> QLabel:
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    return label
