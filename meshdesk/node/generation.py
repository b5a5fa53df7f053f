"""The head's token loop: tokens in, one new token out at a time, over any number of hops."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from meshdesk.node.events import Event, EventBus, HopTimed, SessionReplayed, TokenSkipped, Way
from meshdesk.node.pipeline import Activation, HopBehind, PipelineFailed, PipelineToken, Seam, run_downstream_pipeline
from meshdesk.protocol.errors import MeshdeskError
from meshdesk.protocol.headers import ForwardHeaders
from meshdesk.protocol.sampling import GREEDY, Sampling
from meshdesk.protocol.tensors import WIRE_DTYPES
from meshdesk.shard.errors import RetryLater, SessionBehind, SessionEnded, ShardOutOfMemory
from meshdesk.shard.process import ShardProcess
from meshdesk.shard.spec import ForwardWork, HiddenResult, ShardInfo, TokenResult

log = logging.getLogger(__name__)

MAX_PREFILL_BYTES = 8 * 1024 * 1024
"""The largest body of one forward; a longer prompt is sent in slices, well under every size limit on its way."""

REPLAY_EXACT_TOKENS = 128
"""A replayed session has the very same cache only if it is computed in the same slices: the prompt, then token by
token. Longer answers are replayed in blocks, which is quicker and may round differently in the last bit."""

MAX_ATTEMPTS = 6
RECOVERY_S = 60.0
"""A node that says that its shard starts again is waited for so long, however many tries that takes."""
RETRY_FIRST_S = 0.25
RETRY_MAX_S = 4.0
MAX_REPLAYS_IN_A_ROW = 4


class ChatFailed(MeshdeskError):
    """The answer cannot go on: every try for one position failed, or trying again is of no use."""

    code = "pipeline_failed"
    status = 502

    def __init__(self, message: str, *, hint: str | None = None, hop: int | None = None):
        super().__init__(message, hint=hint)
        self.hop = hop

    def details(self) -> dict[str, Any]:
        """The hop that failed (0 is the head), so that the tracker can leave that node out of the next route."""
        return {} if self.hop is None else {"hop": self.hop}


@dataclass(frozen=True, slots=True)
class Token:
    """One generated token; ``stopped`` is True for an end-of-sequence token, which is not shown."""

    token_id: int
    stopped: bool
    hops: tuple[HopTimed, ...]


@dataclass(slots=True)
class _Progress:
    """Where the session stands: ``computed`` counts the tokens that every hop has in its cache."""

    ids: list[int]
    prompt_length: int
    computed: int = 0
    timings: list[HopTimed] = field(default_factory=list)
    """The hops of the token under way."""

    @property
    def token_index(self) -> int:
        return len(self.ids) - self.prompt_length


class Generation:
    """One chat's tokens, from the prompt's ids until the caller stops asking.

    The head's own shard is hop 0, ``seams`` are the hops after it. Length and stop strings are the
    caller's business; the end-of-sequence token ends the iteration.
    """

    def __init__(
        self,
        *,
        session: str,
        prompt_ids: Sequence[int],
        sampling: Sampling,
        shard: ShardProcess,
        info: ShardInfo,
        seams: Sequence[Seam],
        bus: EventBus,
    ):
        self._session = session
        self._sampling = sampling
        self._shard = shard
        self._info = info
        self._seams = seams
        self._bus = bus
        self._at = _Progress(list(prompt_ids), len(prompt_ids))
        self.warnings: list[str] = []
        """Sentences about tokens that had to be tried again; the seams hold their own about fallbacks."""

    async def tokens(self) -> AsyncGenerator[Token, None]:
        """Generate until an end-of-sequence token. Raises ChatFailed when a position cannot be computed."""
        while True:
            answer = await self._next_token()
            if answer.token_id is None:
                raise ChatFailed("The last hop computed the token but did not say which it is.")
            hops = tuple(self._at.timings)
            self._at.timings.clear()
            stopped = answer.finish_reason == "stop" or answer.token_id in self._info.eos_token_ids
            self._at.ids.append(answer.token_id)
            yield Token(answer.token_id, stopped, hops)
            if stopped:
                return

    async def _next_token(self) -> PipelineToken:
        """Compute the next position, trying again after a failure, up to a bound."""
        attempt = replays = 0
        give_up_at = time.monotonic() + RECOVERY_S
        while True:
            try:
                return await self._advance()
            except (HopBehind, SessionBehind, SessionEnded) as error:
                # A hop lost its cache (its process restarted, the session idled out, or somebody closed it there,
                # which this head never does before its chat is over). What it lacks is computed again from the
                # token ids; the other hops crop and follow.
                replays += 1
                if replays > MAX_REPLAYS_IN_A_ROW:
                    raise ChatFailed("A hop keeps losing this session's cache, so the answer cannot go on.") from error
                self._replay_from(error)
            except (PipelineFailed, RetryLater, ShardOutOfMemory) as error:
                attempt += 1
                self._skip(error, attempt)
                if not _worth_another_try(error, attempt, give_up_at):
                    raise ChatFailed(
                        f"The answer broke off because a part of the mesh does not answer. {error.message}",
                        hint="Try again in a moment; the mesh may find another route.",
                        hop=error.seam.index if isinstance(error, PipelineFailed) else 0,
                    ) from error
                ceiling = min(RETRY_MAX_S, RETRY_FIRST_S * 2.0**attempt)
                await asyncio.sleep(random.uniform(ceiling / 2, ceiling))

    def _skip(self, error: MeshdeskError, attempt: int) -> None:
        """Record the skipped token; one warning for each reason, however many tries."""
        self._publish(
            TokenSkipped(session=self._session, position=len(self._at.ids), attempt=attempt, error=error.message)
        )
        warning = f"Token {self._at.token_index} was skipped and tried again: {error.message}"
        if warning not in self.warnings:
            self.warnings.append(warning)
        log.warning("session %s: token skipped, try %d: %s", self._session, attempt, error.message)

    def _replay_from(self, error: HopBehind | SessionBehind | SessionEnded) -> None:
        hop = error.seam.index if isinstance(error, HopBehind) else 0
        have = 0 if isinstance(error, SessionEnded) else error.have
        position = min(have, self._at.computed)
        if position < self._at.prompt_length:
            position -= position % self._slice_tokens()
        self._publish(
            SessionReplayed(session=self._session, hop=hop, position=position, tokens=len(self._at.ids) - position)
        )
        log.info("session %s: hop %d has %d tokens, replaying from there", self._session, hop, position)
        self._at.computed = position

    async def _advance(self) -> PipelineToken:
        """Send all ids that are not in the caches yet; the last slice brings the next token."""
        self._at.timings.clear()
        while True:
            begin = self._at.computed
            end = self._slice_end(begin)
            last = end == len(self._at.ids)
            answer = await self._forward(begin, self._at.ids[begin:end], self._token_sampling() if last else None)
            self._at.computed = end
            if last:
                return answer

    async def _forward(self, position: int, ids: Sequence[int], sampling: Sampling | None) -> PipelineToken:
        started = time.perf_counter()
        work = ForwardWork(
            session=self._session,
            position=position,
            token_ids=tuple(ids),
            hidden=None,
            spec=None,
            sampling=sampling if self._info.is_last else None,
        )
        result = await self._shard.forward(work)
        self._publish(self._local_timing(result, (time.perf_counter() - started) * 1000, len(ids)))
        if isinstance(result, TokenResult):
            return PipelineToken(result.token_id, result.finish_reason)
        headers = ForwardHeaders(
            session=self._session,
            spec=result.spec,
            start_layer=self._info.end_layer,
            position=position,
            model=f"{self._info.model_id}@{self._info.revision}",
            sampling=sampling,
        )
        return await run_downstream_pipeline(
            self._seams, Activation(headers, result.data, self._at.token_index), self._publish
        )

    def _local_timing(self, result: HiddenResult | TokenResult, total_ms: float, tokens: int) -> HopTimed:
        return HopTimed(
            session=self._session,
            token_index=self._at.token_index,
            hop=0,
            start_layer=self._info.start_layer,
            end_layer=self._info.end_layer,
            way=Way.LOCAL,
            total_ms=total_ms,
            compute_ms=result.compute_ms,
            queue_ms=result.queue_ms,
            bytes_out=0,
            bytes_in=0,
            tokens=tokens,
        )

    def _publish(self, event: Event) -> None:
        if isinstance(event, HopTimed):
            self._at.timings.append(event)
        self._bus.publish(event)

    def _token_sampling(self) -> Sampling:
        """The parameters for the token under way, with the history its penalties need."""
        if self._sampling.temperature == 0 and not self._sampling.penalised:
            return GREEDY
        if not self._sampling.penalised:
            return self._sampling
        prompt = self._at.ids[: self._at.prompt_length]
        return replace(
            self._sampling,
            prompt_ids=tuple(sorted(set(prompt))) if self._sampling.repetition_penalty != 1.0 else (),
            generated_ids=tuple(self._at.ids[self._at.prompt_length :]),
        )

    def _slice_end(self, begin: int) -> int:
        """Where the forward that starts at ``begin`` ends. A replay follows the slices of the first time."""
        at = self._at
        end = min(len(at.ids), begin + self._slice_tokens())
        if begin < at.prompt_length:
            return min(end, at.prompt_length)
        return begin + 1 if len(at.ids) - at.prompt_length <= REPLAY_EXACT_TOKENS else end

    def _slice_tokens(self) -> int:
        if not self._seams:
            return len(self._at.ids)
        return max(1, MAX_PREFILL_BYTES // (self._info.hidden_size * WIRE_DTYPES[self._info.wire_dtype]))


def _worth_another_try(error: PipelineFailed | RetryLater | ShardOutOfMemory, attempt: int, give_up_at: float) -> bool:
    if isinstance(error, PipelineFailed) and not error.retryable:
        return False
    recovering = error.recovering if isinstance(error, PipelineFailed) else isinstance(error, RetryLater)
    return attempt < MAX_ATTEMPTS or (recovering and time.monotonic() < give_up_at)
