"""``meshdesk relay``: the public hub that nodes behind NAT are reached through."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from meshdesk.commands.options import ExitWithParent, Host, Json, Port, program, reached_at
from meshdesk.commands.output import Output
from meshdesk.commands.running import run_role
from meshdesk.volunteer.parent_watch import end_with_parent


def relay(
    host: Host = "127.0.0.1",
    port: Port = 0,
    peers: Annotated[int | None, typer.Option(min=1, help="How many peers may be connected at once.")] = None,
    json: Json = False,
    exit_with_parent: ExitWithParent = False,
) -> None:
    """Run a relay: a hub on a public address that nodes behind NAT connect out to."""
    if exit_with_parent:
        end_with_parent()

    async def serve(output: Output) -> None:
        from meshdesk.relay.limits import RelayLimits
        from meshdesk.relay.server import RelayConfig, RelayServer

        limits = RelayLimits() if peers is None else RelayLimits(peers=peers)
        server = RelayServer(RelayConfig(host=host, port=port, limits=limits))
        await server.start()
        try:
            output.ready(f"The relay listens at {server.url}", {"url": server.url, "http_url": server.http_url})
            output.say(f"Nodes use it with:  {program()} node --relay {reached_at(server.url, host)}")
            await asyncio.Event().wait()
        finally:
            await server.stop()

    run_role("relay", serve, json_lines=json)
