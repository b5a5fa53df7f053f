"""Finding the meshdesk that runs here, for the commands that speak to it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import orjson
import typer

from meshdesk.protocol.errors import UsageError

if TYPE_CHECKING:
    from meshdesk.volunteer.control_client import ControlClient

NodeNumber = Annotated[
    int | None,
    typer.Option("--node", min=1, max=64, help="Speak to this headless node, not to the app.", show_default=False),
]


def reach(node: int | None) -> ControlClient:
    """The running app, or the only headless node, or the one of that number. Raises NotRunning, UsageError."""
    clients = reach_all(node)
    if len(clients) > 1 and not clients[0].place.is_app:
        numbers = ", ".join(client.place.name.rpartition("-")[2] for client in clients)
        raise UsageError(f"Several nodes run here: {numbers}.", hint="Choose one with --node.")
    return clients[0]


def reach_all(node: int | None) -> list[ControlClient]:
    """Everyone who runs here, the app first; or the node of that number alone. Raises NotRunning."""
    from meshdesk.volunteer.control_client import ControlClient, NotRunning, running

    places = running(node)
    if not places and node is not None:
        raise NotRunning(f"There is no node {node} here.", hint="See what runs with: meshdesk status")
    if not places:
        raise NotRunning("meshdesk is not running here.", hint="Start it with: meshdesk")
    return [ControlClient(place) for place in places]


def print_json(fields: Any) -> None:
    """One JSON value on a line of its own, at once."""
    sys.stdout.write(orjson.dumps(fields, default=str).decode() + "\n")
    sys.stdout.flush()


def print_lines(lines: Iterable[str]) -> None:
    """Each line as it comes. A reader that has had enough, as ``head`` has, is no fault."""
    try:
        for line in lines:
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
    except BrokenPipeError:
        # Else Python would complain once more when it closes standard output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
