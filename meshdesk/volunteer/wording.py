"""Sentences that remember how they were made, so that a window can say them in another language.

Everywhere else they are plain English text: in JSON, in a terminal, in a log.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Words(str):
    """A sentence. ``template`` stands in the translations under ``context``; ``values`` fill its places."""

    context: str
    template: str
    values: Mapping[str, Any]

    def __new__(cls, context: str, template: str, values: Mapping[str, Any] | None = None) -> Words:
        words = super().__new__(cls, template.format(**values) if values else template)
        words.context, words.template, words.values = context, template, dict(values or {})
        return words

    def __reduce__(self) -> tuple[type[Words], tuple[str, str, dict[str, Any]]]:
        """How a copy is made, as of a status that is turned into JSON."""
        return Words, (self.context, self.template, dict(self.values))

    def format(self, *_: object, **values: Any) -> Words:
        """The sentence with its places filled; by name only."""
        return Words(self.context, self.template, values)


def QT_TRANSLATE_NOOP(context: str, text: str) -> Words:  # lupdate looks for this name
    """``text``, marked for the translations and not translated yet."""
    return Words(context, text)
