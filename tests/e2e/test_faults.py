"""What breaks in a real mesh, and what its user sees: processes killed, relays gone, clients that hang up."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import psutil
import pytest

from tests.e2e.cut_proxy import CutProxy
from tests.e2e.mesh import Answer, Mesh, Role, ask, chunks, collect, mesh, open_chat

pytestmark = pytest.mark.timeout(240)

TWO = ("0-14", "15-29")
STORY = "Tell me a long story about a lighthouse keeper and his dog."
TOKENS = 24
WAIT_S = 60.0


async def chat_with_fault(
    built: Mesh, after: int, fault: Callable[[], Awaitable[object]], tokens: int = TOKENS, **fields: Any
) -> Answer:
    """A streamed chat during which ``fault`` happens once ``after`` tokens have come."""
    parts: list[dict[str, Any]] = []
    seen, done = 0, False
    async with (
        aiohttp.ClientSession() as client,
        open_chat(client, built.tracker, STORY, max_tokens=tokens, **fields) as response,
    ):
        assert response.status == 200, await response.text()
        async for chunk in chunks(response):
            parts.append(chunk)
            seen += len(chunk.get("meshdesk", {}).get("token_ids", []))
            if seen >= after and not done:
                done = True
                await fault()
    return collect(200, parts)


def ways(answer: Answer, hop: int = 1) -> list[str]:
    return [each["way"] for each in answer.hops if each["hop"] == hop]


def shard_pid(node: Role) -> int:
    """The child that holds the node's layers."""
    [child] = psutil.Process(node.pid).children()
    return int(child.pid)


async def test_a_relay_killed_in_the_middle_leaves_the_answer_as_it_was(smollm2: Path) -> None:
    async with mesh(smollm2, *TWO) as built:
        undisturbed = await ask(built.tracker, STORY, max_tokens=TOKENS)
        assert set(ways(undisturbed)) == {"relay"}
        assert built.relay is not None
        answer = await chat_with_fault(built, 5, built.relay.kill)
        assert answer.error is None
        assert answer.token_ids == undisturbed.token_ids
        changed = ways(answer).index("direct-after-relay")
        assert changed >= 5
        assert ways(answer) == ["relay"] * changed + ["direct-after-relay"] * (TOKENS - changed)
        assert len(answer.warnings) == 1
        assert "direct" in answer.warnings[0]
        head = built.nodes[0]
        status = await head.wait_for(
            lambda event: event.get("event") == "HopWayChanged" and event["way"] == "direct-after-relay"
        )
        assert status["reason"]
        assert len([line for line in head.log if "so its activations go direct" in line]) == 1


async def test_a_relay_that_was_never_there_costs_one_warning(smollm2: Path, unused_tcp_port: int) -> None:
    async with mesh(smollm2, relay=False) as built:
        relay_url = f"ws://127.0.0.1:{unused_tcp_port}"
        roles = [built.node(layers, relay_url=relay_url) for layers in TWO]
        built.nodes += await asyncio.gather(*(role.start() for role in roles))
        answer = await ask(built.tracker, STORY, max_tokens=6)
        assert answer.error is None
        assert ways(answer) == ["direct-after-relay"] * 6
        assert len(answer.warnings) == 1


async def test_a_bridge_that_dies_and_returns_is_used_again(smollm2: Path) -> None:
    async with mesh(smollm2) as built:
        assert built.relay is not None
        async with CutProxy(built.relay.url) as proxy:
            roles = [built.node(TWO[0]), built.node(TWO[1], relay_url=proxy.url)]
            built.nodes += await asyncio.gather(*(role.start() for role in roles))
            head, tail = built.nodes
            undisturbed = await ask(built.tracker, STORY, max_tokens=TOKENS)

            async def cut_and_mend() -> None:
                seen = len(head.events)
                proxy.cut("/ws")
                await head.wait_for(
                    lambda event: event.get("event") == "HopWayChanged" and event["way"] == "direct-after-relay",
                    WAIT_S,
                    since=seen,
                )
                seen = len(tail.events)
                proxy.mend()
                await tail.wait_for(lambda event: event.get("event") == "RelayConnected", WAIT_S, since=seen)

            answer = await chat_with_fault(built, 5, cut_and_mend)
            assert answer.error is None
            assert answer.token_ids == undisturbed.token_ids
            assert len(answer.warnings) == 1
            assert "direct-after-relay" in ways(answer)
            again = await ask(built.tracker, STORY, max_tokens=4)
            assert ways(again) == ["relay"] * 4
            assert again.warnings == []
            # The proxy ends before its users do.
            await tail.stop()


async def test_a_downstream_node_killed_ends_the_answer_with_a_clear_error(smollm2: Path) -> None:
    async with mesh(smollm2, *TWO) as built:
        head, tail = built.nodes
        answer = await chat_with_fault(built, 4, tail.kill)
        assert len(answer.token_ids) >= 4
        assert answer.error is not None
        assert "layers 15–29" in answer.error["message"]
        finished = await head.wait_for(lambda event: event.get("event") == "ChatFinished")
        assert finished["finish_reason"] == "error"
        # Another node with those layers takes its place at once.
        await built.add_node(TWO[1])
        again = await ask(built.tracker, STORY, max_tokens=4)
        assert again.error is None
        assert again.token_ids == answer.token_ids[:4]


@pytest.mark.parametrize("which", [0, 1])
async def test_a_shards_process_killed_comes_back_and_the_answer_goes_on(smollm2: Path, which: int) -> None:
    async with mesh(smollm2, *TWO, relay=False) as built:
        undisturbed = await ask(built.tracker, STORY, max_tokens=TOKENS)
        victim = built.nodes[which]

        async def kill_shard() -> None:
            psutil.Process(shard_pid(victim)).kill()

        answer = await chat_with_fault(built, 5, kill_shard)
        assert answer.error is None
        assert answer.token_ids == undisturbed.token_ids
        assert answer.warnings
        restarted = await victim.wait_for(
            lambda event: event.get("event") == "ShardProgressed" and event["retry_in_s"] is not None
        )
        assert restarted["reason"]
        replayed = [event for event in built.nodes[0].events if event.get("event") == "SessionReplayed"]
        assert replayed[0]["hop"] == which


async def test_a_node_whose_shard_is_down_says_so(smollm2: Path) -> None:
    async with mesh(smollm2, *TWO, relay=False) as built:
        tail = built.nodes[1]
        seen = len(tail.events)
        psutil.Process(shard_pid(tail)).kill()
        await tail.wait_for(
            lambda event: event.get("event") == "ShardProgressed" and event["retry_in_s"] is not None, since=seen
        )
        seen = len(tail.events)
        info = tail.ready
        headers = {
            "X-Meshnet-Session": "s",
            "X-Meshnet-Shape": "1,1,576",
            "X-Meshnet-Dtype": "bfloat16",
            "X-Meshnet-Start-Layer": "15",
            "X-Meshnet-Position": "0",
        }
        async with aiohttp.ClientSession() as client:
            async with client.get(info["url"] + "/health") as response:
                health = await response.json()
            headers["X-Meshnet-Model"] = f"{health['model']}@{health['revision']}"
            assert health["status"] == "degraded"
            async with client.post(info["url"] + "/forward", data=bytes(1152), headers=headers) as response:
                body = await response.json()
            assert (response.status, body["error"]["code"]) == (503, "shard_unavailable")
            assert body["error"]["message"]
            await tail.wait_for(
                lambda event: event.get("event") == "ShardProgressed" and event["state"] == "ready", WAIT_S, since=seen
            )
            async with client.post(info["url"] + "/forward", data=bytes(1152), headers=headers) as response:
                assert response.status == 200


async def test_two_chats_at_once_do_not_mix(smollm2: Path) -> None:
    prompts = [STORY, "Explain how bread is made."]
    async with mesh(smollm2, *TWO) as built:
        alone = [await ask(built.tracker, prompt, max_tokens=12) for prompt in prompts]
        together = await asyncio.gather(*(ask(built.tracker, prompt, max_tokens=12) for prompt in prompts))
        assert [answer.token_ids for answer in together] == [answer.token_ids for answer in alone]


@pytest.mark.parametrize("direct", [True, False])
async def test_a_client_that_hangs_up_ends_the_work_on_every_node(smollm2: Path, direct: bool) -> None:
    async with mesh(smollm2, *TWO, direct=direct) as built:
        head, tail = built.nodes
        async with (
            aiohttp.ClientSession() as client,
            open_chat(client, built.tracker, STORY, max_tokens=2000) as response,
        ):
            async for chunk in chunks(response):
                if chunk.get("meshdesk", {}).get("token_ids"):
                    break
        finished = await head.wait_for(lambda event: event.get("event") == "ChatFinished")
        assert finished["finish_reason"] == "cancelled"
        assert finished["tokens"] < 2000
        await tail.wait_for(lambda event: event.get("event") == "SessionClosed")


async def test_layers_nobody_holds_are_named(smollm2: Path) -> None:
    async with mesh(smollm2, "0-9") as built:
        answer = await ask(built.tracker, STORY)
        assert answer.status == 503
        assert answer.error is not None
        assert "10–29" in answer.error["message"]
