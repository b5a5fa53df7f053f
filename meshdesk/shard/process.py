"""A shard behind an asyncio face: the child process that holds it, and what happens when that dies."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable
from typing import Any

from meshdesk.protocol.errors import MeshdeskError
from meshdesk.shard.child_link import ChildLink
from meshdesk.shard.child_messages import result_from_frame, work_to_fields
from meshdesk.shard.errors import ModelDamaged, ModelUnsupported, ShardBusy, ShardError, ShardUnavailable, TextTooSlow
from meshdesk.shard.ipc import BadFrame
from meshdesk.shard.shard_events import ShardEvent, ShardStateChanged, State
from meshdesk.shard.spec import ForwardResult, ForwardWork, ShardInfo, ShardSpec, ShardStats

log = logging.getLogger(__name__)

START_SILENCE_S = 300.0
"""How long a starting child may show no progress."""
STOP_S = 5.0
TEXT_S = 10.0
TEXT_HANG_S = 60.0
CONTROL_S = 30.0
FORWARD_HANG_S = 120.0
FORWARD_HANG_PER_TOKEN_S = 2.0
MAX_OPEN = 128
MAX_OPEN_BYTES = 512 << 20
FIRST_RETRY_S = 0.5
LONGEST_RETRY_S = 30.0
STABLE_S = 60.0
MAX_RESTARTS = 10
"""Starts in a row without a stable run in between, after which the shard stays down."""


class ShardProcess:
    """One shard in a child process of its own.

    ``on_event`` is called in the loop's thread and must not block. All calls raise typed errors; while
    the child is down they raise ShardUnavailable, and it is started again with growing, jittered waits.
    """

    def __init__(self, spec: ShardSpec, on_event: Callable[[ShardEvent], None] | None = None) -> None:
        self._spec = spec
        self._on_event = on_event
        self._state: State = "stopped"
        self._reason = "it was not started"
        self._link: ChildLink | None = None
        self._info: ShardInfo | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._restarts = 0
        self._open_bytes = 0
        self._retry_at = 0.0

    @property
    def state(self) -> State:
        return self._state

    @property
    def info(self) -> ShardInfo | None:
        """What was loaded; None before the first start."""
        return self._info

    @property
    def pid(self) -> int | None:
        """The child's process id; None while there is none."""
        return self._link.pid if self._link and not self._link.ended.done() else None

    async def start(self) -> ShardInfo:
        """Start the child and load the shard.

        Raises ModelUnsupported or ModelDamaged for a model that cannot be served, ShardOutOfMemory, or
        ShardUnavailable if the child dies or shows no progress for START_SILENCE_S. Then it is not running.
        """
        if self._keeper is not None:
            raise ShardError("The shard is started already.")
        self._set_state("starting")
        try:
            self._info = await self._bring_up()
        except BaseException as error:
            self._set_state("failed", error.message if isinstance(error, MeshdeskError) else "the start was given up")
            raise
        self._set_state("ready")
        self._keeper = asyncio.create_task(self._keep_running(), name="shard-keeper")
        return self._info

    async def stop(self) -> None:
        """End the child, and with it all sessions; harmless if it is not running."""
        keeper, self._keeper = self._keeper, None
        if keeper is not None:
            keeper.cancel()
            await asyncio.wait([keeper])
        await self._take_down()
        if self._state != "stopped":
            self._set_state("stopped")

    async def forward(self, work: ForwardWork) -> ForwardResult:
        """Compute one activation in the order the calls came; see ShardEngine.forward for what it raises.

        Besides, ShardBusy if too much waits already and ShardUnavailable if the child is or goes down.
        A cancelled call is taken back if it has not begun; if it has, its result is thrown away, and
        sending the same forward again gives the same answer.
        """
        link = self._ready_link()
        payload = b"" if work.hidden is None else work.hidden
        size = payload.nbytes if isinstance(payload, memoryview) else len(payload)
        if link.open_orders >= MAX_OPEN or self._open_bytes + size > MAX_OPEN_BYTES:
            raise ShardBusy("Too many forwards wait for this shard.", retry_after=1.0)
        tokens = len(work.token_ids) if work.token_ids is not None else work.spec.shape[1] if work.spec else 0
        self._open_bytes += size
        try:
            frame = await link.order(
                {"op": "forward", **work_to_fields(work)},
                payload,
                hang_s=FORWARD_HANG_S + FORWARD_HANG_PER_TOKEN_S * tokens,
            )
        finally:
            self._open_bytes -= size
        try:
            return result_from_frame(frame)
        except BadFrame as error:
            link.kill(f"it broke the protocol ({error.message})")
            raise ShardUnavailable(error.message, retry_after=1.0) from error

    async def close_session(self, session: str) -> bool:
        """Forget a session and refuse what waits for it; False if the shard did not know it."""
        # It waits for the forward that is being computed, and no longer than that may take.
        frame = await self._ready_link().order({"op": "close", "session": session}, hang_s=FORWARD_HANG_S)
        return bool(frame.header.get("closed"))

    async def stats(self) -> ShardStats:
        """A look at the child; answered also while it computes."""
        link = self._ready_link()
        try:
            async with asyncio.timeout(CONTROL_S):
                fields = (await link.order({"op": "stats"})).header
        except TimeoutError:
            raise ShardUnavailable("The shard's process does not answer.", retry_after=1.0) from None
        try:
            return ShardStats(
                **{name: fields[name] for name in ShardStats.__dataclass_fields__ if name != "restarts"},
                restarts=self._restarts,
            )
        except KeyError:
            raise ShardError("The statistics of the shard's process make no sense.") from None

    async def encode_chat(self, messages: list[dict[str, Any]]) -> list[int]:
        """Token ids of a chat by the model's template; ShardRefused if it does not fit, TextTooSlow after TEXT_S."""
        return await self._encode({"op": "encode_chat", "messages": messages})

    async def encode_text(self, text: str) -> list[int]:
        """Token ids of plain text; TextTooSlow after TEXT_S."""
        return await self._encode({"op": "encode_text", "text": text})

    async def _encode(self, fields: dict[str, Any]) -> list[int]:
        link = self._ready_link()
        try:
            async with asyncio.timeout(TEXT_S):
                frame = await link.order(fields, hang_s=TEXT_HANG_S)
        except TimeoutError:
            raise TextTooSlow(
                f"The model's tokenizer took more than {TEXT_S:.0f} s for this text.", retry_after=TEXT_HANG_S
            ) from None
        return [int(token) for token in frame.header.get("token_ids", ())]

    def _ready_link(self) -> ChildLink:
        if self._link is not None and self._state == "ready" and not self._link.ended.done():
            return self._link
        retry_after = None
        if self._state in ("starting", "restarting", "ready"):
            retry_after = max(1.0, self._retry_at - asyncio.get_running_loop().time())
        raise ShardUnavailable(f"The shard is not running: {self._reason or self._state}.", retry_after=retry_after)

    async def _bring_up(self) -> ShardInfo:
        """One try: launch a child and wait until it is ready. Nothing runs if this raises."""
        # What ``auto`` measured once must hold: the other nodes were told, and sessions may be replayed here.
        link = await ChildLink.launch(self._spec, self._publish, self._info)
        self._link = link
        try:
            while True:
                quiet = link.progressed_at + START_SILENCE_S - asyncio.get_running_loop().time()
                done, _ = await asyncio.wait([link.ready], timeout=max(0.0, quiet))
                if done:
                    return link.ready.result()
                if asyncio.get_running_loop().time() >= link.progressed_at + START_SILENCE_S:
                    link.kill(f"it made no progress for {START_SILENCE_S:.0f} s while starting")
                    await link.ended
        except BaseException:
            await self._take_down()
            raise

    async def _take_down(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            await link.stop(STOP_S)

    async def _keep_running(self) -> None:
        """Wait for the child to end, and start it again, until it is stopped or gives up."""
        loop = asyncio.get_running_loop()
        failures = 0
        came_up = loop.time()
        while True:
            assert self._link is not None
            reason = await asyncio.shield(self._link.ended)
            if loop.time() - came_up >= STABLE_S:
                failures = 0
            while True:
                failures += 1
                if failures > MAX_RESTARTS:
                    self._set_state("failed", f"{reason.rstrip('.')}; it was started {MAX_RESTARTS} times in vain")
                    return
                delay = random.uniform(0.0, min(LONGEST_RETRY_S, FIRST_RETRY_S * 2.0 ** (failures - 1)))
                self._retry_at = loop.time() + delay
                self._set_state("restarting", reason, delay)
                await asyncio.sleep(delay)
                self._restarts += 1
                try:
                    info = await self._bring_up()
                except (ModelUnsupported, ModelDamaged) as error:
                    self._set_state("failed", error.message)
                    return
                except MeshdeskError as error:
                    reason = error.message
                    continue
                except Exception as error:
                    log.exception("The shard cannot be started again.")
                    self._set_state("failed", f"it could not be started again ({type(error).__name__})")
                    return
                break
            if info != self._info:
                await self._take_down()
                self._set_state("failed", "the model on disk is no longer the one that was loaded first")
                return
            came_up = loop.time()
            self._set_state("ready")

    def _set_state(self, state: State, reason: str = "", retry_in_s: float | None = None) -> None:
        self._state = state
        self._reason = reason
        if reason:
            log.warning("The shard is %s: %s", state, reason)
        self._publish(ShardStateChanged(state, reason, retry_in_s))

    def _publish(self, event: ShardEvent) -> None:
        if self._on_event is None:
            return
        try:
            self._on_event(event)
        except Exception:
            log.exception("A listener of shard events failed.")
