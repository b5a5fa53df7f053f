"""What a head does for one chat: check the route, open the seams, generate, give everything back."""

from __future__ import annotations

import asyncio
import logging
import random
import secrets
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace

import aiohttp

from meshdesk.node.direct_hop import DirectHop
from meshdesk.node.events import ChatFinished, ChatStarted, EventBus
from meshdesk.node.fallback_hop import FallbackHop
from meshdesk.node.generation import Generation
from meshdesk.node.hop import HopRequest, HopUnavailable
from meshdesk.node.pipeline import Seam
from meshdesk.node.reachability import REMEMBER_RELAY_S, UnreachableAddresses
from meshdesk.node.relay_hop import RelayHop
from meshdesk.protocol.errors import MeshdeskError, ProtocolError
from meshdesk.protocol.headers import ROUTE, ROUTE_PROOF, SESSION, parse_session
from meshdesk.protocol.openai_request import BadChatRequest, ChatRequest
from meshdesk.protocol.routes import BadRoute, Hop, RouteNotProven, parse_route, verify_route
from meshdesk.shard.process import ShardProcess
from meshdesk.shard.spec import ShardInfo

log = logging.getLogger(__name__)

CLOSE_DEADLINE_S = 2.0


class NotAHead(MeshdeskError):
    """A chat came to a node that does not hold the first layers."""

    code = "not_a_head"
    status = 400


class TooManyChats(MeshdeskError):
    """This head is busy with as many chats as it takes."""

    code = "too_many_chats"
    status = 429


class Head:
    """Runs chats on this node's shard and the hops after it. Owns the clean-up of ended Route Sessions."""

    def __init__(
        self,
        *,
        shard: ShardProcess,
        info: ShardInfo,
        client: aiohttp.ClientSession,
        bus: EventBus,
        accept_unproven_routes: bool,
        max_chats: int,
    ):
        self._shard = shard
        self._info = info
        self._client = client
        self._bus = bus
        self._accept_unproven_routes = accept_unproven_routes
        self._max_chats = max_chats
        self._unreachable = UnreachableAddresses()
        self._unreachable_relays = UnreachableAddresses(REMEMBER_RELAY_S)
        self._closing: set[asyncio.Task[None]] = set()
        self.chats = 0
        self.route_keys: tuple[bytes, ...] = ()
        """Keys whose proofs are taken: the newest registration's first, and the one before it."""

    def read_route(self, headers: Mapping[str, str]) -> tuple[str, tuple[Hop, ...]]:
        """The Route Session and the downstream hops of a chat request, once they are proven and complete."""
        if not self._info.is_first:
            first, last = self._info.start_layer, self._info.end_layer - 1
            raise NotAHead(f"This node holds layers {first}–{last}; a chat must go to the node that holds layer 0.")
        route = headers.get(ROUTE, "[]")
        session = headers.get(SESSION)
        session = secrets.token_hex(16) if session is None else parse_session(session)
        if not self._accept_unproven_routes:
            self._check_proof(session, route, headers.get(ROUTE_PROOF, ""))
        hops = parse_route(route, self._info.num_layers)
        end = hops[-1].end_layer if hops else self._info.end_layer
        if hops and hops[0].start_layer != self._info.end_layer:
            raise BadRoute(f"The route starts at layer {hops[0].start_layer}, not at {self._info.end_layer}.")
        if end != self._info.num_layers:
            raise BadRoute(f"The route ends before layer {end}, but the model has {self._info.num_layers}.")
        return session, hops

    def _check_proof(self, session: str, route: str, proof: str) -> None:
        if not self.route_keys:
            raise RouteNotProven(
                "This node is not registered with a tracker, so it cannot tell whose route this is.",
                hint="Start it with --tracker, or with --accept-unproven-routes in a mesh you trust.",
            )
        for number, key in enumerate(self.route_keys):
            try:
                verify_route(key, session, route, proof, time.time())
                return
            except RouteNotProven:
                if number + 1 == len(self.route_keys):
                    raise

    async def encode(self, request: ChatRequest) -> list[int]:
        """The prompt's token ids, checked against the model's context."""
        if request.messages is not None:
            ids = await self._shard.encode_chat(list(request.messages))
        elif isinstance(request.prompt, str):
            ids = await self._shard.encode_text(request.prompt)
        else:
            ids = list(request.prompt or ())
        if not ids:
            raise BadChatRequest("The prompt is empty.", "prompt")
        if max(ids) >= self._info.vocab_size:
            raise BadChatRequest("The prompt holds a token id that this model does not have.", "prompt")
        limit = self._info.max_positions
        if len(ids) >= limit:
            raise PromptTooLong(f"The prompt has {len(ids)} tokens, but this model takes {limit} with its answer.")
        return ids

    def max_tokens(self, request: ChatRequest, prompt_tokens: int, default: int) -> int:
        """How many tokens the answer may have: what was asked for, within the model's context."""
        room = self._info.max_positions - prompt_tokens
        return min(room, request.max_tokens if request.max_tokens is not None else default)

    @asynccontextmanager
    async def chat(
        self, session: str, hops: tuple[Hop, ...], prompt_ids: list[int], request: ChatRequest
    ) -> AsyncIterator[tuple[Generation, list[Seam], ChatOutcome]]:
        """One Route Session: seams open inside, and every node's cache of it is freed afterwards."""
        if self.chats >= self._max_chats:
            raise TooManyChats(f"This node already runs {self.chats} chats.", hint="Try again in a few seconds.")
        self.chats += 1
        seams = [self._open_seam(session, index, hop) for index, hop in enumerate(hops, start=1)]
        seed = request.seed if request.seed is not None else random.getrandbits(62)
        generation = Generation(
            session=session,
            prompt_ids=prompt_ids,
            sampling=replace(request.sampling, seed=seed),
            shard=self._shard,
            info=self._info,
            seams=seams,
            bus=self._bus,
        )
        outcome = ChatOutcome()
        started = time.perf_counter()
        self._bus.publish(ChatStarted(session=session, prompt_tokens=len(prompt_ids), hops=1 + len(hops), route=hops))
        try:
            yield generation, seams, outcome
        except (asyncio.CancelledError, GeneratorExit, ConnectionError):
            outcome.finish_reason = "cancelled"
            raise
        except MeshdeskError as error:
            outcome.finish_reason, outcome.error = "error", error.message
            raise
        finally:
            self.chats -= 1
            self._bus.publish(
                ChatFinished(
                    session=session,
                    tokens=outcome.tokens,
                    seconds=time.perf_counter() - started,
                    finish_reason=outcome.finish_reason,
                    error=outcome.error,
                )
            )
            # A hung-up client cancels this task, so the clean-up runs in one of its own.
            task = asyncio.create_task(self._free(session, seams), name=f"free session {session}")
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        """Wait for the clean-up of ended sessions, which is bounded by its own deadlines."""
        if self._closing:
            await asyncio.wait(set(self._closing), timeout=2 * CLOSE_DEADLINE_S)

    def _open_seam(self, session: str, index: int, hop: Hop) -> Seam:
        relay = None
        if hop.relay_addr is not None:
            relay = RelayHop(hop.relay_addr, unreachable=self._unreachable_relays)
        direct = None
        if hop.endpoint is not None:
            direct = DirectHop(hop.endpoint, self._client, self._unreachable)
        name = f"hop {index} (layers {hop.start_layer}–{hop.end_layer - 1})"
        ways = FallbackHop(
            session=session, index=index, name=name, relay=relay, direct=direct, publish=self._bus.publish
        )
        return Seam(index, hop, ways)

    async def _free(self, session: str, seams: list[Seam]) -> None:
        """Tell every node that the Route Session is over, then close the seams."""
        results = await asyncio.gather(
            self._free_own(session), *(self._free_at(seam, session) for seam in seams), return_exceptions=True
        )
        for result in results:
            if isinstance(result, BaseException):
                log.debug("session %s: clean-up at one hop failed: %r", session, result)

    async def _free_own(self, session: str) -> None:
        async with asyncio.timeout(CLOSE_DEADLINE_S):
            await self._shard.close_session(session)

    async def _free_at(self, seam: Seam, session: str) -> None:
        # Nodes forget idle sessions by themselves, so a failure here only means that it takes longer.
        try:
            async with asyncio.timeout(CLOSE_DEADLINE_S):
                await seam.ways.say_goodbye(HopRequest("DELETE", f"/sessions/{session}", deadline_s=CLOSE_DEADLINE_S))
        except (HopUnavailable, TimeoutError, ProtocolError) as error:
            log.debug("session %s: %s did not take the goodbye: %s", session, seam.name, error)
        finally:
            await seam.ways.close()


class PromptTooLong(BadChatRequest):
    """The prompt leaves no room in the model's context."""

    code = "context_length_exceeded"

    def __init__(self, message: str):
        super().__init__(message, "messages", hint="Shorten it.")


class ChatOutcome:
    """How a chat ended, filled in by whoever consumes its tokens."""

    def __init__(self) -> None:
        self.tokens = 0
        self.finish_reason = "stop"
        self.error = ""
