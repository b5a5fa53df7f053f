"""Why a value is no good as a setting, in people's words instead of pydantic's."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from meshdesk.protocol.errors import UsageError
from meshdesk.volunteer.settings import Settings, info_of
from meshdesk.volunteer.wording import QT_TRANSLATE_NOOP, Words

_NUMBER = QT_TRANSLATE_NOOP("Settings", "Give a whole number from {least} to {most}.")
_AMOUNT = QT_TRANSLATE_NOOP("Settings", "Give a whole number from {least} to {most} {unit}.")
_TOO_LONG = QT_TRANSLATE_NOOP("Settings", "Give at most {most} characters.")
_CHOICE = QT_TRANSLATE_NOOP("Settings", "Choose one of these: {choices}.")
_SWITCH = QT_TRANSLATE_NOOP("Settings", "Choose on or off.")
_TEXT = QT_TRANSLATE_NOOP("Settings", "Give a text.")
_DAYS = QT_TRANSLATE_NOOP("Settings", "Choose days of the week.")
_NO_SUCH_SETTING = QT_TRANSLATE_NOOP("Settings", "There is no such setting.")


class SettingRefused(UsageError):
    """Values that cannot be; nothing was changed. ``sentences`` says for each refused setting why."""

    code = "setting_refused"

    def __init__(self, sentences: Mapping[str, Words]):
        super().__init__(" ".join(f"{label_of(name)}: {sentence}" for name, sentence in sentences.items()))
        self.sentences = dict(sentences)


def no_such_setting(name: str) -> SettingRefused:
    return SettingRefused({name: _NO_SUCH_SETTING})


def check_values(present: Settings, values: Mapping[str, Any]) -> Settings:
    """``present`` with ``values`` in it, each brought into its proper form. Raises SettingRefused for all bad ones."""
    unknown = {name: _NO_SUCH_SETTING for name in values if name not in Settings.model_fields}
    try:
        checked = Settings.model_validate({**present.model_dump(), **values})
    except ValidationError as error:
        raise SettingRefused({**unknown, **refusals_of(error)}) from None
    if unknown:
        raise SettingRefused(unknown)
    return checked


def refusals_of(error: ValidationError) -> dict[str, Words]:
    """One refusal for each setting that ``error`` complains about."""
    refusals: dict[str, Words] = {}
    for each in error.errors(include_url=False, include_input=False):
        name = str(each["loc"][0])
        refusals.setdefault(name, _refusal(name, each["type"], each.get("ctx", {})))
    return refusals


def label_of(name: str) -> str:
    """What people call the setting, to be translated; its bare name if there is none such."""
    return Words("Settings", info_of(name).label) if name in Settings.model_fields else name


def bounds_of(name: str) -> tuple[int, int]:
    """The least and the most of a setting that is a number."""
    bounds = {type(each).__name__: each for each in Settings.model_fields[name].metadata}
    return bounds["Ge"].ge, bounds["Le"].le


def choices_of(name: str) -> tuple[str, ...]:
    """What a setting that is one of several may be; empty for another kind."""
    annotation = Settings.model_fields[name].annotation
    return typing.get_args(annotation) if typing.get_origin(annotation) is typing.Literal else ()


def _refusal(name: str, kind: str, context: Mapping[str, Any]) -> Words:
    if kind == "value_error":
        (sentence,) = context["error"].args
        return sentence if isinstance(sentence, Words) else Words("Settings", str(sentence))
    if kind == "string_too_long":
        return _TOO_LONG.format(most=context["max_length"])
    if choices_of(name):
        return _CHOICE.format(choices=", ".join(choices_of(name)))
    annotation = Settings.model_fields[name].annotation
    if annotation is int:
        least, most = bounds_of(name)
        unit = info_of(name).unit
        return _AMOUNT.format(least=least, most=most, unit=unit) if unit else _NUMBER.format(least=least, most=most)
    if annotation is bool:
        return _SWITCH
    return _TEXT if annotation is str else _DAYS
