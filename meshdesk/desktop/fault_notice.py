"""meshdesk met a fault: said once for each kind of it, with all there is to know. Nothing goes over the network."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QVBoxLayout

from meshdesk import __version__
from meshdesk.desktop.actions import Actions, Window
from meshdesk.desktop.icons import ui_icon
from meshdesk.desktop.theme import GRID, PADDING, text_font
from meshdesk.desktop.window import DeskWindow
from meshdesk.volunteer.log_setup import Fault

MAX_SHOWN = 20


class FaultNotice(DeskWindow):
    """The window for it. It takes no keys from another one: who is just typing must not answer it unseen."""

    def __init__(self, actions: Actions) -> None:
        super().__init__("fault", "")
        self.setWindowTitle(self.tr("meshdesk met a fault"))
        self.setAccessibleName(self.windowTitle())
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.resize(640, 400)
        self.setMinimumSize(440, 280)
        self._faults: list[Fault] = []
        self._left_out = 0
        headline = QLabel(self.tr("meshdesk met a fault"))
        headline.setProperty("role", "headline")
        self.meaning = QLabel()
        self.meaning.setWordWrap(True)
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setFont(text_font(mono=True))
        self.text.setAccessibleName(self.tr("What happened"))
        self.text.setTabChangesFocus(True)
        self.copy = QPushButton(ui_icon("copy"), self.tr("&Copy details"))
        self.export = QPushButton(ui_icon("export"), self.tr("&Export diagnostics…"))
        self.dismiss = QPushButton(self.tr("Close"))
        self.dismiss.setProperty("role", "primary")

        buttons = QHBoxLayout()
        buttons.setSpacing(GRID)
        buttons.addWidget(self.copy)
        buttons.addWidget(self.export)
        buttons.addStretch(1)
        buttons.addWidget(self.dismiss)
        column = QVBoxLayout(self)
        column.setContentsMargins(2 * PADDING, PADDING, 2 * PADDING, PADDING)
        column.setSpacing(GRID)
        column.addWidget(headline)
        column.addWidget(self.meaning)
        column.addWidget(self.text, 1)
        column.addLayout(buttons)

        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.details()))
        self.export.clicked.connect(lambda: actions.show(Window.DIAGNOSTICS))
        self.dismiss.clicked.connect(self.close)
        self.set_actions(actions)

    def add(self, fault: Fault) -> None:
        """Show one more, and the window if it is not there."""
        if len(self._faults) < MAX_SHOWN:
            self._faults.append(fault)
        else:
            self._left_out += 1
        count = self.tr("%n fault(s) in all.", "", len(self._faults) + self._left_out)
        said = self.tr("It goes on as well as it can. All of it is in the log; nothing was sent anywhere.")
        self.meaning.setText(f"{said} {count}" if len(self._faults) > 1 else said)
        self.text.setPlainText(self.details())
        if not self.isVisible():
            self.show()
            self.dismiss.setFocus()

    def details(self) -> str:
        """All of it as text, free of secrets as the log is."""
        parts = [f"meshdesk {__version__}", *(fault.line.text for fault in self._faults)]
        if self._left_out:
            parts.append(f"({self._left_out} more in the log)")
        return "\n\n".join(parts)

    def hidden(self) -> None:
        self._faults.clear()
        self._left_out = 0
        self.text.clear()


class FaultNotices(QObject):
    """Brings faults of any thread before the person, from its making to ``close``."""

    _told = Signal(object)

    def __init__(self, listen: Callable[[Callable[[Fault], None]], Callable[[], None]], actions: Actions) -> None:
        super().__init__()
        self._actions = actions
        self.notice: FaultNotice | None = None
        self._told.connect(self._show, Qt.ConnectionType.QueuedConnection)
        self._forget = listen(self._told.emit)

    def close(self) -> None:
        """Tell of no more, and close the window for good."""
        self._forget()
        self._told.disconnect(self._show)
        if self.notice is not None:
            self.notice.close_for_good()
            self.notice = None

    def _show(self, fault: Fault) -> None:
        if self.notice is None:
            self.notice = FaultNotice(self._actions)
        self.notice.add(fault)
