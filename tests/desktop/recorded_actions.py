"""Actions that only write down what they were asked to do."""

from __future__ import annotations

from meshdesk.desktop.actions import Window


class RecordedActions:
    """``done`` holds one line a call, oldest first."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def join(self) -> None:
        self.done.append("join")

    def leave(self) -> None:
        self.done.append("leave")

    def pause(self, seconds: float | None) -> None:
        self.done.append(f"pause {seconds}")

    def resume(self) -> None:
        self.done.append("resume")

    def show(self, window: Window, *, about: str = "") -> None:
        self.done.append(f"show {window.value} {about}".rstrip())

    def quit(self) -> None:
        self.done.append("quit")
