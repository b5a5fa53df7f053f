"""Greedy tokens of a mesh of real processes are those of ``transformers.generate``, whatever the cut and the way."""

from __future__ import annotations

import asyncio
from functools import lru_cache
from pathlib import Path

import pytest

from tests.e2e.chats import CHATS, MAX_NEW_TOKENS
from tests.e2e.mesh import Mesh, ask, mesh
from tests.e2e.reference import reference_tokens

pytestmark = pytest.mark.timeout(300)

TWO = ("0-14", "15-29")
THREE = ("0-9", "10-19", "20-29")


@lru_cache
def expected(model: Path, dtype: str) -> dict[str, list[int]]:
    return dict(zip(CHATS, reference_tokens(model, dtype, list(CHATS.values()), MAX_NEW_TOKENS), strict=True))


async def ways_of(built: Mesh, reference: dict[str, list[int]], names: list[str]) -> dict[int, set[str]]:
    """Ask the named chats; every hop's ways, once the tokens are checked."""
    ways: dict[int, set[str]] = {}
    for name in names:
        answer = await ask(built.tracker, CHATS[name], max_tokens=MAX_NEW_TOKENS)
        assert answer.error is None, answer.error
        assert answer.token_ids == reference[name], name
        assert answer.warnings == []
        hops = {hop["hop"] for hop in answer.hops}
        assert len(answer.hops) == len(hops) * len(answer.token_ids)
        for hop in answer.hops:
            ways.setdefault(hop["hop"], set()).add(hop["way"])
    return ways


def test_the_long_chat_is_long(smollm2: Path) -> None:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(smollm2 / "tokenizer.json"))
    assert len(tokenizer.encode(CHATS["long"][0]["content"]).ids) >= 1500
    assert len(CHATS) == 10


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
async def test_two_nodes_by_relay(smollm2: Path, dtype: str) -> None:
    reference = await asyncio.to_thread(expected, smollm2, dtype)
    async with mesh(smollm2, *TWO, dtype=dtype, direct=False) as built:
        assert await ways_of(built, reference, list(CHATS)) == {0: {"local"}, 1: {"relay"}}


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
async def test_two_nodes_direct(smollm2: Path, dtype: str) -> None:
    reference = await asyncio.to_thread(expected, smollm2, dtype)
    async with mesh(smollm2, *TWO, dtype=dtype, relay=False) as built:
        assert await ways_of(built, reference, list(CHATS)) == {0: {"local"}, 1: {"direct"}}


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
async def test_three_nodes_one_of_them_direct(smollm2: Path, dtype: str) -> None:
    """The head and the last node sit behind a relay, the middle one has none."""
    reference = await asyncio.to_thread(expected, smollm2, dtype)
    async with mesh(smollm2, dtype=dtype) as built:
        assert built.relay is not None
        middle = built.node(THREE[1], relay=False)
        ends = [built.node(THREE[0], direct=False), built.node(THREE[2], direct=False)]
        built.nodes += await asyncio.gather(*(role.start() for role in (*ends, middle)))
        assert await ways_of(built, reference, list(CHATS)) == {0: {"local"}, 1: {"direct"}, 2: {"relay"}}


@pytest.mark.parametrize("relay", [True, False])
async def test_three_nodes_one_way(smollm2: Path, relay: bool) -> None:
    reference = await asyncio.to_thread(expected, smollm2, "bfloat16")
    async with mesh(smollm2, *THREE, relay=relay, direct=not relay) as built:
        way = "relay" if relay else "direct"
        names = ["short", "emoji-and-cjk", "multi-turn"]
        assert await ways_of(built, reference, names) == {0: {"local"}, 1: {way}, 2: {way}}
