"""The demo's mesh: relay, tracker and nodes as child processes on loopback, started and stopped in order."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from meshdesk.volunteer.child_role import ChildRole, Fields, RoleFailed
from meshdesk.volunteer.layers import show_layers

HUB_READY_S = 60.0
NODE_READY_S = 300.0
JOIN_S = 60.0

T = TypeVar("T")
OnEvent = Callable[[Fields], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeshPlan:
    """What to start. ``layers`` are half-open, one node each; ``by_relay`` lets hops go by relay first."""

    model_path: Path
    layers: list[tuple[int, int]]
    by_relay: bool
    dtype: str
    threads: int
    tracker_port: int = 0


@dataclass
class DemoMesh:
    """A mesh that runs. ``nodes`` are the nodes' ready lines in the order of their layers."""

    tracker_url: str
    relay_url: str | None
    nodes: list[Fields]
    _roles: list[ChildRole] = field(repr=False)

    async def failure(self) -> RoleFailed:
        """Wait until one of its programs ends by itself."""
        waiting = [asyncio.create_task(role.ended(), name=f"{role.name} watch") for role in self._roles]
        try:
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            return next(iter(done)).result()
        finally:
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)


@contextlib.asynccontextmanager
async def demo_mesh(plan: MeshPlan, on_event: OnEvent, tell: Callable[[str], None]) -> AsyncIterator[DemoMesh]:
    """Start the mesh of ``plan`` and stop it at the end, whatever happens in between.

    ``on_event`` gets the nodes' events, ``tell`` a sentence at each step. RoleFailed if a part does not start.
    """
    hubs: list[ChildRole] = []
    nodes: list[ChildRole] = []
    try:
        tell("Starting the relay and the tracker" if plan.by_relay else "Starting the tracker")
        port = ["--port", str(plan.tracker_port)]
        tracker = ChildRole("tracker", ["tracker", "--allow-loopback", *port])
        relay = ChildRole("relay", ["relay"]) if plan.by_relay else None
        hubs += [tracker, *([relay] if relay else [])]
        ready = await _all(*(hub.start(HUB_READY_S) for hub in hubs))
        tracker_url, relay_url = str(ready[0]["url"]), str(ready[1]["url"]) if relay else None
        tell(f"Starting {len(plan.layers)} node(s) and loading their layers")
        joins = [_Join(by_relay=plan.by_relay, on_event=on_event) for _ in plan.layers]
        nodes += [
            ChildRole(
                f"node for layers {show_layers(*layers)}", _node_arguments(plan, layers, tracker_url, relay_url), join
            )
            for layers, join in zip(plan.layers, joins, strict=True)
        ]
        lines = await _all(*(node.start(NODE_READY_S) for node in nodes))
        tell("Waiting until the nodes have joined")
        await _all(*(_joined(node, join) for node, join in zip(nodes, joins, strict=True)))
        yield DemoMesh(tracker_url, relay_url, lines, [*nodes, *hubs])
    finally:
        # The nodes first: they take their leave from the hubs.
        for group in (nodes, hubs):
            await asyncio.gather(*(role.stop() for role in group))


class _Join:
    """Passes a node's events on, and notes when it has joined tracker and relay."""

    def __init__(self, *, by_relay: bool, on_event: OnEvent):
        self._missing = {"TrackerRegistered", *(["RelayConnected"] if by_relay else [])}
        self._on_event = on_event
        self.complete = asyncio.Event()

    def __call__(self, fields: Fields) -> None:
        self._missing.discard(str(fields.get("event")))
        if not self._missing:
            self.complete.set()
        self._on_event(fields)


def _node_arguments(plan: MeshPlan, layers: tuple[int, int], tracker_url: str, relay_url: str | None) -> list[str]:
    arguments = ["node", "--model", str(plan.model_path), "--layers", f"{layers[0]}-{layers[1] - 1}", "--forget"]
    arguments += ["--dtype", plan.dtype, "--threads", str(plan.threads), "--tracker", tracker_url]
    return arguments + (["--relay", relay_url] if relay_url else [])


async def _joined(node: ChildRole, join: _Join) -> None:
    ended = asyncio.create_task(node.ended(), name=f"{node.name} watch")
    complete = asyncio.create_task(join.complete.wait(), name=f"{node.name} join")
    try:
        done, _ = await asyncio.wait({ended, complete}, timeout=JOIN_S, return_when=asyncio.FIRST_COMPLETED)
        if complete in done:
            return
        if ended in done:
            raise ended.result()
        raise RoleFailed(f"The {node.name} did not join the mesh within {JOIN_S:.0f} s.")
    finally:
        for task in (ended, complete):
            task.cancel()
        await asyncio.gather(ended, complete, return_exceptions=True)


async def _all(*parts: Coroutine[Any, Any, T]) -> list[T]:
    """Run all parts at once; the first failure cancels the others and is raised as it is."""
    tasks = [asyncio.create_task(part) for part in parts]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
