"""Counted things in words, for plain functions: Qt's tools find a plural only where an object's ``tr`` says it."""

from __future__ import annotations

from PySide6.QtCore import QObject


class Plurals(QObject):
    """Each method gives one counted thing; ``n`` is how many."""

    def chats(self, n: int) -> str:
        return self.tr("%n chat(s)", "", n)

    def chats_now(self, n: int) -> str:
        return self.tr("%n chat(s) now", "", n)

    def tokens(self, n: int) -> str:
        return self.tr("%n token(s)", "", n)

    def reconnects(self, n: int) -> str:
        return self.tr("%n reconnect(s)", "", n)

    def hops(self, n: int) -> str:
        return self.tr("%n hop(s)", "", n)

    def rows_copied(self, n: int) -> str:
        return self.tr("%n row(s) copied", "", n)


_plurals: Plurals | None = None


def plurals() -> Plurals:
    """The one object, made at its first use."""
    global _plurals
    if _plurals is None:
        _plurals = Plurals()
    return _plurals
