"""The windows, each made when it is first asked for and kept until the end."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from meshdesk.desktop.actions import Window
from meshdesk.desktop.window import DeskWindow

log = logging.getLogger(__name__)

Make = Callable[[], DeskWindow]


class Windows:
    """``makers`` build each window. ``about`` of ``show`` goes to the window's ``show_about``, where it has one."""

    def __init__(self, makers: Mapping[Window, Make]):
        self._makers = dict(makers)
        self._made: dict[Window, DeskWindow] = {}

    def show(self, window: Window, about: str = "") -> None:
        """Open the window, or raise it."""
        found = self.get(window)
        found.show_and_raise()
        show_about = getattr(found, "show_about", None)
        if about and show_about is not None:
            show_about(about)

    def get(self, window: Window) -> DeskWindow:
        """The window, made if need be, shown or not."""
        if window not in self._made:
            self._made[window] = self._makers[window]()
        return self._made[window]

    def visible(self) -> list[Window]:
        return [window for window, made in self._made.items() if made.isVisible()]

    def forget(self, window: Window) -> None:
        """Close a window for good: it is made anew when it is asked for again."""
        made = self._made.pop(window, None)
        if made is not None:
            made.close_for_good()

    def close(self) -> None:
        """Close all of them for good."""
        for window in list(self._made):
            self.forget(window)
