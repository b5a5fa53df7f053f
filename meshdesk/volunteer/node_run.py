"""One life of this computer's node, from finding its model to its last goodbye, with all that watches it meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import aiohttp

from meshdesk.node.events import EventBus, TrackerRegistered
from meshdesk.node.node import Node
from meshdesk.protocol.errors import MeshdeskError
from meshdesk.shard.model_job import ModelProgress
from meshdesk.shard.spec import ShardStats
from meshdesk.volunteer.identity import kept_identity
from meshdesk.volunteer.membership_records import KeptRecords
from meshdesk.volunteer.mesh_view import MeshNode, ask_nodes
from meshdesk.volunteer.network import NetworkFacts, gather_network
from meshdesk.volunteer.node_facts import NodeFacts
from meshdesk.volunteer.node_plan import MeshAddress, NodePlan, NoMesh, locate_model, plan_node
from meshdesk.volunteer.practice_mesh import PracticeMesh
from meshdesk.volunteer.settings import Settings
from meshdesk.volunteer.status import Progress
from meshdesk.volunteer.transfer_rate import TransferRate

log = logging.getLogger(__name__)

MESH_S = 10.0
"""How often the tracker is asked who is there."""
STATS_S = 5.0
SAVE_S = 30.0
PROBE_AFTER_S = 1.0
_STEPS = {"downloading": "downloading"}


class NodeRun:
    """``start`` once, then ``stop`` once, also after a start that failed. ``tell`` is called when something changed."""

    def __init__(self, bus: EventBus, records: KeptRecords, tell: Callable[[], None]):
        self._bus = bus
        self._records = records
        self._tell = tell
        self._stack = AsyncExitStack()
        self._tasks: list[asyncio.Task[None]] = []
        self._client: aiohttp.ClientSession | None = None
        self._rate = TransferRate()
        self.failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when the running node can no longer serve; ``failure`` says why."""
        self.node: Node | None = None
        self.plan: NodePlan | None = None
        self.facts: NodeFacts | None = None
        self.network: NetworkFacts | None = None
        self.stats: ShardStats | None = None
        self.mesh: list[MeshNode] = []
        self.progress: Progress | None = Progress("finding")
        self.joined_at: float | None = None
        self.quiet = asyncio.Event()
        """Set while no session runs through this node."""

    @property
    def failure(self) -> MeshdeskError | None:
        return self.node.failure if self.node is not None else None

    async def start(
        self, settings: Settings, practice: PracticeMesh | None, address: Callable[[], MeshAddress | None]
    ) -> None:
        """Find the model, start a practice mesh where there is one, plan and start the node. Raises MeshdeskError."""
        where = None if practice is not None else address()
        if practice is None and (where is None or not where.tracker):
            raise NoMesh(
                "No mesh is chosen yet.", hint="Enter its tracker's address, or try meshdesk on this computer."
            )
        self._client = await self._stack.enter_async_context(aiohttp.ClientSession())
        if where is not None:
            await self._look_at_mesh(where)
        path = await locate_model(settings, self.mesh, self._model_progressed)
        if practice is not None:
            self._progressed(Progress("connecting", detail="practice"))
            where = await practice.start(path)
            settings = settings.model_copy(update={"threads": settings.threads or practice.threads})
            await self._look_at_mesh(where)
        assert where is not None
        self.network = await gather_network(where.tracker)
        await self._start_node(settings, where, path)
        self._watch(self._watch_mesh(where), "mesh view")
        self._watch(self._watch_stats(), "shard stats")
        self._watch(self._save_now_and_then(), "records")
        self._watch(self._wait_for_failure(), "node failure")

    async def _start_node(self, settings: Settings, where: MeshAddress, path: Path) -> None:
        identity = await asyncio.to_thread(self._stack.enter_context, kept_identity())
        plan = await self._stack.enter_async_context(plan_node(settings, where, path, self.mesh, identity))
        self.plan = plan
        start, end = plan.config.start_layer or 0, plan.config.end_layer or plan.num_layers
        self._records.own_layers = lambda: (start, end)
        self.facts = NodeFacts(self._records.hops, self._records.totals, where.relay, where.tracker)
        self._watch(self._follow_events(self.facts), "node events")
        # The subscription must stand before the first event is published.
        await asyncio.sleep(0)
        self.node = node = Node(plan.config, self._bus)
        try:
            await node.start()
        except BaseException:
            # It has cleaned up after itself.
            self.node = None
            raise
        self.progress = None
        self.joined_at = time.time()

    async def drain(self, deadline_s: float, hasten: asyncio.Event) -> bool:
        """Take no new chats and let those under way end, for ``deadline_s`` at most or until ``hasten`` is set."""
        if self.node is None:
            return True
        await self.node.take_no_more()
        waits = [asyncio.ensure_future(each.wait()) for each in (self.quiet, hasten)]
        try:
            if not self._records.totals.sessions_now(time.time()):
                return True
            await asyncio.wait(waits, timeout=deadline_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)
        return not self._records.totals.sessions_now(time.time())

    async def stop(self) -> None:
        """End the node, its child process, and everything that watches them."""
        # The watchers of a node go before it, but who follows its events must see its last ones.
        followers = [task for task in self._tasks if task.get_name() == "node events"]
        await _end([task for task in self._tasks if task not in followers])
        if self.node is not None:
            await self.node.stop()
        await _end(followers)
        self._records.totals.forget_sessions()
        await self._stack.aclose()
        if not self.failed.done():
            self.failed.cancel()

    def reconnect(self, reason: str) -> None:
        """The computer slept or moved: dial anew, and find out anew how it is reached."""
        if self.node is not None:
            self.node.reconnect(reason)

    def _watch(self, work: Coroutine[Any, Any, None], name: str) -> None:
        self._tasks.append(asyncio.create_task(work, name=name))

    def _progressed(self, progress: Progress) -> None:
        self.progress = progress
        self._tell()

    def _model_progressed(self, progress: ModelProgress) -> None:
        self._rate.note(progress.done)
        known = progress.total > 0
        self._progressed(
            Progress(
                _STEPS.get(progress.step, "preparing"),
                progress.step,
                progress.done,
                progress.total,
                self._rate.per_s() if known else None,
                self._rate.seconds_left(progress.total) if known else None,
            )
        )

    async def _follow_events(self, facts: NodeFacts) -> None:
        with self._bus.subscribe() as events:
            try:
                async for event in events:
                    facts.apply(event)
                    if isinstance(event, TrackerRegistered):
                        self._watch(self._probe(), "direct probe")
                    self._after_event()
            finally:
                # The last ones, from the stop, are there already.
                for event in events.take():
                    facts.apply(event)

    def _after_event(self) -> None:
        if self._records.totals.sessions_now(time.time()):
            self.quiet.clear()
        else:
            self.quiet.set()
        self._tell()

    async def _probe(self) -> None:
        await asyncio.sleep(PROBE_AFTER_S)
        if self.node is not None:
            self.network = await gather_network(self.node.config.tracker_url)
            await self.node.probe_direct()
        self._tasks = [task for task in self._tasks if not task.done()]

    async def _look_at_mesh(self, where: MeshAddress) -> None:
        assert self._client is not None
        found = await ask_nodes(where.tracker, self._client)
        if found is not None and found != self.mesh:
            self.mesh = found
            self._tell()

    async def _watch_mesh(self, where: MeshAddress) -> None:
        while True:
            await self._look_at_mesh(where)
            await asyncio.sleep(MESH_S)

    async def _watch_stats(self) -> None:
        while True:
            if self.node is not None:
                stats = await self.node.shard_stats()
                if stats != self.stats:
                    self.stats = stats
                    self._tell()
            await asyncio.sleep(STATS_S)

    async def _save_now_and_then(self) -> None:
        while True:
            await asyncio.sleep(SAVE_S)
            await self._records.save()

    async def _wait_for_failure(self) -> None:
        assert self.node is not None
        await self.node.failed.wait()
        if not self.failed.done():
            self.failed.set_result(None)


async def _end(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.gather(*tasks, return_exceptions=True)
