"""One page of the settings: a title and a card of rows, of which a search may leave some."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from meshdesk.desktop.theme import GRID


class SectionRow(Protocol):
    """What a section can hold: a QWidget that knows whether it answers a search."""

    def matches(self, words: list[str]) -> bool: ...

    def setVisible(self, visible: bool) -> None: ...


class Section(QWidget):
    """The rows are divided by lines; ``title`` is translated already."""

    def __init__(self, title: str):
        super().__init__()
        self.title = title
        self.rows: list[SectionRow] = []
        self._dividers: list[QFrame] = []
        heading = QLabel(title)
        heading.setProperty("role", "headline")
        card = QFrame()
        card.setProperty("role", "card")
        self._inside = QVBoxLayout(card)
        self._inside.setContentsMargins(1, 4, 1, 4)
        self._inside.setSpacing(0)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 2 * GRID)
        column.setSpacing(GRID)
        column.addWidget(heading)
        column.addWidget(card)

    def add(self, row: SectionRow) -> None:
        """Put a row, which is a QWidget, below the others."""
        assert isinstance(row, QWidget)
        divider = QFrame(self)
        divider.setProperty("role", "divider")
        divider.setVisible(bool(self.rows))
        self._inside.addWidget(divider)
        self._inside.addWidget(row)
        self._dividers.append(divider)
        self.rows.append(row)

    def filter(self, words: list[str]) -> bool:
        """Show only rows with all of ``words``; whether there is any. No words: all rows."""
        shown = False
        for row, divider in zip(self.rows, self._dividers, strict=True):
            found = row.matches(words)
            row.setVisible(found)
            divider.setVisible(found and shown)
            shown = shown or found
        return shown
