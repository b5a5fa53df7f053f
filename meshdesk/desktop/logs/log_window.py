"""The log window: everything the app, the engine and the shard's process say, as it comes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QDir, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import QFileDialog, QLabel, QSplitter, QVBoxLayout

from meshdesk.desktop.actions import Actions, Window
from meshdesk.desktop.amounts import count_text
from meshdesk.desktop.background import Background
from meshdesk.desktop.icons import ui_icon
from meshdesk.desktop.logs.log_details import LogDetails
from meshdesk.desktop.logs.log_feed import LogFeed
from meshdesk.desktop.logs.log_matches import Matches
from meshdesk.desktop.logs.log_model import LogModel
from meshdesk.desktop.logs.log_toolbar import LogToolbar
from meshdesk.desktop.logs.log_view import LogView
from meshdesk.desktop.theme import GRID, PADDING
from meshdesk.desktop.window import DeskWindow
from meshdesk.volunteer.log_records import LogLine, LogRing
from meshdesk.volunteer.log_redaction import redacted

UNFOLDED_PX = 240
COPIED_AT_ONCE = 500
"""Lines; more are put together in a thread."""


class LogWindow(DeskWindow):
    """Shows ``ring``; ``directory`` is where the files of the log are."""

    def __init__(self, ring: LogRing, directory: Path, actions: Actions, background: Background) -> None:
        super().__init__("logs", "")
        self.setWindowTitle(self.tr("meshdesk log"))
        self.setAccessibleName(self.windowTitle())
        self.resize(900, 600)
        self.setMinimumSize(640, 320)
        self._directory = directory
        self._actions = actions
        self._background = background
        self._matches = Matches()
        self._trouble = ""
        self.model = LogModel(self, ring.capacity)
        self.feed = LogFeed(ring, self.model, self)
        self.toolbar = LogToolbar()
        self.view = LogView(self.model)
        self.details = LogDetails()
        self.status = QLabel()
        self.status.setProperty("role", "caption")
        self.status.setAccessibleName(self.tr("Counts"))
        self._lay_out()
        self._connect()
        self.set_actions(actions)

    def shown(self) -> None:
        self.feed.start()
        self._search_changed()
        self.view.setFocus()

    def hidden(self) -> None:
        self.toolbar.search.stop()
        self.feed.stop()

    def search_for(self, text: str) -> None:
        """Search for ``text``."""
        self.toolbar.search.edit.setText(text)
        self.toolbar.search.apply_now()

    def next_match(self) -> None:
        """Go to the next line that was found; behind the last one, to the first."""
        self._go_to(self._matches.after(self._current_number()))

    def previous_match(self) -> None:
        """Go to the line found before; before the first one, to the last."""
        self._go_to(self._matches.before(self._current_number()))

    def copy_selected(self) -> None:
        """The selected lines to the clipboard, with their tracebacks."""
        self._copy(self.view.chosen_lines())

    def copy_shown(self) -> None:
        """All lines that pass the filter to the clipboard."""
        self._copy(self.model.shown_lines())

    def ask_where_to_save(self) -> QFileDialog:
        """Ask for a file and write the lines shown into it; the dialog is open when this returns."""
        dialog = QFileDialog(self, self.tr("Save the lines shown"), QDir.homePath(), self.tr("Text (*.txt *.log)"))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("txt")
        dialog.selectFile("meshdesk-log.txt")
        dialog.fileSelected.connect(self._save)
        dialog.open()
        return dialog

    def jump_to_newest(self) -> None:
        """Show what has come meanwhile, and follow again."""
        self.toolbar.pause.setChecked(False)
        self.view.set_following(True)

    def _lay_out(self) -> None:
        self._panes = panes = QSplitter(Qt.Orientation.Vertical)
        panes.setChildrenCollapsible(False)
        panes.setHandleWidth(GRID)
        # A line between two panes that have frames of their own would be a third one.
        panes.setStyleSheet("QSplitter::handle { background: transparent; }")
        panes.addWidget(self.view)
        panes.addWidget(self.details)
        panes.setStretchFactor(0, 1)
        self.view.setMinimumHeight(120)
        self.details.setMinimumHeight(6 * GRID)
        panes.setSizes([420, 112])
        column = QVBoxLayout(self)
        column.setContentsMargins(PADDING, PADDING, PADDING, GRID)
        column.setSpacing(GRID)
        column.addWidget(self.toolbar)
        column.addWidget(panes, 1)
        column.addWidget(self.status)

    def _connect(self) -> None:
        bar, search = self.toolbar, self.toolbar.search
        bar.filter_changed.connect(lambda: self._filter_changed())
        search.changed.connect(self._search_changed)
        search.next_wanted.connect(self.next_match)
        search.previous_wanted.connect(self.previous_match)
        search.left.connect(self.view.setFocus)
        bar.follow.clicked.connect(self._follow_clicked)
        bar.pause.toggled.connect(self._pause_toggled)
        bar.copy.clicked.connect(self.copy_selected)
        bar.copy_selected.triggered.connect(self.copy_selected)
        bar.copy_all.triggered.connect(self.copy_shown)
        bar.wrap.toggled.connect(self.view.set_wrap)
        bar.export.triggered.connect(self.ask_where_to_save)
        bar.clear.triggered.connect(self.feed.clear)
        bar.folder.triggered.connect(self._open_folder)
        bar.diagnostics.triggered.connect(lambda: self._actions.show(Window.DIAGNOSTICS))
        self.addAction(bar.export)
        self.details.unfolded.connect(self._make_room_for_details)
        self.view.line_chosen.connect(self._line_chosen)
        self.view.following_changed.connect(bar.follow.setChecked)
        self.view.jump_wanted.connect(self.jump_to_newest)
        self.model.counts_changed.connect(self._show_counts)
        self.model.rowsInserted.connect(lambda _parent, first, last: self._rows_came(first, last))
        self.model.modelReset.connect(self._begin_search)
        self.feed.ticked.connect(self._ticked)
        for keys, call in (
            (QKeySequence(QKeySequence.StandardKey.Find), self._focus_search),
            (QKeySequence("F3"), self.next_match),
            (QKeySequence("Shift+F3"), self.previous_match),
        ):
            QShortcut(keys, self).activated.connect(call)
        for keys, call in (
            (QKeySequence(QKeySequence.StandardKey.Copy), self.copy_selected),
            (QKeySequence(QKeySequence.StandardKey.SelectAll), self.view.selectAll),
        ):
            shortcut = QShortcut(keys, self.view)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
            shortcut.activated.connect(call)

    def _make_room_for_details(self) -> None:
        table, details = self._panes.sizes()
        wanted = min(UNFOLDED_PX, (table + details) // 2)
        if details < wanted:
            self._panes.setSizes([table + details - wanted, wanted])

    def _focus_search(self) -> None:
        self.toolbar.search.edit.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.toolbar.search.edit.selectAll()

    def _filter_changed(self) -> bool:
        self._trouble = ""
        chosen = self.view.chosen_line()
        changed = self.model.set_filter(self.toolbar.chosen_filter())
        # The line that was looked at stays in sight among those that are shown now.
        if changed and chosen is not None and not self.view.following:
            self._go_to(chosen.number)
        return changed

    def _search_changed(self) -> None:
        if not self._filter_changed():
            self._begin_search()

    def _begin_search(self) -> None:
        search = self.toolbar.search.search
        if search.active:
            self._matches.begin(search, self.model.shown_lines(), self.model.folded_rows())
        else:
            self._matches.begin(search, [], [])
        self._show_counts()
        self.view.delegate.search = search
        self._show_place()

    def _rows_came(self, first: int, last: int) -> None:
        # The line that stands for dropped ones comes in front, and is not searched.
        if self._matches.search.active and last == self.model.shown - 1:
            for row in range(first, last + 1):
                self._matches.add(self.model.line_at(row), self.model.folded_at(row))

    def _go_to(self, number: int | None) -> None:
        row = self.model.row_of(number) if number is not None else None
        if row is not None:
            self.view.go_to(row)

    def _current_number(self) -> int:
        """Where next and previous start from: without a current line, from the newest."""
        line = self.view.chosen_line()
        return line.number if line is not None else self.model.last_number

    def _line_chosen(self) -> None:
        self.details.show_line(self.view.chosen_line())
        self._show_place()

    def _show_place(self) -> None:
        line = self.view.chosen_line()
        place = self._matches.place_of(line.number) if line is not None else None
        self.view.delegate.current_match = line.number if line is not None and place is not None else None
        self.toolbar.search.show_count(len(self._matches), place)
        self.view.viewport().update()

    def _follow_clicked(self, follow: bool) -> None:
        if follow:
            self.jump_to_newest()
        else:
            self.view.set_following(False)

    def _pause_toggled(self, paused: bool) -> None:
        self.toolbar.pause.setIcon(ui_icon("resume" if paused else "pause"))
        self.feed.set_paused(paused)
        self._ticked()

    def _ticked(self) -> None:
        self.view.show_waiting(self.feed.waiting if self.feed.paused else 0)
        if self.feed.paused:
            self._show_counts()

    def _show_counts(self) -> None:
        counts = self.tr("{records} records, {shown} shown, {dropped} dropped").format(
            records=count_text(self.model.total),
            shown=count_text(self.model.shown),
            dropped=count_text(self.feed.dropped),
        )
        if self.feed.paused:
            counts = self.tr("{counts}. Held still, {waiting} waiting.").format(
                counts=counts, waiting=count_text(self.feed.waiting)
            )
        problem = self._trouble or self.toolbar.search.problem()
        self._say(problem or counts, is_problem=bool(problem))
        if self.model.shown:
            self.view.show_empty("")
        elif self.model.total:
            self.view.show_empty(self.tr("No line passes the filter."))
        else:
            self.view.show_empty(self.tr("Nothing here yet. Lines appear as they are logged."))
        self.toolbar.offer_loggers(self.model.loggers)
        if self._matches.search.active:
            first = self.model.lines[0].number if self.model.lines else 0
            self._matches.forget_before(first)
            self._show_place()

    def _say(self, text: str, *, is_problem: bool) -> None:
        self.status.setText(text)
        role = "error" if is_problem else "caption"
        if self.status.property("role") != role:
            self.status.setProperty("role", role)
            self.status.style().polish(self.status)

    def _copy(self, lines: Sequence[LogLine]) -> None:
        if not lines:
            return
        clipboard = QGuiApplication.clipboard()
        if len(lines) <= COPIED_AT_ONCE:
            clipboard.setText(_text_of(lines))
            return

        async def copy() -> None:
            clipboard.setText(await asyncio.to_thread(_text_of, lines))

        self._background.start(copy(), "copying the log")

    def _save(self, path: str) -> None:
        self._trouble = ""
        lines = self.model.shown_lines()
        self._in_background(lambda: _write(Path(path), lines), self.tr("The lines could not be saved: {reason}"))

    def _open_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._directory)))

    def _in_background(self, work: Callable[[], None], problem: str) -> None:
        def failed(error: Exception) -> None:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            self._trouble = problem.format(reason=reason)
            self._show_counts()

        self._background.start(asyncio.to_thread(work), "saving the log", failed)


def _text_of(lines: Sequence[LogLine]) -> str:
    return redacted("\n".join(line.text for line in lines))


def _write(path: Path, lines: Sequence[LogLine]) -> None:
    # A secret may have become known since the lines were logged, so all of it is looked through again.
    path.write_text(_text_of(lines) + "\n", "utf-8", errors="backslashreplace")
