"""``meshdesk join``, ``leave``, ``pause``, ``resume`` and ``quit``: what the tray's menu does, from a terminal."""

from __future__ import annotations

import re
from typing import Annotated, Any

import typer

from meshdesk.commands.options import Json
from meshdesk.commands.reaching import NodeNumber, print_json, reach
from meshdesk.commands.status_text import duration
from meshdesk.protocol.errors import UsageError
from meshdesk.volunteer.control_protocol import MAX_PAUSE_S, Command

_PART = re.compile(r"(\d{1,6})([smhd])")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def join(json: Json = False, node: NodeNumber = None) -> None:
    """Join the mesh; also what tries again after a problem."""
    _tell(Command.JOIN, json, node, "Joining the mesh. Follow it with: meshdesk status --watch")


def leave(json: Json = False, node: NodeNumber = None) -> None:
    """Leave the mesh once the chats under way are over. A headless node keeps its layers, for a quick join."""
    _tell(Command.LEAVE, json, node, "Leaving the mesh; chats under way may end first.")


def pause(
    length: Annotated[
        str | None, typer.Argument(metavar="[15m|1h|…]", help="How long, like 15m or 1h30m.", show_default=False)
    ] = None,
    until_resume: Annotated[
        bool, typer.Option("--until-resume", help="Until meshdesk resume; as without a length.")
    ] = False,
    json: Json = False,
    node: NodeNumber = None,
) -> None:
    """Serve nothing for a while, and then go on by itself."""
    if length is not None and until_resume:
        raise UsageError("A pause lasts for a time, or until you resume, not both.")
    seconds = None if length is None else seconds_of(length)
    until = "until: meshdesk resume" if seconds is None else f"for {duration(seconds)}"
    _tell(Command.PAUSE, json, node, f"Paused {until}", seconds=seconds)


def resume(json: Json = False, node: NodeNumber = None) -> None:
    """End a pause."""
    _tell(Command.RESUME, json, node, "Going on.")


def quit_meshdesk(json: Json = False, node: NodeNumber = None) -> None:
    """End the running meshdesk: leave the mesh, then close."""
    _tell(Command.QUIT, json, node, "meshdesk is ending.")


def seconds_of(length: str) -> float:
    """``15m``, ``1h30m`` or ``2d`` in seconds. Raises UsageError."""
    text = length.strip().lower().replace(" ", "")
    seconds = sum(int(count) * _UNITS[unit] for count, unit in _PART.findall(text))
    if _PART.sub("", text) or not 0 < seconds <= MAX_PAUSE_S:
        raise UsageError(f"{length!r} is no length of a pause.", hint="Write it like 15m, 1h or 1h30m.")
    return float(seconds)


def _tell(command: Command, json: bool, node: int | None, sentence: str, **args: Any) -> None:
    status = reach(node).ask(command, **args)
    if json:
        print_json(status)
    else:
        print(sentence)
