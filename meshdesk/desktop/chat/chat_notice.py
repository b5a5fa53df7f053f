"""Why there is nobody to chat with just now, and the one thing to do about it. A function of the status alone."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QCoreApplication

from meshdesk.volunteer.status import Phase, Status

translate = QCoreApplication.translate


class Step(StrEnum):
    """What the notice's button does."""

    NONE = "none"
    JOIN = "join"
    DASHBOARD = "dashboard"
    RESUME = "resume"


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence, and the button under it ("" for none)."""

    words: str
    button: str = ""
    step: Step = Step.NONE


def notice_for(status: Status, tracker_url: str | None) -> Notice | None:
    """None where a chat is possible: that takes a tracker, not that this computer serves."""
    if tracker_url is not None:
        return None
    if status.phase is Phase.STARTING:
        return Notice(
            translate("ChatNotice", "The mesh is starting. You can chat as soon as it is there."),
            translate("ChatNotice", "Show progress"),
            Step.DASHBOARD,
        )
    if status.phase is Phase.LEAVING:
        return Notice(translate("ChatNotice", "This computer is just leaving the mesh."))
    if status.phase is Phase.ERROR:
        return Notice(
            translate("ChatNotice", "This computer could not join the mesh, so there is nobody to chat with."),
            translate("ChatNotice", "Show why"),
            Step.DASHBOARD,
        )
    if status.phase is Phase.PAUSED:
        return Notice(
            translate("ChatNotice", "This computer is paused, and its practice mesh with it."),
            translate("ChatNotice", "Resume"),
            Step.RESUME,
        )
    return Notice(
        translate("ChatNotice", "You are in no mesh yet. Join one, and chat with it here."),
        translate("ChatNotice", "Join mesh"),
        Step.JOIN,
    )
