"""Chats at a real head over a real tail."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from meshdesk.node.events import ChatFinished, ChatStarted, HopTimed, SessionReplayed, TokenSkipped, Way
from meshdesk.protocol.tensors import TensorSpec
from meshdesk.shard.process import ShardProcess
from meshdesk.shard.spec import ForwardWork
from tests.node.conftest import Pair, ids_of, text_of
from tests.node.local_server import local_server

pytestmark = pytest.mark.asyncio(loop_scope="session")
WAIT_S = 30.0


async def sse(response: aiohttp.ClientResponse) -> AsyncIterator[dict[str, Any]]:
    async for line in response.content:
        if line.strip() == b"data: [DONE]":
            return
        if line.startswith(b"data: "):
            yield json.loads(line.removeprefix(b"data: "))
    raise AssertionError("the stream ended without [DONE]")


async def test_an_answer_has_text_usage_and_hops(pair: Pair) -> None:
    with pair.head.bus.subscribe() as events:
        answer = await pair.chat()
        seen = events.take()
    assert answer["object"] == "chat.completion"
    assert answer["model"] == pair.head.info.model_id
    assert answer["choices"][0]["finish_reason"] == "length"
    assert answer["usage"]["completion_tokens"] == 12 == len(ids_of(answer))
    assert answer["usage"]["total_tokens"] == 12 + answer["usage"]["prompt_tokens"]
    assert text_of(answer)
    hops = [event for event in seen if isinstance(event, HopTimed)]
    assert [(hop.token_index, hop.hop) for hop in hops] == [(token, hop) for token in range(12) for hop in (0, 1)]
    assert {hop.way for hop in hops if hop.hop == 0} == {Way.LOCAL}
    assert {hop.way for hop in hops if hop.hop == 1} == {Way.DIRECT}
    assert all(hop.compute_ms > 0 and hop.total_ms >= hop.compute_ms for hop in hops)
    assert hops[1].bytes_out == answer["usage"]["prompt_tokens"] * 576 * 2
    assert [hop["hop"] for hop in answer["meshdesk"]["hops"]] == [hop.hop for hop in hops]
    started = [event for event in seen if isinstance(event, ChatStarted)]
    finished = [event for event in seen if isinstance(event, ChatFinished)]
    assert (started[0].hops, started[0].prompt_tokens) == (2, answer["usage"]["prompt_tokens"])
    assert (finished[0].tokens, finished[0].finish_reason) == (12, "length")


async def test_a_stream_says_the_same_as_the_whole_answer(pair: Pair) -> None:
    prompt = "Repeat exactly: 🙂 é 漢字 👩‍👩‍👧"
    whole = await pair.chat(prompt, max_tokens=40)
    async with pair.open_chat(prompt, max_tokens=40, stream=True, stream_options={"include_usage": True}) as response:
        assert response.headers["Content-Type"].startswith("text/event-stream")
        chunks = [chunk async for chunk in sse(response)]
    pieces = [chunk["choices"][0]["delta"].get("content", "") for chunk in chunks if chunk["choices"]]
    assert "".join(pieces) == text_of(whole)
    assert not any("\ufffd" in piece for piece in pieces)
    assert chunks[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert [token for chunk in chunks for token in chunk.get("meshdesk", {}).get("token_ids", [])] == ids_of(whole)
    assert chunks[-1]["usage"] == whole["usage"]
    assert chunks[-2]["choices"][0]["finish_reason"] == whole["choices"][0]["finish_reason"]
    assert len({chunk["id"] for chunk in chunks}) == 1


async def test_a_stop_string_ends_the_answer_and_never_shows(pair: Pair) -> None:
    full = text_of(await pair.chat(max_tokens=30))
    stop = full[10:14]
    expected = full[: full.index(stop)]
    for stream in (False, True):
        async with pair.open_chat(max_tokens=30, stop=[stop, "never said"], stream=stream) as response:
            if stream:
                chunks = [chunk async for chunk in sse(response)]
                text = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)
                reason = chunks[-1]["choices"][0]["finish_reason"]
            else:
                answer = await response.json()
                text, reason = text_of(answer), answer["choices"][0]["finish_reason"]
        assert (text, reason) == (expected, "stop")


async def test_the_models_own_end_stops_the_answer(pair: Pair) -> None:
    answer = await pair.chat("Reply with the single word: yes", max_tokens=200)
    assert answer["choices"][0]["finish_reason"] == "stop"
    assert ids_of(answer)[-1] in pair.head.info.eos_token_ids
    assert "<|im_end|>" not in text_of(answer)


async def test_sampling_repeats_with_its_seed_and_differs_without(pair: Pair) -> None:
    options: dict[str, Any] = {"temperature": 1.5, "top_p": 0.95, "top_k": 50, "max_tokens": 8}
    one, two = [ids_of(await pair.chat(seed=7, **options)) for _ in range(2)]
    assert one == two
    others = [tuple(ids_of(await pair.chat(seed=seed, **options))) for seed in range(100, 102)]
    assert len({tuple(one), *others}) > 1
    unseeded = {tuple(ids_of(await pair.chat(**options))) for _ in range(3)}
    assert len(unseeded) > 1


async def test_penalties_change_the_answer(pair: Pair) -> None:
    prompt = "Repeat: 🐸 🐸 🐸 🐸 🐸"
    plain = ids_of(await pair.chat(prompt, max_tokens=30))
    frequency = ids_of(await pair.chat(prompt, max_tokens=30, frequency_penalty=2.0))
    repetition = ids_of(await pair.chat(prompt, max_tokens=30, repetition_penalty=1.8))
    assert plain != frequency
    assert plain != repetition
    assert len(set(repetition)) > len(set(plain))


async def test_completions_take_a_prompt_as_it_is(pair: Pair) -> None:
    answer = await pair.chat("The capital of France is", path="/v1/completions", max_tokens=5)
    assert answer["object"] == "text_completion"
    assert "Paris" in text_of(answer)
    ids = [504, 3575, 282, 4649, 314]
    by_ids = await pair.chat(ids, path="/v1/completions", max_tokens=5, echo=True)  # type: ignore[arg-type]
    assert by_ids["usage"]["prompt_tokens"] == 5
    assert text_of(by_ids) == "The capital of France is" + text_of(answer)


async def test_two_chats_at_once_do_not_mix(pair: Pair) -> None:
    prompts = ["Name three colours.", "Write a haiku about the sea."]
    alone = [ids_of(await pair.chat(prompt, max_tokens=24)) for prompt in prompts]
    together = await asyncio.gather(*(pair.chat(prompt, max_tokens=24) for prompt in prompts))
    assert [ids_of(answer) for answer in together] == alone


async def test_a_third_chat_is_told_to_come_back(pair: Pair) -> None:
    async with pair.open_chat(stream=True, max_tokens=20) as one, pair.open_chat(stream=True, max_tokens=20) as two:
        async with pair.open_chat() as third:
            body = await third.json()
        assert (third.status, body["error"]["code"], body["error"]["type"]) == (
            429,
            "too_many_chats",
            "rate_limit_error",
        )
        for response in (one, two):
            assert [chunk async for chunk in sse(response)]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"messages": []}, "invalid_request"),
        ({"messages": [{"role": "wizard", "content": "x"}]}, "invalid_request"),
        ({"temperature": 5}, "invalid_request"),
        ({"max_tokens": 0}, "invalid_request"),
        ({"n": 2}, "invalid_request"),
        ({"tools": [{}]}, "invalid_request"),
        ({"messages": [{"role": "user", "content": "word " * 9000}]}, "context_length_exceeded"),
    ],
)
async def test_a_chat_that_cannot_be_served_is_a_400_in_openai_form(
    pair: Pair, fields: dict[str, Any], code: str
) -> None:
    async with pair.open_chat(**fields) as response:
        body = await response.json()
    assert response.status == 400
    assert (body["error"]["code"], body["error"]["type"]) == (code, "invalid_request_error")
    assert body["error"]["message"]


@pytest.mark.parametrize(
    "route",
    [
        "{",
        "[]",
        '[{"endpoint": "http://127.0.0.1:1", "start_layer": 16, "end_layer": 30}]',
        '[{"endpoint": "http://127.0.0.1:1", "start_layer": 15, "end_layer": 29}]',
        '[{"start_layer": 15, "end_layer": 30}]',
        '[{"endpoint": "file:///etc", "start_layer": 15, "end_layer": 30}]',
    ],
)
async def test_a_route_that_does_not_join_up_is_refused(pair: Pair, route: str) -> None:
    async with pair.open_chat(route=route) as response:
        assert response.status == 400
        assert (await response.json())["error"]["code"] == "bad_route"


async def test_a_client_that_hangs_up_ends_the_chat_on_every_node(pair: Pair) -> None:
    session = "hang-up-test"
    with pair.head.bus.subscribe() as events:
        async with pair.open_chat(session=session, stream=True, max_tokens=2000) as response:
            async for chunk in sse(response):
                if chunk["choices"][0]["delta"].get("content"):
                    break
        async with asyncio.timeout(WAIT_S):
            finished = await events.wait_for(ChatFinished, lambda event: event.session == session)
    assert finished.finish_reason == "cancelled"
    assert finished.tokens < 2000
    await pair.head._head.close()  # type: ignore[union-attr]
    for node in (pair.head, pair.tail):
        stats = await node._shard.stats()  # type: ignore[union-attr]
        assert stats.sessions == 0


async def test_an_answer_lost_after_it_was_computed_is_not_applied_twice(pair: Pair) -> None:
    expected = ids_of(await pair.chat(max_tokens=10))
    forwards = 0
    async with aiohttp.ClientSession() as client:

        async def lose_the_fourth(request: web.Request) -> web.StreamResponse:
            nonlocal forwards
            url = pair.tail.url + request.path
            async with client.request(
                request.method, url, headers=request.headers, data=await request.read()
            ) as response:
                body = await response.read()
            forwards += request.path == "/forward"
            if forwards == 4 and request.path == "/forward":
                assert request.transport is not None
                request.transport.abort()
            return web.Response(status=response.status, body=body, headers=response.headers)

        async with local_server(lose_the_fourth) as proxy:
            with pair.head.bus.subscribe() as events:
                answer = await pair.chat(route=pair.route_to(proxy.url), max_tokens=10)
                skipped = [event for event in events.take() if isinstance(event, TokenSkipped)]
            await pair.head._head.close()  # type: ignore[union-attr]
    assert ids_of(answer) == expected
    assert forwards == 11
    assert len(skipped) == 1
    assert len(answer["meshdesk"]["warnings"]) == 1


async def test_a_hop_that_lost_its_cache_is_sent_the_session_again(pair: Pair) -> None:
    expected = ids_of(await pair.chat(max_tokens=12))
    session = "replay-test"
    with pair.head.bus.subscribe() as events:
        async with pair.open_chat(session=session, stream=True, max_tokens=12) as response:
            ids: list[int] = []
            async for chunk in sse(response):
                assert "error" not in chunk, chunk
                ids += chunk.get("meshdesk", {}).get("token_ids", [])
                if len(ids) == 3:
                    for node in (pair.tail, pair.head):
                        await node._shard.close_session(session)  # type: ignore[union-attr]
        replayed = [event for event in events.take() if isinstance(event, SessionReplayed)]
    assert ids == expected
    assert replayed
    assert {event.position for event in replayed} == {0}


@pytest.mark.parametrize("closed_at", ["head", "tail"])
async def test_a_session_closed_while_its_forward_waits_is_computed_again(pair: Pair, closed_at: str) -> None:
    """The closing takes the waiting forward with it; the chat is the head's, so the answer goes on all the same."""
    expected = ids_of(await pair.chat(max_tokens=4))
    session = f"closed-{closed_at}"
    shard: ShardProcess = getattr(pair, closed_at)._shard
    assert shard.info is not None
    tokens = 600
    busy = ForwardWork(
        session="busy",
        position=0,
        token_ids=(1,) * tokens if closed_at == "head" else None,
        hidden=None if closed_at == "head" else bytes(tokens * shard.info.hidden_size * 2),
        spec=None if closed_at == "head" else TensorSpec((1, tokens, shard.info.hidden_size), "bfloat16"),
        sampling=None,
    )
    computing = asyncio.ensure_future(shard.forward(busy))
    while not (await shard.stats()).computing:  # noqa: ASYNC110 (the child has no event for it)
        await asyncio.sleep(0)
    with pair.head.bus.subscribe() as events:
        chat = asyncio.ensure_future(pair.chat(session=session, max_tokens=4))
        while not (await shard.stats()).queued:
            assert not computing.done(), "the chat's forward never waited"
            await asyncio.sleep(0)
        await shard.close_session(session)
        assert ids_of(await chat) == expected
        replayed = [event for event in events.take() if isinstance(event, SessionReplayed)]
    await computing
    await shard.close_session("busy")
    assert [event.position for event in replayed] == [0]


async def test_a_tail_that_is_gone_is_an_error_the_client_can_read(pair: Pair, unused_tcp_port: int) -> None:
    route = pair.route_to(f"http://127.0.0.1:{unused_tcp_port}")
    async with pair.open_chat(route=route) as response:
        body = await response.json()
    assert (response.status, body["error"]["type"], body["error"]["code"]) == (502, "server_error", "pipeline_failed")
    assert "layers 15–29" in body["error"]["message"]
    assert body["error"]["hop"] == 1


async def test_a_tail_that_goes_in_the_middle_ends_the_stream_with_an_error(pair: Pair) -> None:
    tokens = 0

    async def refuse_after_three(request: web.Request) -> web.StreamResponse:
        nonlocal tokens
        tokens += 1
        if tokens > 3:
            return web.json_response({"error": {"code": "gone", "message": "No more."}}, status=400)
        async with aiohttp.ClientSession() as client:
            url = pair.tail.url + request.path
            async with client.request(
                request.method, url, headers=request.headers, data=await request.read()
            ) as answer:
                return web.Response(body=await answer.read(), headers=answer.headers)

    async with local_server(refuse_after_three) as proxy:
        async with pair.open_chat(route=pair.route_to(proxy.url), stream=True) as response:
            chunks = [chunk async for chunk in sse(response)]
        await pair.head._head.close()  # type: ignore[union-attr]
    assert response.status == 200
    assert "No more." in chunks[-1]["error"]["message"]


async def test_routes_need_a_proof_unless_told_otherwise(pair: Pair) -> None:
    assert pair.head._head is not None
    pair.head._head._accept_unproven_routes = False
    try:
        async with pair.open_chat() as response:
            assert response.status == 403
            assert (await response.json())["error"]["code"] == "route_not_proven"
    finally:
        pair.head._head._accept_unproven_routes = True


async def test_an_answer_cut_within_an_emoji_leaves_the_half_out(pair: Pair) -> None:
    """One frog takes three tokens here, so one of three lengths cuts it wherever it begins."""
    texts = [text_of(await pair.chat("Repeat: 🐸 🐸 🐸 🐸 🐸", max_tokens=length)) for length in (8, 9, 10)]
    assert not any("\ufffd" in text for text in texts)
    assert "🐸" in texts[-1]
