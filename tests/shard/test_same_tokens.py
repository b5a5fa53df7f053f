"""The real model in two and three children says what ``transformers.generate`` says, token for token."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from meshdesk.shard.process import ShardProcess
from tests.reference import reference_tokens
from tests.shard.shards import cut, generate, step

pytestmark = [pytest.mark.timeout(180), pytest.mark.asyncio(loop_scope="module")]

PROMPTS = [
    "Name three colours.",
    "Erkläre kurz, warum der Himmel blau ist. 🌤️ 谢谢!",
    "List the numbers from one to twelve, and after each one a fruit. " * 3,
]
TOKENS = 10


async def reference(model: Path, dtype: str) -> list[list[int]]:
    expected = await asyncio.to_thread(reference_tokens, model, PROMPTS, dtype, TOKENS)
    assert all(len(tokens) > 3 for tokens in expected)
    return expected


async def encoded(shard: ShardProcess) -> list[list[int]]:
    return [await shard.encode_chat([{"role": "user", "content": prompt}]) for prompt in PROMPTS]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def halves(smollm2: Path) -> AsyncIterator[list[ShardProcess]]:
    async with cut(smollm2, [0, 15, 30]) as shards:
        yield shards


async def test_two_children(smollm2: Path, halves: list[ShardProcess]) -> None:
    expected = await reference(smollm2, "bfloat16")
    for number, ids in enumerate(await encoded(halves[0])):
        assert await generate(halves, f"one {number}", ids, TOKENS) == expected[number]


async def test_chats_at_once_do_not_mix(smollm2: Path, halves: list[ShardProcess]) -> None:
    expected = await reference(smollm2, "bfloat16")
    before = (await halves[1].stats()).sessions
    prompts = await encoded(halves[0])
    answers = await asyncio.gather(
        *(generate(halves, f"many {number}", ids, TOKENS) for number, ids in enumerate(prompts))
    )
    assert answers == expected
    assert (await halves[1].stats()).sessions == before + len(PROMPTS)


async def test_a_lost_answer_asked_for_again_changes_nothing(smollm2: Path, halves: list[ShardProcess]) -> None:
    expected, *_ = await reference(smollm2, "bfloat16")
    ids, *_ = await encoded(halves[0])
    position, tokens = 0, list[int]()
    while len(tokens) < len(expected):
        first = await step(halves, "again", position, ids)
        second = await step(halves, "again", position, ids)
        assert first.token_id is not None
        assert first.token_id == second.token_id
        tokens.append(first.token_id)
        position, ids = position + len(ids), [first.token_id]
    assert tokens == expected


async def test_three_children_in_float32(smollm2: Path) -> None:
    expected = await reference(smollm2, "float32")
    async with cut(smollm2, [0, 10, 20, 30], "float32") as shards:
        for number, ids in enumerate(await encoded(shards[0])):
            assert await generate(shards, f"s{number}", ids, TOKENS) == expected[number]
