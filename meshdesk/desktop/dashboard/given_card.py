"""What this computer has given: today, and since the first start."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from meshdesk.desktop.amounts import count_text, size_text
from meshdesk.desktop.dashboard.card import Card, set_text
from meshdesk.desktop.plurals import plurals
from meshdesk.volunteer.status import Given, Status

translate = QCoreApplication.translate


class GivenCard(Card):
    """Tokens, chats and octets; kept over restarts."""

    def __init__(self) -> None:
        super().__init__(translate("GivenCard", "Given"))
        self._today = self.add_line(translate("GivenCard", "Today"))
        self._today_moved = self.add_line("")
        self._in_all = self.add_line(translate("GivenCard", "In all"))
        self._in_all_moved = self.add_line("")
        self.end()

    def show_status(self, status: Status, now: float) -> None:
        """Say what is true now."""
        set_text(self._today, _computed(status.today))
        set_text(self._today_moved, _moved(status.today))
        set_text(self._in_all, _computed(status.in_all))
        set_text(self._in_all_moved, _moved(status.in_all))


def _computed(given: Given) -> str:
    # A figure with thousands set apart, which a plural's %n cannot have.
    tokens = translate("GivenCard", "{count} tokens").format(count=count_text(given.tokens))
    return f"{tokens} · " + plurals().chats(given.chats)


def _moved(given: Given) -> str:
    return f"↑ {size_text(given.bytes_out)}  ↓ {size_text(given.bytes_in)}"
