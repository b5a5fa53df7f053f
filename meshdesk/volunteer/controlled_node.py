"""A headless node as the commands of the same user control it.

Leaving keeps the process and its layers: no new chat is sent here, and joining again takes no time.
Whoever wants the memory back quits it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from meshdesk import __version__
from meshdesk.node.events import RelayConnected, TrackerRegistered
from meshdesk.node.node import Node
from meshdesk.protocol.errors import MeshdeskError
from meshdesk.volunteer.control_feeds import hop_items, log_items
from meshdesk.volunteer.control_places import Place
from meshdesk.volunteer.control_protocol import NotPossible
from meshdesk.volunteer.control_server import ControlServer
from meshdesk.volunteer.given_totals import GivenTotals
from meshdesk.volunteer.hop_history import HopHistory
from meshdesk.volunteer.log_records import LogRing
from meshdesk.volunteer.network import NetworkFacts, ProbeResult, gather_network, why_not_direct
from meshdesk.volunteer.node_facts import NodeFacts
from meshdesk.volunteer.status import (
    DirectFacts,
    LinkState,
    Pause,
    PauseCause,
    Phase,
    Reach,
    ShardFacts,
    Status,
)

log = logging.getLogger(__name__)

WATCH_GAP_S = 0.2
"""A busy node changes with every token; nobody reads faster than this."""
TICK_S = 1.0


@asynccontextmanager
async def controlled(node: Node, ring: LogRing, place: Place | None) -> AsyncIterator[asyncio.Event]:
    """Take commands for ``node`` at ``place`` while the block runs; the event is set once one says quit.

    A node that cannot take commands serves all the same.
    """
    told_to_quit = asyncio.Event()
    if place is None:
        yield told_to_quit
        return
    controls = ControlledNode(node, ring, told_to_quit.set)
    server = ControlServer(controls, place)
    try:
        await server.start()
    except (OSError, MeshdeskError) as error:
        log.warning("this node takes no commands: %s", error)
        yield told_to_quit
        return
    controls.start()
    try:
        yield told_to_quit
    finally:
        await server.close()
        await controls.close()


class ControlledNode:
    """Controls ``node``, which must be started, between ``start`` and ``close``. ``quit_node`` ends the process."""

    def __init__(self, node: Node, ring: LogRing, quit_node: Callable[[], None]):
        config, info = node.config, node.info
        self._node = node
        self._ring = ring
        self._quit_node = quit_node
        self._history = HopHistory(own_layers=lambda: (info.start_layer, info.end_layer))
        self._totals = GivenTotals()
        self._facts = NodeFacts(self._history, self._totals, config.relay_url or "", config.tracker_url or "")
        self._phase = Phase.SERVING
        self._since = self._joined_at = time.time()
        self._pause: Pause | None = None
        self._resume_at: asyncio.TimerHandle | None = None
        self._network: NetworkFacts | None = None
        self._probed = False
        self._changed = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Follow the node's events. How its links stand already is read from its health."""
        health = self._node.health()
        relay, tracker = health["relay"], health["tracker"]
        if relay is not None and relay["connected"]:
            self._facts.apply(RelayConnected(relay=self._node.config.relay_url or ""))
        if tracker is not None and tracker["registered"]:
            self._facts.apply(TrackerRegistered(tracker=tracker["url"] or ""))
        self._begin(self._follow_events(), "control events")

    async def close(self) -> None:
        if self._resume_at is not None:
            self._resume_at.cancel()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def status(self) -> dict[str, Any]:
        """As the app's; ``role`` is node."""
        if not self._probed:
            # Only once somebody asks: the tracker's dial is of no use to anybody else.
            self._probed = True
            self._begin(self._probe(), "direct probe")
        return {"role": "node", "version": __version__, "node_id": self._node.node_id, **self._status().to_fields()}

    async def watch(self) -> AsyncIterator[dict[str, Any]]:
        last: dict[str, Any] = {}
        while True:
            self._changed.clear()
            now = self.status()
            if now != last:
                yield now
                last = now
            # Rates change with time alone.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(TICK_S):
                    await self._changed.wait()
            await asyncio.sleep(WATCH_GAP_S)

    async def join(self) -> None:
        """Take chats again."""
        self._needs_tracker("join")
        self._forget_pause()
        if self._phase is not Phase.SERVING:
            self._node.take_again()
            self._set_phase(Phase.SERVING)

    async def leave(self) -> None:
        """Take no new chats; layers stay loaded, and chats under way go on."""
        await self._stop_taking("leave", Phase.OFF)

    async def pause(self, seconds: float | None) -> None:
        """As leave, for so long or until ``resume``."""
        await self._stop_taking("pause", Phase.PAUSED)
        until = None if seconds is None else time.time() + seconds
        self._pause = Pause(PauseCause.PERSON, until)
        if seconds is not None:
            self._resume_at = asyncio.get_running_loop().call_later(
                seconds, lambda: self._begin(self.join(), "end of the pause")
            )

    async def resume(self) -> None:
        """End a pause."""
        await self.join()

    async def quit(self) -> None:
        """End the process, after the answer is out."""
        asyncio.get_running_loop().call_later(0.05, self._quit_node)

    def logs(self, follow: bool) -> AsyncIterator[dict[str, Any]]:
        return log_items(self._ring, follow)

    def hops(self, follow: bool) -> AsyncIterator[dict[str, Any]]:
        return hop_items(self._history, follow)

    async def doctor(self) -> list[dict[str, Any]]:
        from meshdesk.volunteer.checks import check_everything

        await self._probe()
        config = self._node.config
        found = check_everything(
            config.tracker_url,
            config.relay_url,
            host=config.host,
            port=config.port,
            port_is_ours=True,
            direct=self._direct(),
        )
        async with contextlib.aclosing(found) as findings:
            return [finding.to_fields() async for finding in findings]

    def show(self, window: str) -> None:
        raise NotPossible("This is a headless node; it has no window.", hint="Start the app with: meshdesk")

    def _status(self) -> Status:
        info, facts, totals = self._node.info, self._facts, self._totals
        serving = self._phase is Phase.SERVING
        relay_stands = facts.relay.state is LinkState.CONNECTED
        direct = self._direct()
        reach = Reach.RELAY if relay_stands else Reach.DIRECT if direct.reachable is not False else Reach.NOT_YET
        return Status(
            phase=self._phase,
            since=self._since,
            reach=reach if serving else Reach.NOT_YET,
            pause=self._pause,
            shard=ShardFacts(
                model=info.model_id,
                start_layer=info.start_layer,
                end_layer=info.end_layer,
                num_layers=info.num_layers,
                weight_bytes=info.weight_bytes,
                compute_dtype=info.compute_dtype,
            ),
            relay=facts.relay,
            tracker=facts.tracker if serving else replace(facts.tracker, state=LinkState.NONE, reason=""),
            direct=direct,
            joined_at=self._joined_at if serving else None,
            chats_now=totals.sessions_now(time.time()),
            tokens_per_s=facts.tokens_per_s(),
            today=totals.today,
            in_all=totals.in_all,
        )

    def _direct(self) -> DirectFacts:
        if self._network is None:
            return DirectFacts()
        endpoint, probe = self._node.config.advertise, self._facts.probe
        result = ProbeResult(probe.reachable, probe.reason) if probe is not None else None
        return why_not_direct(self._network, direct_hops=endpoint is not None, endpoint=endpoint, tracker_probe=result)

    async def _stop_taking(self, what: str, phase: Phase) -> None:
        self._needs_tracker(what)
        self._forget_pause()
        if self._phase is Phase.SERVING:
            await self._node.take_no_more()
        self._set_phase(phase)

    def _needs_tracker(self, what: str) -> None:
        if self._node.config.tracker_url is None:
            raise NotPossible(
                f"This node has no tracker, so there is no mesh to {what}.", hint="End it with: meshdesk quit"
            )

    def _forget_pause(self) -> None:
        self._pause = None
        if self._resume_at is not None:
            self._resume_at.cancel()
            self._resume_at = None

    def _set_phase(self, phase: Phase) -> None:
        if phase is not self._phase:
            self._phase, self._since = phase, time.time()
            if phase is Phase.SERVING:
                self._joined_at = self._since
            log.info("this node is %s now, by command", phase)
            self._changed.set()

    async def _follow_events(self) -> None:
        with self._node.bus.subscribe() as events:
            async for event in events:
                self._facts.apply(event)
                self._changed.set()
                if isinstance(event, TrackerRegistered):
                    # The address may be another than before.
                    self._probed = False

    async def _probe(self) -> None:
        self._probed = True
        self._network = await gather_network(self._node.config.tracker_url)
        await self._node.probe_direct()
        self._changed.set()

    def _begin(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("%s failed", task.get_name(), exc_info=task.exception())
