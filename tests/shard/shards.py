"""Shards in real child processes, and tokens generated through them."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from meshdesk.protocol.sampling import GREEDY, Sampling
from meshdesk.shard.process import ShardProcess
from meshdesk.shard.shard_events import ShardEvent, ShardStateChanged, State
from meshdesk.shard.spec import ComputeChoice, ForwardWork, HiddenResult, ShardSpec, TokenResult

WAIT_S = 40.0


class Events:
    """What a shard process told, and a way to wait for it."""

    def __init__(self) -> None:
        self.seen: list[ShardEvent] = []
        self._changed = asyncio.Event()

    def __call__(self, event: ShardEvent) -> None:
        self.seen.append(event)
        self._changed.set()

    @property
    def states(self) -> list[State]:
        return [event.state for event in self.seen if isinstance(event, ShardStateChanged)]

    async def wait_for(self, state: State, times: int = 1) -> ShardStateChanged:
        """The event that put the shard into ``state`` for the ``times``-th time."""
        async with asyncio.timeout(WAIT_S):
            while self.states.count(state) < times:
                self._changed.clear()
                await self._changed.wait()
        found = [event for event in self.seen if isinstance(event, ShardStateChanged) and event.state == state]
        return found[times - 1]


def spec(path: Path, start: int, end: int, dtype: ComputeChoice = "bfloat16", **fields: Any) -> ShardSpec:
    return ShardSpec(path, start, end, dtype, **{"threads": 1, **fields})


@contextlib.asynccontextmanager
async def running(wanted: ShardSpec, events: Events | None = None) -> AsyncIterator[ShardProcess]:
    shard = ShardProcess(wanted, events)
    await shard.start()
    try:
        yield shard
    finally:
        await shard.stop()


@contextlib.asynccontextmanager
async def cut(
    path: Path, places: Sequence[int], dtype: ComputeChoice = "bfloat16"
) -> AsyncIterator[list[ShardProcess]]:
    """A model in as many children as there are parts between ``places``."""
    async with contextlib.AsyncExitStack() as stack:
        shards = [ShardProcess(spec(path, low, high, dtype)) for low, high in itertools.pairwise(places)]
        for shard in shards:
            stack.push_async_callback(shard.stop)
        # All at once: starting is mostly waiting for imports.
        await asyncio.gather(*(shard.start() for shard in shards))
        yield shards


async def step(
    shards: Sequence[ShardProcess],
    session: str,
    position: int,
    ids: Sequence[int],
    sampling: Sampling | None = GREEDY,
) -> TokenResult:
    """``ids`` through all shards, and what the last one answers."""
    work = ForwardWork(session, position, token_ids=tuple(ids), sampling=sampling)
    for shard in shards:
        result = await shard.forward(work)
        if isinstance(result, TokenResult):
            return result
        work = ForwardWork(session, position, hidden=result.data, spec=result.spec, sampling=sampling)
    raise AssertionError("the last shard answered no token")


async def generate(
    shards: Sequence[ShardProcess], session: str, prompt: Sequence[int], count: int, sampling: Sampling = GREEDY
) -> list[int]:
    """``count`` tokens after the prompt, or fewer if the model ends."""
    tokens: list[int] = []
    position, ids = 0, list(prompt)
    while len(tokens) < count:
        result = await step(shards, session, position, ids, sampling)
        assert result.token_id is not None
        tokens.append(result.token_id)
        if result.finish_reason == "stop":
            break
        position, ids = position + len(ids), [result.token_id]
    return tokens


async def hidden(shard: ShardProcess, work: ForwardWork) -> HiddenResult:
    result = await shard.forward(work)
    assert isinstance(result, HiddenResult)
    return result
