"""``meshdesk tracker``: the mesh's control plane and its OpenAI API."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from meshdesk.commands.options import ExitWithParent, Host, Json, Port, program, reached_at
from meshdesk.commands.output import Output
from meshdesk.commands.running import run_role
from meshdesk.protocol.errors import UsageError
from meshdesk.volunteer.parent_watch import end_with_parent


def tracker(
    host: Host = "127.0.0.1",
    port: Port = 0,
    allow_loopback: Annotated[
        bool, typer.Option("--allow-loopback", help="Let nodes register addresses of this computer (a mesh on one).")
    ] = False,
    heartbeat: Annotated[float, typer.Option(min=0.05, help="Seconds between a node's signs of life.")] = 15.0,
    expire_after: Annotated[
        float | None, typer.Option(min=0.1, help="Seconds without one until a node is left out; three heartbeats.")
    ] = None,
    json: Json = False,
    exit_with_parent: ExitWithParent = False,
) -> None:
    """Run a tracker: nodes register here, and chats come in as OpenAI requests."""
    if exit_with_parent:
        end_with_parent()
    expire_after_s = 3 * heartbeat if expire_after is None else expire_after
    if expire_after_s <= heartbeat:
        raise UsageError(
            f"Nodes would be left out after {expire_after_s:g} s, before their next sign of life at {heartbeat:g} s.",
            hint="Choose --expire-after larger than --heartbeat.",
        )

    async def serve(output: Output) -> None:
        from meshdesk.tracker.config import TrackerConfig
        from meshdesk.tracker.server import TrackerServer

        server = TrackerServer(
            TrackerConfig(
                host=host,
                port=port,
                allow_loopback=allow_loopback,
                heartbeat_s=heartbeat,
                expire_after_s=expire_after_s,
            )
        )
        await server.start()
        try:
            output.ready(f"The tracker listens at {server.url}", {"url": server.url, "api_url": server.url + "/v1"})
            output.say(f"Chat with its mesh:     {program()} chat --tracker {reached_at(server.url, host)}")
            output.say(f"Any OpenAI client:      base URL {reached_at(server.url, host)}/v1, any key")
            await asyncio.Event().wait()
        finally:
            await server.stop()

    run_role("tracker", serve, json_lines=json)
