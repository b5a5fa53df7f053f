"""One node: its shard, its HTTP server, its bridge and its tracker link, started and stopped in order."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import time
from typing import Any

import aiohttp
from tokenizers import Tokenizer

from meshdesk import __version__
from meshdesk.node.bandwidth import BandwidthCap
from meshdesk.node.bridge import RelayHttpBridge
from meshdesk.node.chat_handler import ChatHandler
from meshdesk.node.config import NodeConfig
from meshdesk.node.direct_hop import direct_client
from meshdesk.node.events import EventBus, NodeState, NodeStateChanged, ShardLoadProgressed, ShardProgressed
from meshdesk.node.forward_handler import ForwardHandler
from meshdesk.node.head import Head
from meshdesk.node.identity import service_secret
from meshdesk.node.metrics import NodeMetrics
from meshdesk.node.server import NodeServer
from meshdesk.node.tracker_link import TrackerLink
from meshdesk.protocol.errors import MeshdeskError, UsageError
from meshdesk.shard.model_repo import read_model_repo
from meshdesk.shard.process import ShardProcess
from meshdesk.shard.shard_events import ShardEvent, ShardStateChanged
from meshdesk.shard.spec import ShardInfo, ShardSpec, ShardStats

log = logging.getLogger(__name__)

REGISTER_WAIT_S = 3.0
"""How long the start waits for relay and tracker. Without them the node serves all the same and keeps trying."""


class Node:
    """The engine of one volunteer's computer. ``start`` once, ``stop`` once; ``bus`` tells what happens."""

    def __init__(self, config: NodeConfig, bus: EventBus | None = None):
        self.config = config
        self.bus = bus or EventBus()
        self.node_id = config.node_id or "n" + secrets.token_hex(8)
        self.state = NodeState.OFF
        self.failure: MeshdeskError | None = None
        """Why the node cannot serve, once that is known."""
        self.failed = asyncio.Event()
        self._secret = config.identity_secret or secrets.token_urlsafe(32)
        self._metrics = NodeMetrics()
        self._started_at = 0.0
        self._shard: ShardProcess | None = None
        self._info: ShardInfo | None = None
        self._client: aiohttp.ClientSession | None = None
        self._head: Head | None = None
        self._server: NodeServer | None = None
        self._bridge: RelayHttpBridge | None = None
        self._link: TrackerLink | None = None
        self._counting: asyncio.Task[None] | None = None

    @property
    def info(self) -> ShardInfo:
        """What the shard is, once started."""
        assert self._info is not None, "the node is not started"
        return self._info

    @property
    def url(self) -> str:
        """The node's base URL on this machine, once started."""
        assert self._server is not None, "the node is not started"
        return self._server.url

    @property
    def relay_addr(self) -> str | None:
        """Where requesters reach this node by relay; None without a relay."""
        return None if self._bridge is None else self._bridge.relay_addr

    async def start(self) -> ShardInfo:
        """Load the shard, listen, connect outward and register. Raises MeshdeskError and cleans up on failure."""
        self._set_state(NodeState.STARTING)
        self._started_at = time.monotonic()
        self._counting = asyncio.create_task(self._count_events(), name="node metrics")
        try:
            await self._start_parts()
        except BaseException as error:
            if isinstance(error, MeshdeskError):
                self.failure = error
            await self.stop()
            raise
        self._set_state(NodeState.SERVING)
        return self.info

    async def _start_parts(self) -> None:
        spec = await asyncio.to_thread(self._shard_spec)
        self._shard = ShardProcess(spec, on_event=self._on_shard_event)
        self._info = info = await self._shard.start()
        self._client = direct_client()
        chat = None
        self._head = Head(
            shard=self._shard,
            info=info,
            client=self._client,
            bus=self.bus,
            accept_unproven_routes=self.config.accept_unproven_routes,
            max_chats=self.config.max_chats,
        )
        if info.is_first and info.tokenizer_json is not None:
            # A large vocabulary takes a while to parse, so not on the event loop.
            decoder = await asyncio.to_thread(Tokenizer.from_str, info.tokenizer_json)
            handler = ChatHandler(self._head, decoder, info.model_id, self.config.default_max_tokens)
            chat = (handler.chat_completions, handler.completions)
        bandwidth = BandwidthCap(self.config.max_bytes_per_s)
        forward = ForwardHandler(self._shard, info, self.bus.publish, bandwidth)
        self._server = NodeServer(
            host=self.config.host,
            port=self.config.port,
            forward=forward,
            chat=chat,
            health=self.health,
            metrics=self._metrics.exposition,
        )
        await self._server.start()
        await self._connect_outward(forward)

    async def _connect_outward(self, forward: ForwardHandler) -> None:
        """Relay first, so that the tracker never hands out an address nobody listens on."""
        if self.config.relay_url is not None:
            self._bridge = RelayHttpBridge(
                relay_url=self.config.relay_url,
                peer_id=self.node_id,
                secret=service_secret(self._secret, f"relay {self.config.relay_url}"),
                local_url=self.url,
                on_event=self.bus.publish,
                forward=forward.answer,
            )
            await self._bridge.start()
            if not await self._bridge.wait_registered(REGISTER_WAIT_S):
                log.warning("the relay at %s does not answer yet; trying on", self.config.relay_url)
        if self.config.tracker_url is not None:
            assert self._client is not None
            self._link = TrackerLink(
                tracker_url=self.config.tracker_url,
                node_id=self.node_id,
                secret=service_secret(self._secret, f"tracker {self.config.tracker_url}"),
                record=self._registration,
                load=self._load,
                client=self._client,
                publish=self.bus.publish,
                on_route_key=self._take_route_key,
                on_refused=self._fail,
            )
            self._link.start()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(REGISTER_WAIT_S):
                    await self._link.registered.wait()

    async def stop(self) -> None:
        """In order: leave the tracker, leave the relay, stop serving, end the child, close what is left."""
        self._set_state(NodeState.STOPPING)
        if self._link is not None:
            await self._link.stop()
        if self._bridge is not None:
            await self._bridge.stop()
        if self._server is not None:
            await self._server.stop()
        if self._head is not None:
            await self._head.close()
        if self._shard is not None:
            await self._shard.stop()
        if self._client is not None:
            await self._client.close()
        self._set_state(NodeState.ERROR if self.failure else NodeState.OFF, str(self.failure or ""))
        if self._counting is not None:
            self._counting.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._counting

    @property
    def chats(self) -> int:
        """Chats that this node heads now."""
        return 0 if self._head is None else self._head.chats

    async def shard_stats(self) -> ShardStats | None:
        """A look at the shard's process; None while there is none to look at."""
        if self._shard is None:
            return None
        try:
            return await self._shard.stats()
        except MeshdeskError:
            return None

    def reconnect(self, reason: str) -> None:
        """Dial relay and tracker anew at once: the computer slept, or its address is another. ``reason`` is logged."""
        if self._bridge is not None:
            self._bridge.reconnect(reason)
        if self._link is not None:
            self._link.hurry()

    async def probe_direct(self) -> None:
        """Ask the tracker whether it can dial this node; the answer comes as DirectProbed."""
        if self._link is not None:
            await self._link.probe()

    async def take_no_more(self) -> None:
        """Leave the tracker, so that no new chat comes here; those under way go on until ``stop``."""
        if self._link is not None:
            await self._link.stop()

    def take_again(self) -> None:
        """Register with the tracker again after ``take_no_more``."""
        if self._link is not None:
            self._link.start()

    def health(self) -> dict[str, Any]:
        """What ``/health`` answers."""
        info, config = self.info, self.config
        return {
            "status": "ok" if self._shard is not None and self._shard.state == "ready" else "degraded",
            "version": __version__,
            "node_id": self.node_id,
            "model": info.model_id,
            "revision": info.revision,
            "start_layer": info.start_layer,
            "end_layer": info.end_layer,
            "num_layers": info.num_layers,
            "dtype": info.wire_dtype,
            "compute_dtype": info.compute_dtype,
            "shard": self._shard.state if self._shard is not None else "stopped",
            "relay": None if self._bridge is None else {"addr": self.relay_addr, "connected": self._bridge.connected},
            "tracker": None
            if self._link is None
            else {"url": config.tracker_url, "registered": self._link.registered.is_set()},
            "chats": 0 if self._head is None else self._head.chats,
            "uptime_s": round(time.monotonic() - self._started_at, 1),
        }

    def _shard_spec(self) -> ShardSpec:
        config = self.config
        layers = read_model_repo(config.model_path).num_layers
        start = 0 if config.start_layer is None else config.start_layer
        end = layers if config.end_layer is None else config.end_layer
        if not 0 <= start < end <= layers:
            raise UsageError(
                f"Layers {start}–{end - 1} do not exist in this model: it has layers 0–{layers - 1}.",
                hint="Choose a range within it with --layers.",
            )
        return ShardSpec(
            model_path=config.model_path,
            start_layer=start,
            end_layer=end,
            dtype=config.dtype,
            threads=config.threads,
            kv_budget_bytes=config.kv_budget_bytes,
            idle_seconds=config.idle_seconds,
            model_id=config.model_id,
        )

    def _registration(self) -> dict[str, Any]:
        info = self.info
        return {
            "endpoint": self.config.advertise,
            "relay_addr": self.relay_addr,
            "model": info.model_id,
            "revision": info.revision,
            "start_layer": info.start_layer,
            "end_layer": info.end_layer,
            "num_layers": info.num_layers,
            "dtype": info.wire_dtype,
            "max_positions": info.max_positions,
            "version": __version__,
            "name": self.config.display_name,
        }

    def _load(self) -> int:
        return 0 if self._head is None else self._head.chats

    def _take_route_key(self, key: bytes) -> None:
        """The key before stays good for a moment: a chat may be on its way while the node registers again."""
        assert self._head is not None
        self._head.route_keys = (key, *self._head.route_keys[:1])

    def _fail(self, error: MeshdeskError) -> None:
        self.failure = error
        self.failed.set()
        self._set_state(NodeState.ERROR, error.message)

    def _on_shard_event(self, event: ShardEvent) -> None:
        if isinstance(event, ShardStateChanged):
            self.bus.publish(ShardProgressed(state=event.state, reason=event.reason, retry_in_s=event.retry_in_s))
        else:
            self.bus.publish(
                ShardLoadProgressed(phase=event.phase, bytes_done=event.bytes_done, bytes_total=event.bytes_total)
            )

    async def _count_events(self) -> None:
        with self.bus.subscribe() as events:
            async for event in events:
                self._metrics.count(event)

    def _set_state(self, state: NodeState, reason: str = "") -> None:
        if state is not self.state:
            self.state = state
            self.bus.publish(NodeStateChanged(state=state, reason=reason))
