"""A shard process as the node sees it: what it takes and refuses, its sessions, what it tells."""

from __future__ import annotations

import asyncio
import random
import struct
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from meshdesk.protocol.sampling import GREEDY, Sampling
from meshdesk.protocol.tensors import BadTensor, TensorSpec
from meshdesk.shard import child_link, process
from meshdesk.shard.errors import (
    KvBudgetFull,
    ModelDamaged,
    ModelUnsupported,
    SessionBehind,
    ShardBusy,
    ShardError,
    ShardRefused,
    ShardUnavailable,
)
from meshdesk.shard.process import ShardProcess
from meshdesk.shard.shard_events import ShardLoading
from meshdesk.shard.spec import ForwardWork
from tests.shard.shards import Events, cut, generate, hidden, running, spec, step

pytestmark = pytest.mark.asyncio(loop_scope="module")

Tiny = Callable[..., Path]
HIDDEN = 32
PROMPT = list(range(3, 16))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def halves(tiny: Tiny) -> AsyncIterator[list[ShardProcess]]:
    async with cut(tiny("llama"), [0, 3, 6]) as shards:
        yield shards


def strange_bits(tokens: int) -> bytes:
    """bfloat16 values of one activation: every NaN payload there is, both zeros, infinities, and noise."""
    nans = [sign | 0x7F80 | payload for sign in (0, 0x8000) for payload in range(1, 128)]
    special = [*nans, 0x8000, 0x0000, 0x7F80, 0xFF80, 0x0001, 0x8001, 0x007F]
    noise = random.Random(3)
    values = special + [noise.randrange(1 << 16) for _ in range(tokens * HIDDEN - len(special))]
    return struct.pack(f"<{len(values)}H", *values)


async def test_bits_come_back_from_the_child_as_they_went(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_link, "WORKER_MODULE", "tests.shard.echo_worker")
    data = strange_bits(tokens=40)
    wire = TensorSpec((1, 40, HIDDEN), "bfloat16")
    async with running(spec(tiny("llama"), 2, 4)) as shard:
        for body in (data, bytearray(data), memoryview(data)):
            result = await hidden(shard, ForwardWork("s", 0, hidden=body, spec=wire))
            assert (result.spec, result.data) == (wire, data)


async def test_sessions_are_closed_and_counted(halves: list[ShardProcess]) -> None:
    await step(halves, "a", 0, PROMPT)
    before = await halves[0].stats()
    assert before.kv_bytes > 0
    assert await halves[0].close_session("a") is True
    assert await halves[0].close_session("a") is False
    after = await halves[0].stats()
    assert (after.sessions, after.forwards, after.queued) == (before.sessions - 1, before.forwards, 0)
    assert after.kv_bytes < before.kv_bytes
    with pytest.raises(SessionBehind) as behind:
        await step(halves, "a", len(PROMPT), [5])
    assert behind.value.have == 0


async def test_two_sessions_by_turns_do_not_mix(halves: list[ShardProcess]) -> None:
    prompts = {"x": PROMPT, "y": PROMPT[::-1]}
    alone = {name: await generate(halves, f"alone {name}", ids, 8) for name, ids in prompts.items()}
    assert alone["x"] != alone["y"]
    together: dict[str, list[int]] = {"x": [], "y": []}
    for number in range(len(alone["x"])):
        for name, ids in prompts.items():
            position, new = (0, ids) if number == 0 else (len(ids) + number - 1, together[name][-1:])
            token = (await step(halves, name, position, new)).token_id
            assert token is not None
            together[name].append(token)
    assert together == {name: tokens[: len(alone["x"])] for name, tokens in alone.items()}


async def test_behind_says_what_it_has_and_replay_goes_on(halves: list[ShardProcess]) -> None:
    expected = await generate(halves, "whole", PROMPT, 4)
    await step(halves, "lost", 0, PROMPT[:6], None)
    with pytest.raises(SessionBehind) as behind:
        await step(halves, "lost", len(PROMPT), [expected[0]])
    assert (behind.value.have, behind.value.status) == (6, 409)
    filled = await step(halves, "lost", 6, PROMPT[6:], None)
    assert (filled.token_id, filled.text) == (None, "")
    again = await step(halves, "lost", len(PROMPT) - 1, PROMPT[-1:])
    assert again.token_id == expected[0]


async def test_a_sampled_token_is_the_same_when_asked_again(halves: list[ShardProcess]) -> None:
    warm = Sampling(temperature=2.0, seed=11, top_p=0.95)
    first = await generate(halves, "s1", PROMPT, 8, warm)
    assert await generate(halves, "s2", PROMPT, 8, warm) == first
    others = [await generate(halves, "s3", PROMPT, 8, Sampling(temperature=2.0, seed=seed)) for seed in range(3)]
    assert any(other != first for other in others)


async def test_refusals_leave_the_shard_as_it_was(halves: list[ShardProcess]) -> None:
    first, last = halves
    two = TensorSpec((1, 2, HIDDEN), "bfloat16")
    data = bytes(2 * HIDDEN * 2)
    expected = await generate(halves, "kept", PROMPT, 3)
    for shard, work in (
        (first, ForwardWork("kept", 0, hidden=data, spec=two)),
        (first, ForwardWork("kept", 3, token_ids=())),
        (first, ForwardWork("kept", 3, token_ids=(10**6,))),
        (first, ForwardWork("kept", -1, token_ids=(5,))),
        (first, ForwardWork("kept", 10**9, token_ids=(5,))),
        (last, ForwardWork("kept", 3, token_ids=(5,))),
        (last, ForwardWork("kept", 3, hidden=data, spec=TensorSpec((1, 1, 2 * HIDDEN), "bfloat16"))),
        (last, ForwardWork("kept", 3, hidden=data, spec=TensorSpec((1, 2, HIDDEN), "float16"))),
        (
            last,
            ForwardWork(
                "kept", 3, hidden=data, spec=two, sampling=Sampling(frequency_penalty=1, generated_ids=(10**6,))
            ),
        ),
    ):
        with pytest.raises(ShardRefused) as refused:
            await shard.forward(work)
        assert (refused.value.status, refused.value.message[-1]) == (400, ".")
    with pytest.raises(BadTensor):
        await last.forward(ForwardWork("kept", 3, hidden=data[:-1], spec=two))
    after = await step(halves, "kept", len(PROMPT) + 1, expected[1:2])
    assert after.token_id == expected[2]


async def test_a_model_without_a_tokenizer_says_so(halves: list[ShardProcess]) -> None:
    with pytest.raises(ShardError, match="no tokenizer"):
        await halves[0].encode_text("x")
    with pytest.raises(ShardError, match="no tokenizer"):
        await halves[0].encode_chat([{"role": "user", "content": "x"}])


async def test_given_up_forwards_leave_nothing_open(halves: list[ShardProcess]) -> None:
    first = halves[0]
    expected = await hidden(first, ForwardWork("before", 0, token_ids=tuple(PROMPT)))
    work = [ForwardWork(f"g{number}", 0, token_ids=tuple(PROMPT) * 15) for number in range(8)]
    tasks = [asyncio.create_task(first.forward(item)) for item in work]
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    assert all(
        isinstance(result, asyncio.CancelledError) for result in await asyncio.gather(*tasks, return_exceptions=True)
    )
    # Orders are taken in turn, so this answer comes after all that was given up.
    again = await hidden(first, ForwardWork("after", 0, token_ids=tuple(PROMPT)))
    assert again.data == expected.data
    assert first._link is not None
    assert first._link.open_orders == 0
    assert (await first.stats()).queued == 0


async def test_the_memory_for_sessions_is_bounded(tiny: Tiny) -> None:
    path = tiny("llama")
    floor = 64 << 10
    async with running(spec(path, 0, 6, kv_budget_bytes=2 * floor)) as shard:
        await step([shard], "a", 0, PROMPT)
        await step([shard], "b", 0, PROMPT)
        with pytest.raises(KvBudgetFull) as full:
            await step([shard], "c", 0, PROMPT)
        assert (full.value.status, full.value.code) == (503, "kv_full")
        assert full.value.retry_after is not None
        assert (await shard.stats()).kv_bytes == 2 * floor
        await shard.close_session("a")
        await step([shard], "c", 0, PROMPT)


async def test_idle_sessions_go_by_themselves_and_closing_answers(tiny: Tiny) -> None:
    async with running(spec(tiny("llama"), 0, 6, idle_seconds=0.3)) as shard:
        await step([shard], "a", 0, PROMPT)
        async with asyncio.timeout(20):
            while (await shard.stats()).sessions:
                pass
        assert (await shard.stats()).kv_bytes == 0


async def test_too_much_at_once_is_refused(halves: list[ShardProcess], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "MAX_OPEN", 4)
    monkeypatch.setattr(process, "MAX_OPEN_BYTES", 3000)
    last = halves[1]
    one = TensorSpec((1, 1, HIDDEN), "bfloat16")
    works = [ForwardWork(f"much {n}", 0, hidden=bytes(2 * HIDDEN), spec=one, sampling=GREEDY) for n in range(6)]
    results = await asyncio.gather(*(last.forward(work) for work in works), return_exceptions=True)
    assert [type(result).__name__ for result in results] == ["TokenResult"] * 4 + ["ShardBusy"] * 2
    busy = results[-1]
    assert isinstance(busy, ShardBusy)
    assert (busy.status, busy.retry_after) == (503, 1.0)
    large = TensorSpec((1, 60, HIDDEN), "bfloat16")
    with pytest.raises(ShardBusy):
        await last.forward(ForwardWork("large", 0, hidden=bytes(large.nbytes), spec=large))


async def test_what_it_tells_and_when_it_may_be_asked(tiny: Tiny) -> None:
    events = Events()
    shard = ShardProcess(spec(tiny("llama"), 0, 6), events)
    with pytest.raises(ShardUnavailable, match="not started"):
        await step([shard], "s", 0, PROMPT)
    await shard.stop()
    info = await shard.start()
    assert (shard.state, shard.info, info.is_first, info.is_last) == ("ready", info, True, True)
    assert shard.pid is not None
    with pytest.raises(ShardError, match="started already"):
        await shard.start()
    await shard.stop()
    await shard.stop()
    with pytest.raises(ShardUnavailable) as stopped:
        await step([shard], "s", 0, PROMPT)
    assert stopped.value.retry_after is None
    assert events.states == ["starting", "ready", "stopped"]
    assert shard.pid is None
    loading = [event for event in events.seen if isinstance(event, ShardLoading)]
    assert [loading[0].phase, loading[-1].phase] == ["importing", "warming"]


async def test_a_listener_that_fails_harms_nobody(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def fail(_: object) -> None:
        raise ValueError("from the listener")

    with pytest.raises(ModelDamaged):
        await ShardProcess(spec(tmp_path, 0, 6), fail).start()
    assert caplog.text.count("A listener of shard events failed") >= 3


async def test_a_model_that_cannot_be_served_is_named(tiny: Tiny, tmp_path: Path) -> None:
    for wanted, error, words in (
        (spec(tmp_path, 0, 3), ModelDamaged, "config.json"),
        (spec(tiny("llama"), 0, 99), ModelUnsupported, "0–98 .* 0–5"),
    ):
        events = Events()
        shard = ShardProcess(wanted, events)
        with pytest.raises(error, match=words):
            await shard.start()
        assert (shard.state, events.states, shard.pid) == ("failed", ["starting", "failed"], None)
        with pytest.raises(ShardUnavailable) as unavailable:
            await shard.forward(ForwardWork("s", 0, token_ids=(1,)))
        assert unavailable.value.retry_after is None


async def test_a_start_that_is_given_up_leaves_no_child(tiny: Tiny) -> None:
    events = Events()
    shard = ShardProcess(spec(tiny("llama"), 0, 6), events)
    task = asyncio.create_task(shard.start())
    async with asyncio.timeout(30):
        while not any(isinstance(event, ShardLoading) for event in events.seen):
            events._changed.clear()
            await events._changed.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (shard.state, shard.pid) == ("failed", None)
