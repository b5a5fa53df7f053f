"""The controls of the settings window: one kind for each type of setting.

``edited`` comes with the person's finished change only, never when a value is shown; ``touched`` while they
are still at it. A control that does not apply ``at_once`` is finished with Enter or on leaving it.
"""

from __future__ import annotations

import typing
from typing import Any

from PySide6.QtCore import QLocale, Qt, Signal
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QSpinBox,
    QWidget,
)

from meshdesk.desktop.settings.setting_texts import choice_text, setting_text
from meshdesk.desktop.theme import GRID
from meshdesk.volunteer.settings import Settings, Weekday, info_of
from meshdesk.volunteer.settings_refusal import bounds_of, choices_of

COMPACT_PX = 188
DAYS: tuple[str, ...] = typing.get_args(Weekday)


class Control(QWidget):
    """What all of them can. ``input`` is the widget that takes the keys."""

    edited = Signal(object)
    touched = Signal()
    input: QWidget

    def show_value(self, value: Any) -> None:
        """Show what the setting is; tells nobody."""
        raise NotImplementedError

    def commit(self) -> None:
        """Take what stands there as finished."""

    def pending(self) -> bool:
        """Whether there is something in it that is not finished."""
        return False

    def set_names(self, name: str, description: str) -> None:
        """What a screen reader says of it."""
        self.input.setAccessibleName(name)
        self.input.setAccessibleDescription(description)

    def set_invalid(self, invalid: bool) -> None:
        if self.input.property("invalid") != invalid:
            self.input.setProperty("invalid", invalid)
            self.input.style().polish(self.input)

    def _hold(self, *widgets: QWidget, spacing: int = 0) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(spacing)
        for widget in widgets:
            row.addWidget(widget)
        self.setFocusProxy(self.input)


class SwitchControl(Control):
    """On or off."""

    def __init__(self) -> None:
        super().__init__()
        self.input: QCheckBox = QCheckBox()
        self.setMinimumWidth(COMPACT_PX)
        rest = QWidget()
        rest.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self._hold(self.input, rest)
        self.input.clicked.connect(lambda on: self.edited.emit(on))

    def show_value(self, value: Any) -> None:
        self.input.setChecked(bool(value))


class ChoiceControl(Control):
    """One of several."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.input: QComboBox = _Combo()
        for value in choices_of(name):
            self.input.addItem(choice_text(name, value), value)
        self.input.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.input.setFixedWidth(COMPACT_PX)
        self._hold(self.input)
        self.input.activated.connect(lambda _index: self.edited.emit(self.input.currentData()))

    def set_names(self, name: str, description: str) -> None:
        super().set_names(name, description)
        self.input.view().setAccessibleName(name)

    def show_value(self, value: Any) -> None:
        self.input.setCurrentIndex(max(0, self.input.findData(value)))


class NumberControl(Control):
    """A whole number with its unit; 0 is written as what it means."""

    def __init__(self, name: str) -> None:
        super().__init__()
        info = info_of(name)
        self._at_once = not info.restarts
        self._shown = 0
        self.input: QSpinBox = _Spin()
        self.input.setRange(*bounds_of(name))
        self.input.setGroupSeparatorShown(True)
        # While digits are being typed, each of them would be a value.
        self.input.setKeyboardTracking(False)
        if info.unit:
            self.input.setSuffix(f" {setting_text(info.unit)}")
        if info.zero:
            self.input.setSpecialValueText(setting_text(info.zero))
        self.input.setSingleStep(_step(name))
        self.input.setMinimumWidth(COMPACT_PX)
        self._hold(self.input)
        self.input.valueChanged.connect(lambda _value: self._changed())
        self.input.lineEdit().textEdited.connect(lambda _text: self.touched.emit())
        self.input.editingFinished.connect(self._finished)

    def show_value(self, value: Any) -> None:
        self._shown = value
        blocked = self.input.blockSignals(True)
        self.input.setValue(value)
        self.input.blockSignals(blocked)

    def commit(self) -> None:
        self.input.interpretText()
        self._finished()

    def pending(self) -> bool:
        return self.input.value() != self._shown

    def _changed(self) -> None:
        if self._at_once:
            self._finished()
        else:
            self.touched.emit()

    def _finished(self) -> None:
        if self.pending():
            self._shown = self.input.value()
            self.edited.emit(self._shown)


class TextControl(Control):
    """A line of text."""

    def __init__(self, *, wide: bool) -> None:
        super().__init__()
        self._shown = ""
        self.input: QLineEdit = QLineEdit()
        if not wide:
            self.input.setMinimumWidth(COMPACT_PX)
            self.input.setMaximumWidth(COMPACT_PX)
        self._hold(self.input)
        self.input.textEdited.connect(lambda _text: self.touched.emit())
        self.input.editingFinished.connect(self.commit)

    def show_value(self, value: Any) -> None:
        self._shown = str(value)
        self.input.setText(self._shown)
        self.input.setCursorPosition(0)

    def commit(self) -> None:
        if self.pending():
            self._shown = self.input.text()
            self.edited.emit(self._shown)

    def pending(self) -> bool:
        return self.input.text() != self._shown


class DaysControl(Control):
    """A button for each day of the week."""

    def __init__(self) -> None:
        super().__init__()
        locale = QLocale()
        self.buttons: dict[str, QAbstractButton] = {}
        for number, day in enumerate(DAYS, start=1):
            button = QPushButton(locale.dayName(number, QLocale.FormatType.ShortFormat))
            button.setCheckable(True)
            button.setProperty("segment", True)
            button.setToolTip(locale.dayName(number, QLocale.FormatType.LongFormat))
            button.clicked.connect(lambda _on: self.edited.emit(self._chosen()))
            self.buttons[day] = button
        self.input = self.buttons[DAYS[0]]
        self._hold(*self.buttons.values(), spacing=2)

    def show_value(self, value: Any) -> None:
        for day, button in self.buttons.items():
            button.setChecked(day in value)

    def set_names(self, name: str, description: str) -> None:
        for button in self.buttons.values():
            button.setAccessibleName(f"{name}: {button.toolTip()}")
            button.setAccessibleDescription(description)

    def _chosen(self) -> frozenset[str]:
        return frozenset(day for day, button in self.buttons.items() if button.isChecked())


def control_of(name: str) -> Control:
    """The control for the setting ``name``, by its type."""
    annotation = Settings.model_fields[name].annotation
    if annotation is bool:
        return SwitchControl()
    if annotation is int:
        return NumberControl(name)
    if annotation is str:
        return TextControl(wide=is_wide(name))
    return ChoiceControl(name) if choices_of(name) else DaysControl()


def is_wide(name: str) -> bool:
    """Whether the control needs a line of its own: days, and texts that may be as long as an address."""
    field = Settings.model_fields[name]
    if choices_of(name) or field.annotation in (bool, int):
        return False
    return field.annotation is not str or field.default == ""


def _step(name: str) -> int:
    """Of the arrows: large amounts go in hundreds, percents in fives."""
    info = info_of(name)
    return {"MB": 100, "KB/s": 100, "%": 5}.get(info.unit, 1)


# A wheel that rolls over the page must change no setting on its way.
class _Spin(QSpinBox):
    def __init__(self) -> None:
        super().__init__()
        self.lineEdit().setTextMargins(GRID - 2, 0, 0, 0)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class _Combo(QComboBox):
    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()
