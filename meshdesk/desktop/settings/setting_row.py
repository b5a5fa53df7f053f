"""One setting on the screen: its name, control and help, what is wrong with it, and the way back to its default."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QLocale, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from meshdesk.desktop.icons import ui_icon
from meshdesk.desktop.settings.controls import DAYS, Control, SwitchControl, control_of, is_wide
from meshdesk.desktop.settings.setting_texts import choice_text, setting_text
from meshdesk.desktop.spoken_words import spoken
from meshdesk.desktop.theme import GRID, PADDING
from meshdesk.protocol.errors import MeshdeskError
from meshdesk.volunteer.settings import Settings, info_of
from meshdesk.volunteer.settings_file import SettingsFile
from meshdesk.volunteer.settings_refusal import SettingRefused, choices_of


class SettingRow(QFrame):
    """The setting ``name`` of ``file``. A change is applied at once, or refused in a sentence below it."""

    changed = Signal()
    """What it says has another height, or it was greyed."""

    def __init__(self, name: str, file: SettingsFile):
        super().__init__()
        self.name = name
        self._file = file
        self._problem = ""
        info = info_of(name)
        self.setProperty("role", "row")
        self.label = _Label(setting_text(info.label))
        self.label.setWordWrap(True)
        self.label.setMinimumWidth(1)
        self.help = _caption(setting_text(Settings.model_fields[name].description or ""), self)
        self.restarts = _caption(self.tr("The node restarts.") if info.restarts else "", self)
        self.message = _caption("", self)
        self.message.setProperty("role", "error")
        self.reason = _caption("", self)
        self.control: Control = control_of(name)
        self.label.setBuddy(self.control)
        self.reset = QToolButton()
        self.reset.setIcon(ui_icon("refresh"))
        self.reset.setAccessibleName(self.tr("Reset {setting}").format(setting=self.label.text()))
        self.reset.setToolTip(self.tr("Back to the default: {value}").format(value=self._default_text()))
        policy = self.reset.sizePolicy()
        # Nothing moves when it comes and goes.
        policy.setRetainSizeWhenHidden(True)
        self.reset.setSizePolicy(policy)
        self._lay_out(wide=is_wide(name))
        self.control.edited.connect(self.apply)
        self.control.touched.connect(self._touched)
        self.reset.clicked.connect(self.reset_to_default)
        if isinstance(self.control, SwitchControl):
            self.label.clicked.connect(self.control.input.click)
        self.refresh()

    def refresh(self) -> None:
        """Show what the setting is now. What the person is just writing, or was told is wrong, stays."""
        if not self.control.pending() and not self._problem:
            self.control.show_value(self.value())
        self._show_state()

    def value(self) -> Any:
        """What the setting is now."""
        return getattr(self._file.settings, self.name)

    def apply(self, value: Any) -> None:
        """Change the setting; what is no good is said and not kept."""
        self._say("")
        try:
            self._file.change(**{self.name: value})
        except SettingRefused as refused:
            self._say(spoken(refused.sentences[self.name]))
        except MeshdeskError as error:
            self._say(spoken(error.message))
        else:
            # As it is kept, which may be a tidier form of what was written.
            self.control.show_value(self.value())
        self._show_state()

    def reset_to_default(self) -> None:
        """Give the setting its default again."""
        self._say("")
        self._file.reset(self.name)
        self.control.show_value(self.value())
        self._show_state()
        # The button has gone; the keys must not go with it.
        self.control.input.setFocus(Qt.FocusReason.OtherFocusReason)

    def matches(self, words: list[str]) -> bool:
        """Whether each of the words, in small letters, stands somewhere in what this row says."""
        info = info_of(self.name)
        choices = [choice_text(self.name, value) for value in choices_of(self.name)]
        said = " ".join((self.label.text(), self.help.text(), setting_text(info.group), *choices)).casefold()
        return all(word in said for word in words)

    def highlight(self, on: bool) -> None:
        """Lay a tint behind the row, for eyes that look for it."""
        self.setProperty("highlight", on)
        self.style().polish(self)

    def _show_state(self) -> None:
        info = info_of(self.name)
        settings = self._file.settings
        idle = bool(info.after) and not getattr(settings, info.after)
        self.control.setEnabled(not idle)
        self.label.setEnabled(not idle)
        other = setting_text(info_of(info.after).label) if info.after else ""
        _show(self.reason, self.tr("Has no effect while “{setting}” is off.").format(setting=other) if idle else "")
        bad = self._file.bad_values.get(self.name)
        if bad is not None and not self._problem:
            _show(
                self.message, self.tr("The file has a value here that cannot be. {reason}").format(reason=spoken(bad))
            )
        else:
            _show(self.message, self._problem)
        self.control.set_invalid(bool(self._problem))
        self.reset.setVisible(self.value() != Settings.model_fields[self.name].default or bad is not None)
        said = (self.help.text(), self.restarts.text(), self.reason.text(), self.message.text())
        self.control.set_names(self.label.text(), " ".join(filter(None, said)))
        self.changed.emit()

    def _touched(self) -> None:
        self._say("")
        if info_of(self.name).restarts and self.control.pending():
            _show(self.restarts, self.tr("Press Enter to apply. The node restarts."))
        self._show_state()

    def _say(self, problem: str) -> None:
        self._problem = problem
        if info_of(self.name).restarts:
            _show(self.restarts, self.tr("The node restarts."))

    def _default_text(self) -> str:
        info, default = info_of(self.name), Settings.model_fields[self.name].default
        if isinstance(default, bool):
            return self.tr("on") if default else self.tr("off")
        if isinstance(default, int):
            number = QLocale().toString(default)
            if info.zero and not default:
                return setting_text(info.zero)
            return f"{number} {setting_text(info.unit)}" if info.unit else number
        if isinstance(default, frozenset):
            if len(default) == len(DAYS):
                return self.tr("every day")
            names = [QLocale().dayName(number) for number, day in enumerate(DAYS, 1) if day in default]
            return ", ".join(names)
        if choices_of(self.name):
            return choice_text(self.name, default)
        return str(default) or self.tr("empty")

    def _lay_out(self, *, wide: bool) -> None:
        texts = QVBoxLayout()
        texts.setSpacing(2)
        for label in (self.label, self.help, self.restarts, self.reason):
            texts.addWidget(label)
        controls = QHBoxLayout()
        controls.setSpacing(4)
        controls.addWidget(self.control, 1 if wide else 0)
        controls.addWidget(self.reset)
        column = QVBoxLayout(self)
        column.setContentsMargins(PADDING, PADDING - 4, PADDING - 4, PADDING - 4)
        column.setSpacing(4)
        if wide:
            column.addLayout(texts)
            column.addLayout(controls)
        else:
            row = QHBoxLayout()
            row.setSpacing(2 * GRID)
            row.addLayout(texts, 1)
            row.addLayout(controls)
            row.setAlignment(controls, Qt.AlignmentFlag.AlignTop)
            column.addLayout(row)
        column.addWidget(self.message)


class _Label(QLabel):
    """The name of a setting; a click on that of a switch switches it."""

    clicked = Signal()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.clicked.emit()


def _caption(text: str, parent: QWidget) -> QLabel:
    label = QLabel(parent)
    label.setProperty("role", "caption")
    label.setWordWrap(True)
    # A long word is cut before it pushes the control out of the window.
    label.setMinimumWidth(1)
    _show(label, text)
    return label


def _show(label: QLabel, text: str) -> None:
    label.setText(text)
    label.setVisible(bool(text))
