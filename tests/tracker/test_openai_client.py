"""The real openai client against a tracker."""

from __future__ import annotations

from collections.abc import AsyncIterator

import openai
import pytest
import pytest_asyncio

from meshdesk.tracker.server import TrackerServer
from tests.tracker.asking import FIRST
from tests.tracker.conftest import Join
from tests.tracker.heads import PIECES, Head, refuse, start_then
from tests.tracker.records import MODEL

TEXT = "".join(PIECES)


@pytest_asyncio.fixture
async def asker(tracker: TrackerServer) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(base_url=tracker.url + "/v1", api_key="none", max_retries=0) as client:
        yield client


async def test_models_are_listed(tracker: TrackerServer, asker: openai.AsyncOpenAI, join: Join) -> None:
    assert [model async for model in asker.models.list()] == []
    await join(tracker, "h", 0, 15, endpoint="http://127.0.0.1:9", model="org/Model")
    async for model in asker.models.list():
        assert (model.id, model.object, model.owned_by) == ("org/Model", "model", "meshdesk")
        assert model.created > 0
    model = await asker.models.retrieve("org/Model")
    assert model.model_extra is not None
    assert model.model_extra["meshdesk"] == {
        "ready": False,
        "nodes": 1,
        "missing_layers": [[15, 30]],
        "variants": [{"revision": "0123456789ab", "dtype": "bfloat16", "num_layers": 30}],
    }
    with pytest.raises(openai.NotFoundError) as missing:
        await asker.models.retrieve("gpt-4")
    assert missing.value.code == "model_not_found"


async def test_a_chat_streamed_and_whole(tracker: TrackerServer, asker: openai.AsyncOpenAI, join: Join) -> None:
    async with Head() as head:
        await join(tracker, "h", endpoint=head.url)
        stream = await asker.chat.completions.create(
            model=MODEL, messages=[{"role": "user", "content": "Hi"}], stream=True
        )
        pieces = [chunk.choices[0].delta.content async for chunk in stream]
        assert "".join(piece or "" for piece in pieces) == TEXT
        answer = await asker.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "Hi"}])
        assert answer.choices[0].message.content == TEXT
        assert answer.usage is not None
        assert answer.usage.total_tokens == 5


async def test_a_completion_streamed_and_whole(tracker: TrackerServer, asker: openai.AsyncOpenAI, join: Join) -> None:
    async with Head() as head:
        await join(tracker, "h", endpoint=head.url)
        stream = await asker.completions.create(model=MODEL, prompt="Hi", stream=True)
        assert "".join([chunk.choices[0].text async for chunk in stream]) == TEXT
        answer = await asker.completions.create(model=MODEL, prompt="Hi")
        assert answer.choices[0].text == TEXT


async def test_errors_are_the_clients_own_kinds(tracker: TrackerServer, asker: openai.AsyncOpenAI, join: Join) -> None:
    async def ask(model: str = MODEL) -> None:
        await asker.chat.completions.create(model=model, messages=[{"role": "user", "content": "Hi"}])

    with pytest.raises(openai.NotFoundError) as missing:
        await ask("gpt-4")
    assert (missing.value.code, missing.value.param, missing.value.type) == (
        "model_not_found",
        "model",
        "not_found_error",
    )
    await join(tracker, "h", 0, 15, endpoint="http://127.0.0.1:9")
    with pytest.raises(openai.InternalServerError, match="No node holds layers 15–29") as gap:
        await ask()
    assert gap.value.status_code == 503
    async with Head(refuse(400, "context_length_exceeded", "Too long.")) as head:
        await join(tracker, "h", endpoint=head.url)
        with pytest.raises(openai.BadRequestError) as bad:
            await ask()
        assert bad.value.code == "context_length_exceeded"
        head.behaviour = refuse(429, "too_many_chats", "Busy.")
        with pytest.raises(openai.RateLimitError):
            await ask()


async def test_a_stream_that_breaks_off_raises(tracker: TrackerServer, asker: openai.AsyncOpenAI, join: Join) -> None:
    async with Head(start_then(FIRST, b": flush\n\n" * 1000, cut_off=True)) as head:
        await join(tracker, "h", endpoint=head.url)
        stream = await asker.chat.completions.create(
            model=MODEL, messages=[{"role": "user", "content": "Hi"}], stream=True
        )
        with pytest.raises(openai.APIError, match="The head's answer broke off"):
            async for _ in stream:
                pass
