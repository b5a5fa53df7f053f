"""Which mesh: one that is started on this computer to try things out, or one that somebody invited to."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QCoreApplication, QEvent, QObject
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QLineEdit, QRadioButton, QVBoxLayout, QWidget

from meshdesk.desktop.background import Background
from meshdesk.desktop.first_run.failure_card import FailureCard
from meshdesk.desktop.first_run.page import Page, text_label
from meshdesk.desktop.theme import GRID, PADDING
from meshdesk.protocol.errors import MeshdeskError
from meshdesk.volunteer.invite import MAX_CHARS, Invite, NotAnInvite, parse_invite
from meshdesk.volunteer.settings import Settings
from meshdesk.volunteer.tracker_lists import DEADLINE_S, count_nodes
from meshdesk.volunteer.wording import Words

INDENT = 26
"""Where the words of a radio button begin."""


class MeshPage(Page):
    """The tracker is asked before the person goes on; if it does not answer, they may go on all the same."""

    def __init__(self, settings: Settings, background: Background, deadline_s: float = DEADLINE_S):
        super().__init__(QCoreApplication.translate("MeshPage", "Which mesh?"), background)
        self._present = settings
        self._deadline_s = deadline_s
        self._task: asyncio.Task[Any] | None = None
        self._asked: Invite | None = None
        """The invite whose tracker has answered, or failed to."""
        self.practice = QRadioButton(self.tr("Try on this computer"))
        self.invited = QRadioButton(self.tr("Join a mesh I was invited to"))
        choices = QButtonGroup(self)
        choices.addButton(self.practice)
        choices.addButton(self.invited)
        self.field = QLineEdit(settings.tracker)
        self.field.setAccessibleName(self.tr("Invite or tracker address"))
        self.field.setPlaceholderText(self.tr("Paste an invite, or an address like 203.0.113.5:7000"))
        self.field.setMaxLength(MAX_CHARS + 1)
        self.field.installEventFilter(self)
        self.found = text_label(role="muted")
        self.wrong = text_label(role="error")
        self.failure = FailureCard()
        self._lay_out()
        (self.invited if settings.tracker else self.practice).setChecked(True)
        self.practice.toggled.connect(self._choose)
        self.field.textEdited.connect(self._edited)
        self.failure.retried.connect(self._retry)
        self._show()

    @property
    def next_text(self) -> str:
        if self._task is not None:
            return self.tr("Looking…")
        return self.tr("Go on anyway") if self.failure.isVisibleTo(self) else ""

    @property
    def complete(self) -> bool:
        return self._task is None

    def first_focus(self) -> QWidget:
        return self.field if self.invited.isChecked() else self.practice

    def leave(self) -> bool:
        if self.practice.isChecked():
            return True
        try:
            invite = parse_invite(self.field.text())
        except NotAnInvite as error:
            self._say_wrong(error)
            self.field.setFocus()
            return False
        if invite == self._asked:
            return True
        self._look(invite)
        return False

    def settings(self) -> Mapping[str, Any]:
        if self.practice.isChecked():
            return {}
        invite = parse_invite(self.field.text())
        if invite.tracker == self._present.tracker and not invite.relay:
            # An address alone says nothing about the relay of the mesh one is in already.
            return {}
        return {"tracker": invite.tracker, "relay": invite.relay}

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.field and isinstance(event, QFocusEvent) and event.type() is QEvent.Type.FocusIn:
            self.invited.setChecked(True)
        return super().eventFilter(watched, event)

    def _choose(self) -> None:
        self._give_up()
        self._show()

    def _edited(self) -> None:
        self._give_up()
        self.invited.setChecked(True)
        self._show()

    def _retry(self) -> None:
        self._asked = None
        if self.leave():
            self.passed.emit()

    def _look(self, invite: Invite) -> None:
        """Ask the tracker, beside the loop of the windows."""
        self.failure.hide()
        self.found.setText(self.tr("Looking for the mesh…"))
        self.found.show()
        self._task = self.start(self._ask(invite), "first look at a mesh")
        self.changed.emit()

    async def _ask(self, invite: Invite) -> None:
        task = asyncio.current_task()
        try:
            count = await count_nodes(invite.tracker, self._deadline_s)
        except MeshdeskError as error:
            if self._task is task:
                self._task, self._asked = None, invite
                self._say_failed(invite, error)
        else:
            if self._task is task:
                self._task, self._asked = None, invite
                self.found.setText(self.tr("The mesh answers. It has %n node(s) now.", "", count))
                self.changed.emit()
                self.passed.emit()

    def _give_up(self) -> None:
        self._task = self._asked = None
        self.give_up()

    def _say_failed(self, invite: Invite, error: MeshdeskError) -> None:
        words = self.tr("No tracker answers at {address}. Check the address, or go on and try later.")
        details = f"{error.message} {error.hint or ''}".strip()
        self.failure.show_failure(words.format(address=invite.tracker), details)
        self.found.hide()
        self.changed.emit()

    def _say_wrong(self, error: NotAnInvite) -> None:
        self._mark_field(True)
        self.wrong.setText(f"{_translated(error.words)} {_translated(error.advice)}")
        self.wrong.show()
        self.found.hide()

    def _mark_field(self, invalid: bool) -> None:
        self.field.setProperty("invalid", "true" if invalid else "false")
        self.field.style().unpolish(self.field)
        self.field.style().polish(self.field)

    def _show(self) -> None:
        """What is known of the text as it stands; what is wrong with it is said when the person goes on."""
        self._mark_field(False)
        self.wrong.hide()
        self.failure.hide()
        try:
            invite = parse_invite(self.field.text()) if self.invited.isChecked() else None
        except NotAnInvite:
            invite = None
        self.found.setText("" if invite is None else self._described(invite))
        self.found.setVisible(invite is not None)
        self.changed.emit()

    def _described(self, invite: Invite) -> str:
        if invite.name and invite.relay:
            text = self.tr("“{name}”: tracker {tracker}, relay {relay}")
        elif invite.name:
            text = self.tr("“{name}”: tracker {tracker}")
        elif invite.relay:
            text = self.tr("Tracker {tracker}, relay {relay}")
        else:
            text = self.tr("Tracker {tracker}")
        return text.format(name=invite.name, tracker=invite.tracker, relay=invite.relay)

    def _lay_out(self) -> None:
        practice = text_label(
            self.tr("Starts a small mesh that lives on this computer only, so that you see everything at work."),
            "muted",
        )
        for radio, below in (
            (self.practice, [practice]),
            (self.invited, [self.field, self.wrong, self.found]),
        ):
            card = QFrame()
            card.setProperty("role", "card")
            inside = QVBoxLayout(card)
            inside.setContentsMargins(PADDING, PADDING, PADDING, PADDING)
            inside.setSpacing(GRID)
            inside.addWidget(radio)
            column = QVBoxLayout()
            column.setContentsMargins(INDENT, 0, 0, 0)
            column.setSpacing(GRID)
            for each in below:
                column.addWidget(each)
            inside.addLayout(column)
            self.column.addWidget(card)
        self.column.addWidget(self.failure)
        self.column.addStretch(1)


def _translated(text: Words) -> str:
    shown = QCoreApplication.translate(text.context, text.template)
    return shown.format(**text.values) if text.values else shown
