"""Sentences of the engine's side in the app's language."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from meshdesk.volunteer.wording import Words


def spoken(text: str) -> str:
    """``text`` translated where it is Words, the words within it too; any other text as it is."""
    if not isinstance(text, Words):
        return text
    if not text.template:
        # For an empty text Qt would give the head of its file.
        return ""
    said = QCoreApplication.translate(text.context, text.template)
    if not text.values:
        return said
    return said.format(**{name: spoken(each) if isinstance(each, str) else each for name, each in text.values.items()})
