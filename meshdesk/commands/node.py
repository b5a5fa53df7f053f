"""``meshdesk node``: some layers of a model, served to a mesh."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from meshdesk.commands.options import Compute, Dtype, ExitWithParent, Host, Json, Model, Port
from meshdesk.commands.output import Output
from meshdesk.commands.preparing import prepare_model
from meshdesk.commands.running import run_role
from meshdesk.volunteer.advertise import advertised, reserved_port
from meshdesk.volunteer.control_places import Place, free_node_place
from meshdesk.volunteer.identity import kept_identity, new_identity
from meshdesk.volunteer.layers import parse_layers
from meshdesk.volunteer.log_ring_handler import kept_log
from meshdesk.volunteer.parent_watch import end_with_parent
from meshdesk.volunteer.urls import http_url, websocket_url

if TYPE_CHECKING:
    from meshdesk.node.config import NodeConfig

MIB = 1024 * 1024


def node(
    model: Model = None,
    layers: Annotated[str, typer.Option(help="Which layers to hold, like 0-14, or all.")] = "all",
    tracker: Annotated[str | None, typer.Option(help="The tracker to register with.", show_default=False)] = None,
    relay: Annotated[str | None, typer.Option(help="The relay to be reached by.", show_default=False)] = None,
    advertise: Annotated[
        str | None,
        typer.Option(
            help="The URL others dial this node at; none: by relay only. Without it, this node's own address.",
            show_default=False,
        ),
    ] = None,
    host: Host = "127.0.0.1",
    port: Port = 0,
    dtype: Compute = Dtype.AUTO,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads to compute with; all cores without it.", show_default=False)
    ] = None,
    kv_budget: Annotated[int, typer.Option(min=1, help="MiB for the memory of running chats (KV caches).")] = 1024,
    accept_unproven_routes: Annotated[
        bool,
        typer.Option("--accept-unproven-routes", help="Follow anybody's route; for a mesh without a tracker."),
    ] = False,
    forget: Annotated[bool, typer.Option("--forget", help="Take a new identity and do not keep it.")] = False,
    json: Json = False,
    exit_with_parent: ExitWithParent = False,
) -> None:
    """Run a node: hold some of a model's layers and compute them for the mesh.

    While it runs, meshdesk status, hops, logs, pause, resume, leave, join and quit work on it. Leaving and
    pausing keep the layers in memory and let chats under way end; no new ones come until it joins again.
    """
    from meshdesk.node.config import NodeConfig

    if exit_with_parent:
        end_with_parent()
    start_layer, end_layer = parse_layers(layers)
    tracker_url = None if tracker is None else http_url(tracker, "--tracker")
    relay_url = None if relay is None else websocket_url(relay, "--relay")
    with contextlib.ExitStack() as stack:
        identity = new_identity() if forget else stack.enter_context(kept_identity())
        port = stack.enter_context(reserved_port(host, port))
        config = NodeConfig(
            model_path=Path(),
            start_layer=start_layer,
            end_layer=end_layer,
            host=host,
            port=port,
            advertise=advertised(advertise, host=host, port=port, tracker_url=tracker_url, relay_url=relay_url),
            tracker_url=tracker_url,
            relay_url=relay_url,
            dtype=dtype.value,
            threads=threads,
            kv_budget_bytes=kv_budget * MIB,
            node_id=identity.node_id,
            identity_secret=identity.secret,
            accept_unproven_routes=accept_unproven_routes,
        )
        config = dataclasses.replace(config, model_path=prepare_model(model))
        place = stack.enter_context(free_node_place())
        run_role("node", lambda output: _serve(config, output, place), json_lines=json)


async def _serve(config: NodeConfig, output: Output, place: Place | None) -> None:
    from meshdesk.commands.node_lines import ready_fields, ready_sentence, show_events
    from meshdesk.node.events import EventBus
    from meshdesk.node.node import Node
    from meshdesk.volunteer.controlled_node import controlled

    bus = EventBus()
    with kept_log() as ring, bus.subscribe() as events:
        running = Node(config, bus)
        output.say("Loading the layers …")
        await running.start()
        showing = None
        try:
            async with controlled(running, ring, place) as told_to_quit:
                output.ready(ready_sentence(running), ready_fields(running))
                # What came before the ready line has waited in the subscription, and follows it.
                showing = asyncio.create_task(show_events(events, output), name="show events")
                await _first_of(running.failed, told_to_quit)
            if running.failure is not None:
                raise running.failure
        finally:
            await running.stop()
            if showing is not None:
                # The last events were published by the stop; they are in the subscription, not lost.
                showing.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await showing


async def _first_of(*events: asyncio.Event) -> None:
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
        await asyncio.gather(*waits, return_exceptions=True)
