"""What the cards at the foot of the dashboard have in common: a title, lines of a name and a value, quiet links."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QPushButton, QVBoxLayout

from meshdesk.desktop.theme import GRID, PADDING

HEADING_HEIGHT = 24
"""Of a title with or without links beside it, so that the first lines of all cards stand level."""


class Card(QFrame):
    """A titled surface. ``add_line`` gives the label whose text is the value."""

    def __init__(self, title: str):
        super().__init__()
        self.setProperty("role", "card")
        self.setAccessibleName(title)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(PADDING, PADDING, PADDING, PADDING)
        self._column.setSpacing(4)
        heading = QLabel(title)
        heading.setProperty("role", "title")
        self._heading = QHBoxLayout()
        heading.setMinimumHeight(HEADING_HEIGHT)
        self._heading.addWidget(heading)
        self._heading.addStretch()
        self._column.addLayout(self._heading)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(GRID)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(1, 1)
        self._column.addLayout(self._grid)

    def add_line(self, name: str) -> QLabel:
        """A line with its name on the left; the label on the right, empty as yet."""
        row = self._grid.rowCount()
        caption = QLabel(name)
        caption.setProperty("role", "muted")
        value = QLabel()
        value.setWordWrap(True)
        value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._grid.addWidget(caption, row, 0, Qt.AlignmentFlag.AlignTop)
        self._grid.addWidget(value, row, 1)
        return value

    def add_text(self, role: str = "muted") -> QLabel:
        """A text over the whole width, empty and hidden as yet."""
        text = QLabel()
        text.setProperty("role", role)
        text.setWordWrap(True)
        text.hide()
        self._column.addWidget(text)
        return text

    def add_link(self, text: str) -> QPushButton:
        """A button that looks like a link, at the end of the title."""
        link = QPushButton(text)
        link.setProperty("role", "link")
        link.setAccessibleName(text.replace("&", ""))
        self._heading.addWidget(link)
        return link

    def end(self) -> None:
        """Nothing more is added; what there is stays at the top."""
        self._column.addStretch()


def set_text(label: QLabel, text: str, tooltip: str = "") -> None:
    """Set what is another: a label that is set lays its window out anew."""
    if label.text() != text:
        label.setText(text)
    if label.toolTip() != tooltip:
        label.setToolTip(tooltip)


def show_text(label: QLabel, text: str) -> None:
    """As ``set_text``; an empty one takes no room."""
    set_text(label, text)
    if label.isHidden() is bool(text):
        label.setVisible(bool(text))
