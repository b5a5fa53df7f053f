"""Export diagnostics: what will be in the file is shown first, text by text. Nothing is sent anywhere."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from PySide6.QtCore import QDir, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QPushButton,
    QSplitter,
    QVBoxLayout,
)

from meshdesk.desktop.actions import Actions
from meshdesk.desktop.amounts import size_text
from meshdesk.desktop.background import Background
from meshdesk.desktop.icons import ui_icon
from meshdesk.desktop.theme import GRID, PADDING, text_font
from meshdesk.desktop.window import DeskWindow
from meshdesk.volunteer.diagnostics import Diagnostics

LIST_PX = 190


class DiagnosticsWindow(DeskWindow):
    """``collect`` puts the texts together anew each time the window opens; it must not hold up the loop."""

    def __init__(self, collect: Callable[[], Awaitable[Diagnostics]], actions: Actions, background: Background) -> None:
        super().__init__("diagnostics", "")
        self.setWindowTitle(self.tr("Export diagnostics"))
        self.setAccessibleName(self.windowTitle())
        self.resize(860, 560)
        self.setMinimumSize(560, 360)
        self._collect = collect
        self._background = background
        self._diagnostics: Diagnostics | None = None
        self._task: asyncio.Task[None] | None = None
        self.names = QListWidget()
        self.names.setAccessibleName(self.tr("Texts in the file"))
        self.names.setProperty("role", "pages")
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setFont(text_font(mono=True))
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setTabChangesFocus(True)
        self.state = QLabel()
        self.state.setProperty("role", "caption")
        self.state.setWordWrap(True)
        self.refresh = QPushButton(ui_icon("refresh"), self.tr("&Refresh"))
        self.copy = QPushButton(ui_icon("copy"), self.tr("&Copy this text"))
        self.save = QPushButton(self.tr("&Save…"))
        self.save.setProperty("role", "primary")
        self._lay_out()
        self.names.currentItemChanged.connect(lambda _now, _before: self._show_text())
        self.refresh.clicked.connect(self._start)
        self.copy.clicked.connect(self._copy)
        self.save.clicked.connect(self.ask_where_to_save)
        self.set_actions(actions)

    def shown(self) -> None:
        self.names.setFocus()
        self._start()

    def hidden(self) -> None:
        if self._task is not None:
            self._task.cancel()
        self._take(None)

    def ask_where_to_save(self) -> QFileDialog | None:
        """Ask for a file and write the zip; the dialog is open when this returns. None while there is nothing yet."""
        if self._diagnostics is None:
            return None
        dialog = QFileDialog(self, self.tr("Save diagnostics"), QDir.homePath(), self.tr("Zip files (*.zip)"))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("zip")
        dialog.selectFile(self._diagnostics.file_name)
        dialog.fileSelected.connect(self._save)
        dialog.open()
        return dialog

    def _lay_out(self) -> None:
        headline = QLabel(self.tr("This is all that will be in the file"))
        headline.setProperty("role", "headline")
        headline.setWordWrap(True)
        promise = QLabel(
            self.tr(
                "Passwords, tokens and this computer's identity are taken out. Nothing is sent anywhere: "
                "you save the file, and decide whom you give it to."
            )
        )
        promise.setProperty("role", "muted")
        promise.setWordWrap(True)
        panes = QSplitter(Qt.Orientation.Horizontal)
        panes.setChildrenCollapsible(False)
        panes.setHandleWidth(GRID)
        panes.setStyleSheet("QSplitter::handle { background: transparent; }")
        panes.addWidget(self.names)
        panes.addWidget(self.text)
        panes.setStretchFactor(1, 1)
        panes.setSizes([LIST_PX, 4 * LIST_PX])
        buttons = QHBoxLayout()
        buttons.setSpacing(GRID)
        buttons.addWidget(self.state, 1)
        for button in (self.refresh, self.copy, self.save):
            buttons.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(2 * PADDING, PADDING, 2 * PADDING, PADDING)
        column.setSpacing(GRID)
        column.addWidget(headline)
        column.addWidget(promise)
        column.addWidget(panes, 1)
        column.addLayout(buttons)

    def _start(self) -> None:
        if self._task is not None and not self._task.done():
            return
        self._take(None)

        async def work() -> None:
            self._take(await self._collect())

        self._task = self._background.start(work(), "collecting diagnostics", self._failed)

    def _failed(self, error: Exception) -> None:
        self._say(self.tr("This did not work: {reason}. The log says more.").format(reason=_reason(error)), bad=True)

    def _take(self, diagnostics: Diagnostics | None) -> None:
        chosen = self.names.currentItem().text() if self.names.currentItem() else ""
        self._diagnostics = diagnostics
        self.names.clear()
        for name, text in (diagnostics.texts if diagnostics else {}).items():
            item = QListWidgetItem(name)
            item.setToolTip(size_text(len(text.encode("utf-8", "replace"))))
            self.names.addItem(item)
            if name == chosen or self.names.currentRow() < 0:
                self.names.setCurrentItem(item)
        for button in (self.copy, self.save):
            button.setEnabled(diagnostics is not None)
        self._show_text()
        self._say(self.tr("Not saved yet.") if diagnostics else self.tr("Putting it together…"))

    def _show_text(self) -> None:
        item = self.names.currentItem()
        name = item.text() if item is not None else ""
        self.text.setPlainText(self._diagnostics.texts[name] if self._diagnostics and name else "")
        self.text.setAccessibleName(name or self.tr("Text"))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.text.toPlainText())
        self._say(self.tr("Copied."))

    def _save(self, path: str) -> None:
        diagnostics = self._diagnostics
        if diagnostics is None:
            return

        async def work() -> None:
            await asyncio.to_thread(diagnostics.save, Path(path))
            self._say(self.tr("Saved as {path}").format(path=QDir.toNativeSeparators(path)))

        def failed(error: Exception) -> None:
            self._say(self.tr("It could not be saved: {reason}").format(reason=_reason(error)), bad=True)

        self._background.start(work(), "saving diagnostics", failed)

    def _say(self, text: str, *, bad: bool = False) -> None:
        self.state.setText(text)
        role = "error" if bad else "caption"
        if self.state.property("role") != role:
            self.state.setProperty("role", role)
            self.state.style().polish(self.state)


def _reason(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error) or type(error).__name__
