"""What a person can do, from whichever window or menu: one interface, so that all of them do the same."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol


class Window(StrEnum):
    """The windows there are."""

    DASHBOARD = "dashboard"
    CHAT = "chat"
    LOGS = "logs"
    SETTINGS = "settings"
    CONNECTION = "connection"
    DIAGNOSTICS = "diagnostics"
    ABOUT = "about"
    FIRST_RUN = "first-run"


class Actions(Protocol):
    """Every call returns at once; what comes of it shows in the status, or as a problem in the window."""

    def join(self) -> None: ...

    def leave(self) -> None: ...

    def pause(self, seconds: float | None) -> None:
        """``seconds`` None: until the person resumes."""

    def resume(self) -> None: ...

    def show(self, window: Window, *, about: str = "") -> None:
        """Open a window, or raise it. ``about`` is what to show in it first: a setting's name, a session's id."""

    def quit(self) -> None:
        """Leave the mesh and end the app. Asked a second time, it no longer waits for running chats."""
