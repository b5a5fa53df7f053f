"""``POST /forward`` and ``DELETE /sessions/{id}`` of a real node: what is computed, and every refusal."""

from __future__ import annotations

import io
from typing import Any

import pytest

from meshdesk.node.events import ForwardRefused, ForwardServed
from tests.node.conftest import Pair

pytestmark = pytest.mark.asyncio(loop_scope="session")
WIDTH = 576
# A plausible activation: one in bfloat16 is 0x3f80, little-endian.
ONE = b"\x80\x3f"


def headers(pair: Pair, **changes: str | None) -> dict[str, str]:
    info = pair.tail.info
    built = {
        "X-Meshnet-Session": "forward-test",
        "X-Meshnet-Shape": f"1,1,{WIDTH}",
        "X-Meshnet-Dtype": "bfloat16",
        "X-Meshnet-Start-Layer": "15",
        "X-Meshnet-Position": "0",
        "X-Meshnet-Model": f"{info.model_id}@{info.revision}",
    } | {"X-Meshnet-" + name.replace("_", "-"): value for name, value in changes.items()}
    return {name: value for name, value in built.items() if value is not None}


async def forward(pair: Pair, body: bytes = ONE * WIDTH, **changes: str | None) -> tuple[int, Any, dict[str, str]]:
    sent = headers(pair, **changes)
    async with pair.client.post(pair.tail.url + "/forward", data=body, headers=sent) as response:
        return response.status, await response.json(), {name.lower(): text for name, text in response.headers.items()}


async def close(pair: Pair, session: str = "forward-test") -> Any:
    async with pair.client.delete(f"{pair.tail.url}/sessions/{session}") as response:
        assert response.status == 200
        return await response.json()


async def test_the_last_hop_answers_a_token_with_its_times(pair: Pair) -> None:
    with pair.tail.bus.subscribe() as events:
        status, answer, got = await forward(pair)
        served = await events.wait_for(ForwardServed)
    assert status == 200
    assert set(answer) == {"token_id", "text", "finish_reason"}
    assert 0 <= answer["token_id"] < 49152
    assert float(got["x-meshnet-compute-ms"]) > 0
    assert float(got["x-meshnet-queue-ms"]) >= 0
    assert (served.session, served.position, served.tokens, served.bytes_in) == ("forward-test", 0, 1, 2 * WIDTH)
    await close(pair)


async def test_sending_the_same_twice_changes_nothing(pair: Pair) -> None:
    body = ONE * WIDTH
    first = [(await forward(pair, body, Position=str(position)))[1] for position in range(3)]
    again = [(await forward(pair, body, Position=str(position)))[1] for position in range(3)]
    assert first == again
    assert await close(pair) == {"closed": True}
    assert await close(pair) == {"closed": False}


async def test_a_position_ahead_of_the_cache_is_a_409_with_what_it_has(pair: Pair) -> None:
    await forward(pair)
    status, answer, _ = await forward(pair, Position="5")
    assert (status, answer["error"]["code"], answer["error"]["have"]) == (409, "session_behind", 1)
    await close(pair)
    status, answer, _ = await forward(pair, Position="1")
    assert (status, answer["error"]["have"]) == (409, 0)


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"Session": None}, 400, "bad_header"),
        ({"Session": "a b"}, 400, "bad_header"),
        ({"Shape": None}, 400, "bad_header"),
        ({"Shape": "1,x"}, 400, "bad_tensor"),
        ({"Shape": "1,0,576"}, 400, None),
        ({"Shape": "2,1,576"}, 400, "wrong_shard"),
        ({"Shape": "1,1,575"}, 400, "wrong_shard"),
        ({"Shape": "576"}, 400, "wrong_shard"),
        ({"Shape": "1,2,576"}, 400, None),
        ({"Shape": "1,99999999,576"}, 400, None),
        ({"Dtype": None}, 400, "bad_header"),
        ({"Dtype": "int8"}, 400, None),
        ({"Dtype": "float32"}, 400, "wrong_shard"),
        ({"Start_Layer": "14"}, 400, "wrong_shard"),
        ({"Start_Layer": "-1"}, 400, "bad_header"),
        ({"Position": "x"}, 400, "bad_header"),
        ({"Position": "8192"}, 400, "wrong_shard"),
        ({"Model": "other@1"}, 400, "wrong_shard"),
        ({"Model": "no revision"}, 400, "bad_header"),
        ({"Sampling": "{"}, 400, None),
        ({"Sampling": '{"temperature": -1}'}, 400, None),
    ],
)
async def test_what_cannot_be_computed_is_refused_in_words(
    pair: Pair, changes: dict[str, str | None], status: int, code: str | None
) -> None:
    with pair.tail.bus.subscribe() as events:
        got, answer, _ = await forward(pair, **changes)
        refused = [event for event in events.take() if isinstance(event, ForwardRefused)]
    error = answer["error"]
    assert got == status
    if code is not None:
        assert error["code"] == code
    assert error["message"].endswith(".")
    assert [(each.status, each.code) for each in refused] == [(status, error["code"])]


@pytest.mark.parametrize("body", [b"", ONE * (WIDTH - 1), ONE * WIDTH + b"\x00"])
async def test_a_body_that_does_not_fit_its_shape_is_refused(pair: Pair, body: bytes) -> None:
    status, answer, _ = await forward(pair, body)
    assert status == 400
    assert str(2 * WIDTH) in answer["error"]["message"]


async def test_a_body_too_large_is_a_413_and_the_next_request_is_served(pair: Pair) -> None:
    async with pair.client.post(
        pair.tail.url + "/forward", data=io.BytesIO(bytes(17 * 1024 * 1024)), headers={"X-Meshnet-Session": "a"}
    ) as response:
        assert response.status in (400, 413)
        assert "error" in await response.json()
    assert (await forward(pair))[0] == 200
    await close(pair)


async def test_the_head_takes_chats_and_no_activations(pair: Pair) -> None:
    sent = headers(pair, Start_Layer="0")
    async with pair.client.post(pair.head.url + "/forward", data=ONE * WIDTH, headers=sent) as response:
        assert response.status == 400
        assert "chats" in (await response.json())["error"]["message"]


async def test_a_forward_that_only_fills_the_cache_answers_no_token(pair: Pair) -> None:
    _, answer, _ = await forward(pair, Sampling="none")
    assert answer["token_id"] is None
    status, answer, _ = await forward(pair, Position="1")
    assert (status, answer["token_id"] is not None) == (200, True)
    await close(pair)


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nothing", 404, "not_found"),
        ("GET", "/forward", 405, "method_not_allowed"),
        ("POST", "/v1/chat/completions", 404, "not_found"),
    ],
)
async def test_other_paths_are_refused_in_json(pair: Pair, method: str, path: str, status: int, code: str) -> None:
    async with pair.client.request(method, pair.tail.url + path) as response:
        assert response.status == status
        assert (await response.json())["error"]["code"] == code


async def test_health_says_what_this_node_is(pair: Pair) -> None:
    async with pair.client.get(pair.tail.url + "/health") as response:
        health = await response.json()
    assert (health["status"], health["start_layer"], health["end_layer"]) == ("ok", 15, 30)
    assert health["relay"] is None


async def test_metrics_count_forwards(pair: Pair) -> None:
    await forward(pair)
    await close(pair)
    async with pair.client.get(pair.tail.url + "/metrics") as response:
        text = await response.text()
    assert "meshdesk_forwards_total" in text
    assert "meshdesk_forward_compute_seconds_bucket" in text
