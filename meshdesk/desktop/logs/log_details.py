"""All of one line: when, where from, the whole message, and its traceback folded away until it is wanted."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPlainTextEdit, QToolButton, QVBoxLayout, QWidget

from meshdesk.desktop.amounts import moment_text
from meshdesk.desktop.theme import GRID, PADDING, text_font
from meshdesk.volunteer.log_records import LogLine


class LogDetails(QFrame):
    """The pane below the log. ``unfolded`` when there is more to read than it was made for."""

    unfolded = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self._number: int | None = None
        self._line: LogLine | None = None
        self.head = QLabel()
        self.head.setProperty("role", "muted")
        self.head.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.fold = QToolButton()
        self.fold.setCheckable(True)
        self.fold.setAccessibleName(self.tr("Traceback"))
        self.fold.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.fold.toggled.connect(self._toggled)
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setFont(text_font(mono=True))
        self.text.setAccessibleName(self.tr("Details of the line"))
        self.text.setProperty("role", "flat")
        self.text.setTabChangesFocus(True)

        top = QHBoxLayout()
        top.addWidget(self.head, 1)
        top.addWidget(self.fold)
        column = QVBoxLayout(self)
        column.setContentsMargins(PADDING, GRID, PADDING, GRID)
        column.setSpacing(4)
        column.addLayout(top)
        column.addWidget(self.text, 1)
        self.show_line(None)

    def show_line(self, line: LogLine | None) -> None:
        """Show another line, its traceback folded; None for none."""
        if line is not None and line.number == self._number:
            return
        self._number = line.number if line is not None else None
        self._line = line
        self.fold.setVisible(line is not None and bool(line.details))
        if line is None:
            self.head.setText(self.tr("Select a line to see all of it."))
            self.text.clear()
            self.text.hide()
            return
        where = self.tr("{moment} · {level} · {logger}").format(
            moment=moment_text(line.at), level=line.level_name.capitalize(), logger=line.logger
        )
        self.head.setText(where)
        self.text.show()
        self.fold.setChecked(False)
        self._show_text()

    def _toggled(self, opened: bool) -> None:
        self._show_text()
        if opened:
            self.unfolded.emit()

    def _show_text(self) -> None:
        if self._line is None:
            return
        count = self._line.details.count("\n") + 1
        opened = self.fold.isChecked()
        self.fold.setArrowType(Qt.ArrowType.DownArrow if opened else Qt.ArrowType.RightArrow)
        title = self.tr("Traceback") if "Traceback" in self._line.details else self.tr("Details")
        self.fold.setText(self.tr("{title}, %n line(s)", "", count).format(title=title))
        self.fold.setAccessibleName(self.fold.text())
        text = f"{self._line.message}\n\n{self._line.details}" if opened else self._line.message
        self.text.setPlainText(text)
