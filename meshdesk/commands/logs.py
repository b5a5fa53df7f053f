"""``meshdesk logs``: the log of the running meshdesk."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Any

import orjson
import typer

from meshdesk.commands.reaching import NodeNumber, print_lines, reach

_STYLES = {"WARNING": "yellow", "ERROR": "red", "CRITICAL": "red"}


class Level(StrEnum):
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


def logs(
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with each line that comes, until Ctrl-C.")
    ] = False,
    level: Annotated[Level, typer.Option(help="Leave out what matters less.")] = Level.DEBUG,
    json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
    node: NodeNumber = None,
) -> None:
    """Show the newest lines of the running meshdesk's log."""
    from meshdesk.volunteer.control_protocol import Command

    items = reach(node).follow(Command.LOGS, follow=follow)
    least = logging.getLevelNamesMapping()[level.upper()]
    wanted = (item for item in items if _rank(item) >= least)
    print_lines((orjson.dumps(item).decode() for item in wanted) if json else _texts(wanted))


def _rank(item: dict[str, Any]) -> int:
    return logging.getLevelNamesMapping().get(str(item["level"]), logging.ERROR)


def _texts(items: Iterator[dict[str, Any]]) -> Iterator[str]:
    for item in items:
        at, level = float(item["at"]), str(item["level"])
        when = f"{time.strftime('%H:%M:%S', time.localtime(at))}.{int(at * 1000) % 1000:03}"
        text = f"{when} {level:<8} {item['origin']:<6} {item['message']}"
        if item.get("details"):
            text += "\n" + str(item["details"])
        # click takes the colours out again where nobody sees them.
        yield typer.style(text, fg=_STYLES[level]) if level in _STYLES and _colours() else text


def _colours() -> bool:
    import os
    import sys

    return sys.stdout.isatty() and "NO_COLOR" not in os.environ
