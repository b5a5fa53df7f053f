"""``meshdesk hops``: every token's hops, as the running meshdesk sees them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Annotated, Any

import orjson
import typer

from meshdesk.commands.reaching import NodeNumber, print_lines, reach
from meshdesk.volunteer.control_feeds import record_of
from meshdesk.volunteer.hop_history import SERVED, stats_of
from meshdesk.volunteer.layers import show_layers

_HEAD = f"{'time':<12} {'token':>6} {'layers':>8} {'total':>8} {'network':>8} {'compute':>8} {'queue':>8}  way"


def hops(
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with each hop that comes, until Ctrl-C.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
    node: NodeNumber = None,
) -> None:
    """Show the last tokens' hops and how long each took, in milliseconds; without -f their usual times too."""
    from meshdesk.volunteer.control_protocol import Command

    items = reach(node).follow(Command.HOPS, follow=follow)
    if json:
        print_lines(orjson.dumps(item).decode() for item in items)
    elif follow:
        print_lines(_lines(items))
    else:
        _summary(items)


def _lines(items: Iterator[dict[str, Any]]) -> Iterator[str]:
    yield _HEAD
    for item in items:
        yield _line(item)


def _line(item: dict[str, Any]) -> str:
    at = float(item["at"])
    when = f"{time.strftime('%H:%M:%S', time.localtime(at))}.{int(at * 1000) % 1000:03}"
    layers = show_layers(item["start_layer"], item["end_layer"])
    network = "–" if item["network_ms"] is None else f"{item['network_ms']:.1f}"
    times = f"{item['total_ms']:>8.1f} {network:>8} {item['compute_ms']:>8.1f} {item['queue_ms']:>8.1f}"
    return f"{when:<12} {item['token_index']:>6} {layers:>8} {times}  {item['way'] or SERVED}"


def _summary(items: Iterator[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    figures = stats_of([record_of(item) for item in items])
    if not figures:
        print("No hops yet. They appear with the first chat.")
        return
    table = Table(title="hops, milliseconds a token", title_justify="left")
    table.add_column("layers")
    for name in ("last", "p50", "p95", "network p50", "compute p50"):
        table.add_column(name, justify="right", min_width=6)
    table.add_column("tokens", justify="right")
    table.add_column("way")
    for each in figures:
        network = "–" if each.network_p50_ms is None else f"{each.network_p50_ms:.1f}"
        times = [
            f"{each.last_ms:.1f}",
            f"{each.p50_ms:.1f}",
            f"{each.p95_ms:.1f}",
            network,
            f"{each.compute_p50_ms:.1f}",
        ]
        way = each.way.value if each.way is not None else SERVED
        table.add_row(show_layers(each.start_layer, each.end_layer), *times, f"{each.count:,}", way)
    Console(highlight=False, emoji=False).print(table)
