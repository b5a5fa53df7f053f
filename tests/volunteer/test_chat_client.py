"""The client of a tracker: what comes from strangers' computers is taken as it should be, or refused in a sentence."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from meshdesk.volunteer.chat_client import ChatRefused, NoTracker, Piece, Question, ask, printable
from meshdesk.volunteer.tracker_lists import MeshModel, count_nodes, list_models
from tests.volunteer.stand_in_tracker import Say, StandInTracker, chunk, hop

QUESTION = Question(messages=[{"role": "user", "content": "Hi"}], hops=True)


async def _answer(tracker: StandInTracker) -> list[Piece]:
    return [piece async for piece in ask(tracker.url, QUESTION)]


async def test_text_tokens_hops_and_warnings_come_through() -> None:
    async def script(_: StandInTracker, say: Say) -> None:
        await say(chunk("Hi", 0, warnings=["Relay lost, went direct."]))
        await say(chunk("", finish="stop"))

    async with StandInTracker(script) as tracker:
        _, said, end = await _answer(tracker)
        assert (said.text, said.token_ids, said.warnings) == ("Hi", [0], ["Relay lost, went direct."])
        assert said.hops == [hop(0, "local", 9.0, 0), hop(1, "relay", 21.0, 0)]
        assert end.finish_reason == "stop"
        assert tracker.questions[0]["meshdesk"] == {"hops": True}


async def test_what_is_not_in_the_form_is_left_out() -> None:
    odd: list[dict[str, Any]] = [
        {"choices": 5, "meshdesk": []},
        {"choices": [None], "meshdesk": {"token_ids": None, "hops": {"a": 1}, "warnings": "x"}},
        {"choices": [{"delta": "x", "finish_reason": 3}], "meshdesk": {"hops": [1, None], "warnings": [{}]}},
        {"choices": [{"delta": {"content": ["x"]}}], "meshdesk": {"token_ids": ["a", 1.5]}},
    ]

    async def script(_: StandInTracker, say: Say) -> None:
        for fields in odd:
            await say(fields)

    async with StandInTracker(script) as tracker:
        assert await _answer(tracker) == [Piece("")] * (len(odd) + 1)


async def test_a_refusal_carries_its_cause_and_the_missing_layers() -> None:
    error = {"message": "No node holds layers 15–29.", "code": "no_route", "missing_layers": [[15, 30], [2], "x"]}
    async with StandInTracker() as tracker:
        tracker.refusal = (503, error)
        with pytest.raises(ChatRefused) as caught:
            await _answer(tracker)
        assert (caught.value.message, caught.value.cause) == (error["message"], "no_route")
        assert caught.value.missing == ((15, 30),)


@pytest.mark.parametrize("error", [None, "no", {"message": 5}, {"message": ""}])
async def test_an_error_without_a_sentence_gets_one(error: Any) -> None:
    async def script(_: StandInTracker, say: Say) -> None:
        await say({"error": error})

    async with StandInTracker(script) as tracker:
        with pytest.raises(ChatRefused, match="broke off"):
            await _answer(tracker)


def test_nothing_unseen_is_printed() -> None:
    unseen = "\x00\x1b\x7f\x9b\u202e\u2066\ufdd0\ufffe\ufffc"
    assert printable(f"a{unseen}b\n\tc \u05d0é👍🏽\u200d") == "ab\n\tc \u05d0é👍🏽\u200d"


async def test_the_mesh_says_what_it_has() -> None:
    async with StandInTracker(models=("a/b",)) as tracker:
        tracker.models += [{"id": "part", "meshdesk": {"ready": False, "missing_layers": [[0, 2]]}}, {"id": ""}, 5]
        assert await list_models(tracker.url) == [MeshModel("a/b", True), MeshModel("part", False, ((0, 2),))]
        assert await count_nodes(tracker.url) == 1


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"nodes": 5}', b"", b"null"])
async def test_another_server_is_no_tracker(body: bytes) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        with pytest.raises(NoTracker, match="is no tracker"):
            await count_nodes(_url(server))


async def test_a_server_that_says_nothing_is_given_up() -> None:
    held: list[asyncio.StreamWriter] = []
    server = await asyncio.start_server(lambda _, writer: held.append(writer), "127.0.0.1", 0)
    async with server:
        with pytest.raises(NoTracker, match=r"within 0\.2 s"):
            await count_nodes(_url(server), deadline_s=0.2)
        for writer in held:
            writer.close()


def _url(server: asyncio.Server) -> str:
    return f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def test_nothing_at_the_address_says_why() -> None:
    with pytest.raises(NoTracker, match="refused"):
        await count_nodes("http://127.0.0.1:1")


def test_a_question_without_choices_leaves_them_to_the_mesh() -> None:
    body = Question(messages=[{"role": "user", "content": "Hi"}]).to_body()
    assert json.loads(json.dumps(body)) == {"messages": [{"role": "user", "content": "Hi"}], "stream": True}
