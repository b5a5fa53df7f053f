"""One activation through downstream hops that answer what the test says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web

from meshdesk.node.direct_hop import DirectHop, direct_client
from meshdesk.node.events import HopTimed, Way
from meshdesk.node.fallback_hop import FallbackHop
from meshdesk.node.pipeline import (
    Activation,
    HopBehind,
    PipelineFailed,
    PipelineToken,
    Seam,
    run_downstream_pipeline,
)
from meshdesk.node.reachability import UnreachableAddresses
from meshdesk.protocol.headers import ForwardHeaders
from meshdesk.protocol.routes import Hop
from meshdesk.protocol.tensors import TensorSpec
from tests.node.local_server import Handler, LocalServer, local_server

SPEC = TensorSpec((1, 2, 4), "bfloat16")
BODY = bytes(range(16))
ACTIVATION = Activation(ForwardHeaders("session-1", SPEC, 10, 5, "model@rev"), BODY, token_index=7)

Open = Callable[..., Any]


class Route:
    """Downstream hops of ten layers each, starting at layer 10."""

    def __init__(self) -> None:
        self.servers: list[LocalServer] = []
        self.seams: list[Seam] = []
        self.timed: list[HopTimed] = []

    async def run(self, activation: Activation = ACTIVATION) -> PipelineToken:
        return await run_downstream_pipeline(self.seams, activation, self.timed.append)


@pytest_asyncio.fixture
async def route() -> AsyncIterator[Callable[..., Any]]:
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(direct_client())

        async def build(*handlers: Handler) -> Route:
            route = Route()
            for index, handler in enumerate(handlers, start=1):
                server = await stack.enter_async_context(local_server(handler))
                hop = Hop(server.url, 10 * index, 10 * index + 10)
                ways = FallbackHop(
                    session="session-1",
                    index=index,
                    name=f"hop {index}",
                    relay=None,
                    direct=DirectHop(server.url, client, UnreachableAddresses()),
                    publish=lambda event: None,
                )
                route.servers.append(server)
                route.seams.append(Seam(index, hop, ways))
            return route

        yield build


def hidden(spec: TensorSpec = SPEC, body: bytes = BODY) -> Handler:
    async def answer(request: web.Request) -> web.Response:
        asked = ForwardHeaders.parse(request.headers)
        assert (asked.session, asked.position, asked.model) == ("session-1", 5, "model@rev")
        headers = {
            "x-meshnet-shape": spec.shape_header,
            "x-meshnet-dtype": spec.dtype,
            "x-meshnet-compute-ms": "1.5",
            "x-meshnet-queue-ms": "0.25",
            "x-seen-layer": str(asked.start_layer),
        }
        return web.Response(body=body, headers=headers, content_type="application/octet-stream")

    return answer


def token(fields: Any, status: int = 200) -> Handler:
    async def answer(request: web.Request) -> web.Response:
        assert request.headers["X-Meshnet-Start-Layer"].endswith("0")
        return web.json_response(fields, status=status, headers={"x-meshnet-compute-ms": "nonsense"})

    return answer


async def test_the_activation_goes_through_every_hop_in_order(route: Open) -> None:
    seen: list[tuple[str, bytes]] = []
    other = bytes(reversed(BODY))

    async def last(request: web.Request) -> web.Response:
        seen.append((request.headers["X-Meshnet-Start-Layer"], await request.read()))
        return web.json_response({"token_id": 42, "text": "x", "finish_reason": None, "later": 1})

    built = await route(hidden(), hidden(body=other), last)
    assert await built.run() == PipelineToken(42, None)
    assert seen == [("30", other)]
    first, second, third = built.timed
    assert [each.hop for each in built.timed] == [1, 2, 3]
    assert (first.start_layer, first.end_layer, first.token_index, first.tokens) == (10, 20, 7, 2)
    assert (first.compute_ms, first.queue_ms, first.way) == (1.5, 0.25, Way.DIRECT)
    assert first.total_ms >= 0 and first.network_ms == max(0.0, first.total_ms - 1.75)
    assert (second.bytes_out, second.bytes_in) == (16, 16)
    assert third.compute_ms == 0.0


@pytest.mark.parametrize(
    ("fields", "answer"),
    [
        ({"token_id": 1, "finish_reason": "stop"}, PipelineToken(1, "stop")),
        ({"token_id": 1, "finish_reason": "made up"}, PipelineToken(1, None)),
        ({"token_id": None}, PipelineToken(None, None)),
    ],
)
async def test_what_the_last_hop_may_say(route: Open, fields: dict[str, Any], answer: PipelineToken) -> None:
    assert await (await route(token(fields))).run() == answer


@pytest.mark.parametrize(
    "fields", [{}, [], "x", {"token_id": "1"}, {"token_id": True}, {"token_id": -1}, {"token_id": 2**40}]
)
async def test_a_last_hop_that_says_no_token_is_not_asked_again(route: Open, fields: Any) -> None:
    with pytest.raises(PipelineFailed) as caught:
        await (await route(token(fields))).run()
    assert not caught.value.retryable
    assert "hop 1 (layers 10–19)" in caught.value.message


async def test_a_hop_that_has_less_of_the_session_is_behind(route: Open) -> None:
    built = await route(hidden(), token({"error": {"code": "session_behind", "message": "m", "have": 3}}, 409))
    with pytest.raises(HopBehind) as caught:
        await built.run()
    assert (caught.value.have, caught.value.seam) == (3, built.seams[1])


async def test_a_hop_whose_session_somebody_closed_has_nothing_of_it(route: Open) -> None:
    built = await route(hidden(), token({"error": {"code": "session_closed", "message": "m"}}, 410))
    with pytest.raises(HopBehind) as caught:
        await built.run()
    assert (caught.value.have, caught.value.seam) == (0, built.seams[1])


@pytest.mark.parametrize("have", [None, True, "3", -1, 5, 6])
async def test_a_409_that_makes_no_sense_is_a_plain_failure(route: Open, have: Any) -> None:
    with pytest.raises(PipelineFailed) as caught:
        await (await route(token({"error": {"code": "session_behind", "message": "Odd.", "have": have}}, 409))).run()
    assert "Odd." in caught.value.message
    assert not caught.value.retryable


@pytest.mark.parametrize(("status", "retryable"), [(503, True), (429, True), (500, True), (400, False), (404, False)])
async def test_whether_trying_again_may_help(route: Open, status: int, retryable: bool) -> None:
    built = await route(token({"error": "no object"}, status))
    with pytest.raises(PipelineFailed, match=f"answered {status}") as caught:
        await built.run()
    assert caught.value.retryable is retryable
    assert caught.value.delivered is True
    assert built.timed == []


@pytest.mark.parametrize(
    "handler",
    [
        hidden(TensorSpec((1, 1, 8), "bfloat16")),
        hidden(TensorSpec((1, 2, 2), "float32")),
        hidden(body=BODY[:-1]),
        token({"token_id": 1}),
    ],
)
async def test_a_middle_hop_that_answers_another_tensor(route: Open, handler: Handler) -> None:
    with pytest.raises(PipelineFailed) as caught:
        await (await route(handler, token({"token_id": 1}))).run()
    assert not caught.value.retryable


async def test_a_hop_that_cannot_be_reached_may_be_tried_again(route: Open) -> None:
    built = await route(hidden(), token({"token_id": 1}))
    await built.servers[1].stop()
    with pytest.raises(PipelineFailed, match="hop 2") as caught:
        await built.run()
    assert caught.value.retryable
    assert caught.value.delivered is False
    assert [each.hop for each in built.timed] == [1]


async def test_a_pipeline_given_up_ends_the_work_at_the_hop(route: Open) -> None:
    entered = asyncio.Event()

    async def hang(_: web.Request) -> web.Response:
        entered.set()
        await asyncio.Event().wait()
        raise AssertionError

    built = await route(hang)
    running = asyncio.ensure_future(built.run())
    await entered.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await built.servers[0].cancelled.wait()


async def test_a_pipeline_has_at_least_one_hop() -> None:
    with pytest.raises(ValueError, match="at least one"):
        await Route().run()
