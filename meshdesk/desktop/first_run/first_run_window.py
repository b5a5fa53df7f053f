"""The first run's window: its pages one after the other, and what was chosen handed over at the end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Protocol

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QCloseEvent, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
)

from meshdesk.desktop.background import Background
from meshdesk.desktop.first_run.app_page import AppPage
from meshdesk.desktop.first_run.first_run_choice import FirstRunChoice
from meshdesk.desktop.first_run.hardware_page import HardwarePage
from meshdesk.desktop.first_run.mesh_page import MeshPage
from meshdesk.desktop.first_run.model_page import ModelPage
from meshdesk.desktop.first_run.page import Page
from meshdesk.desktop.first_run.sharing_page import SharingPage
from meshdesk.desktop.first_run.step_indicator import StepIndicator
from meshdesk.desktop.theme import GRID, PADDING
from meshdesk.desktop.window import DeskWindow
from meshdesk.volunteer.onboarding import Onboarding, Step
from meshdesk.volunteer.settings import Settings

log = logging.getLogger(__name__)

SIZE = (600, 480)
_BUTTONS = (QPushButton, QToolButton)


class PresentSettings(Protocol):
    """Whatever holds the settings as they are now."""

    @property
    def settings(self) -> Settings: ...


class FirstRunWindow(DeskWindow):
    """Asks ``steps``, all of them if none is given. ``finished`` is called once, at the end.

    Closed midway it keeps nothing, and begins anew when it is opened again.
    """

    page_changed = Signal()

    def __init__(
        self,
        onboarding: Onboarding,
        settings: PresentSettings,
        background: Background,
        finished: Callable[[FirstRunChoice], None],
        steps: tuple[Step, ...] = (),
    ):
        super().__init__("first-run", self.tr("Welcome to meshdesk"))
        self._onboarding = onboarding
        self._settings = settings
        self._background = background
        self._finished = finished
        self._steps = steps or tuple(Step)
        self._done = False
        self.pages: dict[Step, Page] = {}
        self._lay_out()
        self._begin_anew()
        self.resize(*SIZE)
        for keys in ("Alt+Left", QKeySequence.StandardKey.Back):
            shortcut = QShortcut(QKeySequence(keys), self)
            shortcut.activated.connect(self.go_back)
            shortcut.activatedAmbiguously.connect(self.go_back)

    @property
    def page(self) -> Page:
        """The page before the person."""
        return self.pages[self._steps[self._stack.currentIndex()]]

    def go_on(self) -> None:
        """To the next page, or to the end; a page may hold the person back."""
        if self.page.complete and self.page.leave():
            self._advance()

    def go_back(self) -> None:
        if self._stack.currentIndex() > 0:
            self._turn_to(self._stack.currentIndex() - 1)

    def closeEvent(self, event: QCloseEvent) -> None:
        super().closeEvent(event)
        if event.isAccepted() and not self._for_good:
            self._begin_anew()

    def close_for_good(self) -> None:
        self._give_up()
        super().close_for_good()

    def shown(self) -> None:
        super().shown()
        self._turn_to(self._stack.currentIndex())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            focused = self.focusWidget()
            if isinstance(focused, _BUTTONS) and focused is not self.next:
                focused.click()
            else:
                self.go_on()
            return
        super().keyPressEvent(event)

    def _advance(self) -> None:
        at = self._stack.currentIndex()
        if at + 1 < len(self._steps):
            self._turn_to(at + 1)
        else:
            self._finish()

    def _finish(self) -> None:
        if self._done:
            return
        self._done = True
        changes: dict[str, Any] = {}
        for page in self.pages.values():
            changes.update(page.settings())
        mesh, app = self.pages.get(Step.MESH), self.pages.get(Step.APP)
        choice = FirstRunChoice(
            join=mesh is not None,
            practice=isinstance(mesh, MeshPage) and mesh.practice.isChecked(),
            settings=changes,
            autostart=app.autostart.isChecked() if isinstance(app, AppPage) else None,
            steps=self._steps,
        )
        self._background.start(asyncio.to_thread(self._onboarding.finish, self._steps), "keep the answers", _not_kept)
        self.close()
        self._finished(choice)

    def _turn_to(self, at: int) -> None:
        self._stack.setCurrentIndex(at)
        self.indicator.show_step(at, len(self._steps))
        self.indicator.setVisible(len(self._steps) > 1)
        self.page.entered()
        self._show_buttons()
        (self.page.first_focus() or self.next).setFocus()
        if self.isVisible():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, self.page.title))
        self.page_changed.emit()

    def _show_buttons(self) -> None:
        last = self._stack.currentIndex() + 1 == len(self._steps)
        usual = self.tr("Next")
        if last:
            usual = self.tr("Join mesh") if Step.MESH in self._steps else self.tr("Done")
        self.next.setText(self.page.next_text or usual)
        self.next.setEnabled(self.page.complete)
        self.back.setVisible(self._stack.currentIndex() > 0)

    def _begin_anew(self) -> None:
        """Fresh pages, the first of them shown."""
        self._done = False
        self._give_up()
        while (left := self._stack.widget(0)) is not None:
            self._stack.removeWidget(left)
            left.deleteLater()
        self.pages = {step: self._make(step) for step in self._steps}
        for page in self.pages.values():
            page.changed.connect(lambda page=page: self._page_changed(page))
            page.passed.connect(lambda page=page: self._page_passed(page))
            self._stack.addWidget(_scrolled(page))
        self._stack.setCurrentIndex(0)
        self._show_buttons()

    def _give_up(self) -> None:
        for page in self.pages.values():
            page.give_up()

    def _make(self, step: Step) -> Page:
        settings = self._settings.settings
        match step:
            case Step.MESH:
                return MeshPage(settings, self._background)
            case Step.SHARING:
                return SharingPage()
            case Step.HARDWARE:
                return HardwarePage(self._background)
            case Step.MODEL:
                return ModelPage(settings, self._background)
            case Step.APP:
                return AppPage(settings)

    def _page_changed(self, page: Page) -> None:
        if page is self.page:
            self._show_buttons()

    def _page_passed(self, page: Page) -> None:
        if page is self.page and self.isVisible():
            self._advance()

    def _lay_out(self) -> None:
        self.indicator = StepIndicator()
        self._stack = QStackedWidget()
        self.back = QPushButton(self.tr("Back"))
        self.next = QPushButton()
        self.next.setProperty("role", "primary")
        self.back.clicked.connect(self.go_back)
        self.next.clicked.connect(self.go_on)
        buttons = QHBoxLayout()
        buttons.setSpacing(GRID)
        buttons.addWidget(self.indicator)
        buttons.addStretch(1)
        buttons.addWidget(self.back)
        buttons.addWidget(self.next)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * PADDING, 2 * PADDING, 2 * PADDING, 2 * PADDING)
        layout.setSpacing(2 * GRID)
        layout.addWidget(self._stack, 1)
        layout.addLayout(buttons)
        self.setMinimumSize(480, 400)


def _scrolled(page: Page) -> QScrollArea:
    """A page that is too tall for a small screen, or in a language with long words, scrolls."""
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidget(page)
    return area


def _not_kept(error: Exception) -> None:
    # They count for this run; the next start asks again.
    log.warning("the answers of the first run could not be kept: %s", error)
