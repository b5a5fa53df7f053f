"""``meshdesk status``: whether this computer is in the mesh, and how it is reached."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from meshdesk.commands.options import Json
from meshdesk.commands.reaching import NodeNumber, print_json, reach, reach_all
from meshdesk.commands.status_text import headline, rows, sign


def status(
    json: Json = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Show each change until Ctrl-C; with --json a line each.")
    ] = False,
    node: NodeNumber = None,
) -> None:
    """Show what the running meshdesk does: the app, or the headless nodes. Exit code 3 if none runs."""
    from meshdesk.volunteer.control_protocol import Command

    if watch:
        items = reach(node).follow(Command.WATCH)
        if json:
            for item in items:
                print_json(item)
        else:
            _watch(items)
    elif json:
        print_json(reach(node).ask(Command.STATUS))
    else:
        clients = reach_all(node)
        several = len(clients) > 1 and not clients[0].place.is_app
        for client in clients if several else clients[:1]:
            _print(client.ask(Command.STATUS), client.place.name if several else "")


def _print(fields: dict[str, Any], name: str = "") -> None:
    from rich.console import Console

    Console(highlight=False, emoji=False).print(_drawn(fields, name))


def _watch(items: Iterator[dict[str, Any]]) -> None:
    """On a terminal one picture that changes, else a line each."""
    from rich.console import Console
    from rich.live import Live

    console = Console(highlight=False, emoji=False)
    if not console.is_terminal:
        for item in items:
            console.print(headline(item), markup=False)
        return
    with Live(console=console, auto_refresh=False) as live:
        for item in items:
            live.update(_drawn(item), refresh=True)


def _drawn(fields: dict[str, Any], name: str = "") -> Any:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    glyph, style = sign(fields)
    first = Text.assemble((glyph + " ", style), (f"{name}: " if name else "", "dim"), (headline(fields), "bold"))
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for row, text in rows(fields):
        table.add_row(f"  {row}", Text(text))
    return Group(first, table)
