"""The settings window: pages by group, a search over all of them, every change applied at once."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QItemSelectionModel, QSize, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from meshdesk.desktop.actions import Actions
from meshdesk.desktop.background import Background
from meshdesk.desktop.icons import ui_icon
from meshdesk.desktop.settings.autostart_row import AutostartRow
from meshdesk.desktop.settings.section import Section
from meshdesk.desktop.settings.setting_row import SettingRow
from meshdesk.desktop.settings.setting_texts import setting_text
from meshdesk.desktop.settings.storage_row import StorageRow
from meshdesk.desktop.settings.token_row import TokenRow
from meshdesk.desktop.spoken_words import spoken
from meshdesk.desktop.theme import GRID, PADDING
from meshdesk.desktop.window import DeskWindow
from meshdesk.volunteer.autostart import Autostart
from meshdesk.volunteer.hub_token import HubToken
from meshdesk.volunteer.settings import GROUPS, Settings, info_of
from meshdesk.volunteer.settings_file import SettingsFile

SIDE_PX = 160
PAGE_PX = 32
HIGHLIGHT_MS = 1500
HUB_TOKEN = "hub_token"
"""The name by which ``show_about`` finds the Hub token, which is no setting of the file."""


class SettingsWindow(DeskWindow):
    """The settings of ``file``. Without ``autostart`` and ``token`` it takes those of this system."""

    def __init__(
        self,
        file: SettingsFile,
        background: Background,
        actions: Actions,
        autostart: Autostart | None = None,
        token: HubToken | None = None,
    ):
        super().__init__("settings", "")
        self.setWindowTitle(self.tr("Settings"))
        self.setAccessibleName(self.windowTitle())
        self.resize(760, 600)
        self.setMinimumSize(640, 400)
        self._file = file
        self.rows: dict[str, SettingRow] = {}
        self.sections: list[Section] = []
        self.autostart = AutostartRow(file, autostart or Autostart(), background)
        self.token = TokenRow(token or HubToken(), background)
        self.storage = StorageRow(background)
        self._highlighted: SettingRow | TokenRow | None = None
        self._fade = QTimer(self)
        self._fade.setSingleShot(True)
        self._fade.setInterval(HIGHLIGHT_MS)
        self._fade.timeout.connect(self._end_highlight)
        self.search = _Search()
        self.pages = QListWidget()
        self.nothing = QLabel()
        self.banner = QFrame()
        self.problem = QLabel()
        self._scroll = QScrollArea()
        self._make_sections()
        self._lay_out()
        self.set_actions(actions)
        find = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self)
        find.activated.connect(self._find)
        self.search.textChanged.connect(lambda _text: self._filter())
        self.pages.currentRowChanged.connect(lambda _row: self._page_chosen())
        self.pages.itemClicked.connect(lambda _item: self._page_chosen())
        self.pages.setCurrentRow(0)
        self._unlisten = file.listen(self._settings_changed)
        self.destroyed.connect(self._unlisten)
        self._show_problem()

    def show_about(self, name: str) -> None:
        """Bring the setting ``name`` before the person, with the keys in it. Nothing happens for an unknown one."""
        row = self.token if name == HUB_TOKEN else self.rows.get(name)
        if row is None:
            return
        self.search.clear()
        group = "Model" if name == HUB_TOKEN else info_of(name).group
        self.pages.setCurrentRow(GROUPS.index(group))
        self._end_highlight()
        self._highlighted = row
        row.highlight(True)
        self._fade.start()
        # Where a row lies is known once its page has been laid out.
        QTimer.singleShot(0, self, lambda: self._go_to(row))

    def shown(self) -> None:
        for row in self.rows.values():
            row.refresh()
        self.autostart.reread()
        self.token.reread()
        self._page_chosen()

    def hidden(self) -> None:
        for row in self.rows.values():
            row.control.commit()
        self._end_highlight()
        for each in (self.autostart, self.token, self.storage):
            each.stop()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isActiveWindow() and self.isVisible():
            # The person comes back from where they may have changed it.
            self.autostart.reread()

    def _make_sections(self) -> None:
        for group in GROUPS:
            section = Section(setting_text(group))
            for name in Settings.model_fields:
                if info_of(name).group == group:
                    row = self.autostart if name == "autostart" else SettingRow(name, self._file)
                    self.rows[name] = row
                    section.add(row)
            if group == "Model":
                section.add(self.token)
            self.sections.append(section)
        storage = Section(self.tr("Storage"))
        storage.add(self.storage)
        self.sections.append(storage)

    def _lay_out(self) -> None:
        self.search.setPlaceholderText(self.tr("Search"))
        self.search.setAccessibleName(self.tr("Search the settings"))
        self.pages.setProperty("role", "pages")
        self.pages.setAccessibleName(self.tr("Groups of settings"))
        for section in self.sections:
            item = QListWidgetItem(section.title)
            item.setSizeHint(QSize(0, PAGE_PX))
            self.pages.addItem(item)
        self.nothing.setProperty("role", "muted")
        self.nothing.setWordWrap(True)
        side = QVBoxLayout()
        side.setSpacing(GRID)
        side.addWidget(self.search)
        side.addWidget(self.pages, 1)
        narrow = QWidget()
        narrow.setLayout(side)
        side.setContentsMargins(0, 0, 0, 0)
        narrow.setFixedWidth(SIDE_PX)

        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, GRID, 0)
        column.setSpacing(0)
        column.addWidget(self.nothing)
        for section in self.sections:
            column.addWidget(section)
        column.addStretch()
        self._scroll.setWidget(content)
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)

        self.banner.setProperty("role", "banner")
        self.problem.setWordWrap(True)
        self.problem.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.problem.setAccessibleName(self.tr("What is wrong with the settings file"))
        close = QToolButton()
        close.setIcon(ui_icon("close"))
        close.setToolTip(self.tr("Hide this"))
        close.setAccessibleName(close.toolTip())
        close.clicked.connect(self.banner.hide)
        inside = QHBoxLayout(self.banner)
        inside.setContentsMargins(PADDING, GRID, GRID, GRID)
        inside.addWidget(self.problem, 1)
        inside.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)

        above = QVBoxLayout()
        above.setContentsMargins(0, 0, GRID, 0)
        above.addWidget(self.banner)
        right = QVBoxLayout()
        right.setSpacing(GRID)
        right.addLayout(above)
        right.addWidget(self._scroll, 1)
        row = QHBoxLayout(self)
        row.setContentsMargins(PADDING, PADDING, PADDING - GRID // 2, PADDING)
        row.setSpacing(2 * GRID)
        row.addWidget(narrow)
        row.addLayout(right, 1)

    def _settings_changed(self, _names: frozenset[str]) -> None:
        for row in self.rows.values():
            row.refresh()
        self._show_problem()

    def _show_problem(self) -> None:
        text = " ".join(spoken(each) for each in self._file.problems)
        if text != self.problem.text() or not text:
            self.problem.setText(text)
            self.banner.setVisible(bool(text))

    def _filter(self) -> None:
        words = self.search.text().casefold().split()
        found = [section.filter(words) for section in self.sections]
        chosen = self.pages.currentRow()
        for number, section in enumerate(self.sections):
            section.setVisible(found[number] if words else number == chosen)
        # What is found may be on any page.
        self.pages.setCurrentRow(
            chosen,
            QItemSelectionModel.SelectionFlag.Clear if words else QItemSelectionModel.SelectionFlag.ClearAndSelect,
        )
        self.nothing.setVisible(bool(words) and not any(found))
        self.nothing.setText(self.tr("No setting has “{text}” in it.").format(text=self.search.text().strip()))
        self._scroll.verticalScrollBar().setValue(0)
        if self.isVisible() and self.sections[-1].isVisibleTo(self):
            self.storage.reread()

    def _page_chosen(self) -> None:
        if self.search.text():
            # It filters in its turn.
            self.search.clear()
        else:
            self._filter()

    def _find(self) -> None:
        self.search.setFocus()
        self.search.selectAll()

    def _go_to(self, row: SettingRow | TokenRow) -> None:
        self._scroll.ensureWidgetVisible(row, 0, 8 * GRID)
        target = row.control.input if isinstance(row, SettingRow) else row.change
        target.setFocus(Qt.FocusReason.OtherFocusReason)

    def _end_highlight(self) -> None:
        self._fade.stop()
        if self._highlighted is not None:
            self._highlighted.highlight(False)
            self._highlighted = None


class _Search(QLineEdit):
    """Esc empties a field that holds something; only in an empty one it closes the window."""

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
            self.clear()
        else:
            super().keyPressEvent(event)
