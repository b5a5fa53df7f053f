"""The field to search the log with: how many lines were found, the one it stands at, and what is wrong with it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QToolButton, QWidget

from meshdesk.desktop.amounts import count_text
from meshdesk.desktop.icons import ui_icon
from meshdesk.desktop.logs.log_filter import Search
from meshdesk.desktop.theme import GRID

TYPING_MS = 150
ROOMY_PX = 300


class SearchField(QWidget):
    """``changed`` a moment after the last key, so that a hundred thousand lines are not scanned for each."""

    changed = Signal()
    next_wanted = Signal()
    previous_wanted = Signal()
    left = Signal()
    """The person is done here: the table should have the keys."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.search = Search()
        self.edit = _Edit()
        self.edit.setPlaceholderText(self.tr("Search"))
        self.edit.setAccessibleName(self.tr("Search the log"))
        self.edit.setMinimumWidth(96)
        self.count = QLabel(self.edit)
        self.count.setProperty("role", "caption")
        self.count.setAccessibleName(self.tr("Lines found"))
        self.regex = QToolButton()
        self.regex.setText(".*")
        self.regex.setCheckable(True)
        self.regex.setToolTip(self.tr("Regular expression"))
        self.only = QToolButton()
        self.only.setIcon(ui_icon("filter"))
        self.only.setCheckable(True)
        self.only.setToolTip(self.tr("Show only the lines that match"))
        self.previous = self._arrow("chevron-up", self.tr("Previous match (Shift+F3)"))
        self.next = self._arrow("chevron-down", self.tr("Next match (F3)"))
        for button in (self.regex, self.only, self.previous, self.next):
            button.setAccessibleName(button.toolTip())

        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(self.edit, 1)
        for button in (self.previous, self.next, self.regex, self.only):
            row.addWidget(button)

        self._typing = QTimer(self)
        self._typing.setSingleShot(True)
        self._typing.setInterval(TYPING_MS)
        self._typing.timeout.connect(self._apply)
        self.edit.textChanged.connect(lambda _text: self._typing.start())
        self.edit.entered.connect(self._entered)
        self.edit.escaped.connect(self._escaped)
        self.regex.toggled.connect(lambda _on: self._apply())
        self.only.toggled.connect(lambda _on: self._apply())
        self.previous.clicked.connect(self.previous_wanted)
        self.next.clicked.connect(self.next_wanted)
        self.show_count(0, None)

    def show_count(self, found: int, place: int | None) -> None:
        """``place`` is which of the found lines is the current one, counted from 1."""
        if self.search.problem:
            text = self.tr("not valid")
        elif not self.search.active:
            text = ""
        elif place is not None:
            text = self.tr("{place} of {found}").format(place=count_text(place), found=count_text(found))
        else:
            text = self.tr("%n found", "", found)
        self.count.setText(text)
        self.edit.make_room(self.count)
        for button in (self.previous, self.next):
            button.setEnabled(found > 0)

    def problem(self) -> str:
        """What is wrong with the expression, as a sentence; "" if nothing is."""
        if not self.search.problem:
            return ""
        return self.tr("Not a valid expression: {problem}").format(problem=self.search.problem)

    def apply_now(self) -> None:
        """Do not wait for more keys."""
        if self._typing.isActive():
            self._apply()

    def stop(self) -> None:
        """Nobody looks any more."""
        self.apply_now()

    def _apply(self) -> None:
        self._typing.stop()
        self.search = Search(self.edit.text(), self.regex.isChecked())
        invalid = bool(self.search.problem)
        if self.edit.property("invalid") != invalid:
            self.edit.setProperty("invalid", invalid)
            self.edit.style().polish(self.edit)
        self.edit.setToolTip(self.problem())
        self.changed.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # There is F3 for it; the words that are searched for must be readable.
        for button in (self.previous, self.next):
            button.setVisible(self.width() >= ROOMY_PX)

    def _entered(self, backwards: bool) -> None:
        self.apply_now()
        (self.previous_wanted if backwards else self.next_wanted).emit()

    def _escaped(self) -> None:
        self.edit.clear()
        self._apply()
        self.left.emit()

    def _arrow(self, icon: str, tip: str) -> QToolButton:
        button = QToolButton()
        button.setIcon(ui_icon(icon))
        button.setToolTip(tip)
        return button


class _Edit(QLineEdit):
    """Esc empties a field that holds something; only in an empty one it closes the window."""

    escaped = Signal()
    entered = Signal(bool)
    _inside: QLabel | None = None

    def make_room(self, label: QLabel) -> None:
        """Keep ``label`` at the right end, and the text clear of it."""
        self._inside = label
        width = label.sizeHint().width() + 2 * GRID if label.text() else 0
        label.setGeometry(self.width() - width, 0, max(0, width - GRID), self.height())
        self.setTextMargins(0, 0, width, 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._inside is not None:
            self.make_room(self._inside)

    def event(self, event: QEvent) -> bool:
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and event.key() == Qt.Key.Key_Escape
            and self.text()
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.escaped.emit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.entered.emit(bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        else:
            super().keyPressEvent(event)
