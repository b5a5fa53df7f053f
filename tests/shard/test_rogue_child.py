"""A child that speaks nonsense is ended, whoever waits is told, and nothing hangs."""

from __future__ import annotations

from pathlib import Path

import pytest

from meshdesk.shard import child_link, process
from meshdesk.shard.errors import ShardUnavailable
from meshdesk.shard.spec import ForwardWork
from tests.shard.shards import Events, running, spec

NONSENSE = [
    "garbage",
    "a header that is no object",
    "no number",
    "a number that is a list",
    "out of turn",
    "unheard of",
    "a refusal that makes no sense",
    "no result",
    "too few octets",
    "a dtype nobody knows",
    "a shape of text",
]


@pytest.fixture(autouse=True)
def rogue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_link, "WORKER_MODULE", "tests.shard.rogue_worker")
    monkeypatch.setattr(child_link, "LINGER_S", 0.1)
    monkeypatch.setattr(process, "FIRST_RETRY_S", 0.01)


@pytest.mark.parametrize("session", NONSENSE)
async def test_nonsense_ends_the_child(session: str) -> None:
    events = Events()
    async with running(spec(Path("nowhere"), 0, 15), events) as shard:
        with pytest.raises(ShardUnavailable) as gone:
            await shard.forward(ForwardWork(session, 0, token_ids=(1,)))
        assert (gone.value.status, gone.value.retry_after) == (503, 1.0)
        assert "broke the protocol" in (await events.wait_for("restarting")).reason
        await events.wait_for("ready", 2)


async def test_a_child_that_closes_its_pipes_is_ended() -> None:
    events = Events()
    async with running(spec(Path("nowhere"), 0, 15), events) as shard:
        with pytest.raises(ShardUnavailable, match="closed its pipes"):
            await shard.forward(ForwardWork("closes its pipes", 0, token_ids=(1,)))
        await events.wait_for("ready", 2)
