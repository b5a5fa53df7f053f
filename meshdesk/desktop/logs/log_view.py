"""The table of the log: it follows the newest line until the person scrolls up, and then stays where it is."""

from __future__ import annotations

from PySide6.QtCore import QItemSelectionModel, QItemSelectionRange, QModelIndex, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QLabel, QPushButton, QTableView, QWidget

from meshdesk.desktop.amounts import count_text
from meshdesk.desktop.icons import ui_icon
from meshdesk.desktop.logs.log_model import LEVEL, MESSAGE, SOURCE, TIME, LogModel
from meshdesk.desktop.logs.log_rows import LineDelegate
from meshdesk.desktop.theme import GRID, Token, theme
from meshdesk.volunteer.log_records import LogLine

WRAPPED_ROWS = 12
"""Lines of text that a wrapped message may take; all of it is in the details."""


class LogView(QTableView):
    """``line_chosen`` when another line becomes the current one."""

    line_chosen = Signal()
    following_changed = Signal(bool)
    jump_wanted = Signal()

    def __init__(self, model: LogModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.delegate = LineDelegate(model)
        self._log_model = model
        self._following = True
        self._missed = 0
        self._fitted: set[int] = set()
        self.setModel(model)
        self.setItemDelegate(self.delegate)
        self._arrange()
        self._jump = QPushButton(self)
        self._jump.setProperty("role", "primary")
        self._jump.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._jump.setIcon(ui_icon("chevron-down", Token.SURFACE))
        self._jump.clicked.connect(self.jump_wanted)
        self._jump.hide()
        self._empty = QLabel(self)
        self._empty.setProperty("role", "muted")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setWordWrap(True)
        self._empty.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._empty.hide()

        self.verticalScrollBar().actionTriggered.connect(lambda _action: QTimer.singleShot(0, self, self._scrolled))
        self.verticalScrollBar().valueChanged.connect(self._fit_rows)
        self.selectionModel().currentRowChanged.connect(lambda _now, _before: self.line_chosen.emit())
        self.selectionModel().selectionChanged.connect(lambda _now, _before: self.line_chosen.emit())
        model.rowsInserted.connect(self._rows_came)
        model.modelReset.connect(self._reset)
        model.rows_went.connect(self._rows_went)
        theme().changed.connect(self.viewport().update)

    def _arrange(self) -> None:
        self.setAccessibleName(self.tr("Log lines"))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerItem)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        rows, columns = self.verticalHeader(), self.horizontalHeader()
        rows.hide()
        # Fixed heights are what makes a hundred thousand rows cheap.
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setMinimumSectionSize(self.delegate.row_height)
        rows.setDefaultSectionSize(self.delegate.row_height)
        columns.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        columns.setHighlightSections(False)
        columns.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        columns.setStretchLastSection(True)
        columns.resizeSection(TIME, self.delegate.width_of("00:00:00.000"))
        columns.resizeSection(LEVEL, max(5 * GRID, self.fontMetrics().horizontalAdvance(self.tr("Level")) + 2 * GRID))
        columns.resizeSection(SOURCE, self.delegate.width_of("engine tracker_link"))

    @property
    def following(self) -> bool:
        """Whether the newest line is kept in sight."""
        return self._following

    @property
    def missed(self) -> int:
        """How many rows came since it stopped following."""
        return self._missed

    def set_following(self, follow: bool) -> None:
        """Keep the newest line in sight from now on, or stay."""
        if follow != self._following:
            self._following = follow
            self._missed = 0
            self.following_changed.emit(follow)
        self._follow_up()
        self.show_waiting(0)

    def show_waiting(self, waiting: int) -> None:
        """Float the way back to the newest line, with how many are new; ``waiting`` are not in the table yet."""
        new = self._missed + waiting
        if self._following and not waiting:
            self._jump.hide()
            return
        text = self.tr("Jump to newest ({count})").format(count=count_text(new)) if new else self.tr("Jump to newest")
        if self._jump.text() != text or not self._jump.isVisible():
            self._jump.setText(text)
            self._jump.setVisible(self._log_model.shown > 0 or bool(waiting))
            self._place_jump()

    def show_empty(self, why: str) -> None:
        """Say why there is no row; "" where there are some."""
        self._empty.setText(why)
        self._empty.setVisible(bool(why))

    def set_wrap(self, wrap: bool) -> None:
        """Wrap long messages, those in sight at least."""
        self.delegate.wraps = wrap
        if not wrap:
            for row in self._fitted:
                self.setRowHeight(row, self.delegate.row_height)
            self._fitted.clear()
        self._follow_up()
        self.viewport().update()

    def chosen_line(self) -> LogLine | None:
        """The current line, if it is selected: the keyboard's focus alone makes a row the current one."""
        index = self.currentIndex()
        if not 0 <= index.row() < self._log_model.shown or not self.selectionModel().isSelected(index):
            return None
        return self._log_model.line_at(index.row())

    def chosen_lines(self) -> list[LogLine]:
        """The selected lines in their order. Read from ranges: an index a line would be slow for all of them."""
        ranges: list[QItemSelectionRange] = self.selectionModel().selection().toList()
        rows = sorted({row for each in ranges for row in range(each.top(), each.bottom() + 1)})
        return [self._log_model.line_at(row) for row in rows]

    def go_to(self, row: int) -> None:
        """Make ``row`` the current one, in the middle of what is seen, and stop following."""
        self.set_following(False)
        index = self._log_model.index(row, MESSAGE)
        flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
        self.selectionModel().setCurrentIndex(index, flags)
        self.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtCenter)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        super().keyPressEvent(event)
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_PageUp, Qt.Key.Key_Home):
            self.set_following(False)
        elif event.key() == Qt.Key.Key_End:
            self.set_following(True)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_jump()
        self._empty.setGeometry(self.viewport().geometry())
        self._follow_up()

    def wheelEvent(self, event: QWheelEvent) -> None:
        super().wheelEvent(event)
        self._scrolled()

    def _scrolled(self) -> None:
        """The person has scrolled: to the end means to follow, anywhere else to stay."""
        bar = self.verticalScrollBar()
        self.set_following(bar.value() >= bar.maximum())

    def _rows_came(self, parent: QModelIndex, first: int, last: int) -> None:
        if last < self._log_model.shown - 1:
            return
        if not self._following:
            self._missed += last - first + 1
        self._follow_up()

    def _reset(self) -> None:
        self._missed = 0
        self._fitted.clear()
        self.verticalHeader().setDefaultSectionSize(self.delegate.row_height)
        self._follow_up()

    def _rows_went(self, rows: int) -> None:
        """Rows left at the top: what the person looks at must not move."""
        self._fitted = {row - rows for row in self._fitted if row >= rows}
        if not self._following:
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() - rows)

    def _follow_up(self) -> None:
        self._fit_rows()
        if self._following:
            if self.delegate.wraps:
                # The end of the scroll bar moves with the heights, but only once the table gets round to it.
                self.updateGeometries()
            self.scrollToBottom()

    def _fit_rows(self) -> None:
        """Give the rows in sight the height their wrapped text needs: from the end up, or from the top down."""
        if not self.delegate.wraps or not self.isVisible() or not self._log_model.shown:
            return
        last = self._log_model.shown - 1
        rows = range(last, -1, -1) if self._following else range(max(0, self.rowAt(0)), last + 1)
        y, width = 0, self.columnWidth(MESSAGE)
        for row in rows:
            message = self._log_model.cell_text(self._log_model.line_at(row), MESSAGE)
            height = self.delegate.height_of(message, width, WRAPPED_ROWS)
            if height != self.rowHeight(row):
                self.setRowHeight(row, height)
                self._fitted.add(row)
            y += height
            if y > self.viewport().height():
                break

    def _place_jump(self) -> None:
        size = self._jump.sizeHint()
        bar = self.verticalScrollBar()
        right = bar.width() if bar.isVisible() else 0
        x = (self.width() - right - size.width()) // 2
        self._jump.setGeometry(x, self.height() - size.height() - 2 * GRID, size.width(), size.height())
        self._jump.raise_()
