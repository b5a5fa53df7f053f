"""The ADR's JSON frames over real sockets, driven by a bare websockets client."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from meshdesk.relay.limits import RelayLimits
from tests.relay.conftest import SECRET, Bare, Ends, serve

FORWARD: dict[str, Any] = {
    "method": "POST",
    "path": "/forward",
    "headers": {"X-Meshnet-Shape": "1,1,4", "X-Meshnet-Start-Layer": "12"},
}


@contextlib.asynccontextmanager
async def relay_with(**limits: Any):  # type: ignore[no-untyped-def]
    async with contextlib.aclosing(serve(RelayLimits(**limits))) as served:
        async for ends in served:
            yield ends


async def closed(end: Bare) -> tuple[int | None, str]:
    """Read to the end of the socket; its close code and reason."""
    with contextlib.suppress(ConnectionClosed):
        while True:
            await end.socket.recv()
    return end.socket.close_code, end.socket.close_reason or ""


def failure(answer: dict[str, Any], request_id: str | None, status: int, code: str, *, delivered: bool) -> None:
    assert (answer["request_id"], answer["status"]) == (request_id, status)
    error = json.loads(answer["body"])["error"]
    assert (error["code"], error["delivered"]) == (code, delivered)
    assert error["message"]
    assert answer["error"] == error


async def test_a_tensor_goes_and_comes_bit_exactly(ends: Ends) -> None:
    peer, requester = await ends.peer(), await ends.requester()
    tensor, answer = os.urandom(8), os.urandom(4096)
    await requester.send(request_id="0a1b", body_base64=base64.b64encode(tensor).decode(), **FORWARD)
    asked = await peer.receive()
    assert asked["type"] == "relay-http-request"
    assert asked["method"] == "POST"
    assert asked["path"] == "/forward"
    assert asked["headers"] == FORWARD["headers"]
    assert base64.b64decode(asked["body_base64"]) == tensor
    await peer.send(
        type="relay-http-response",
        request_id=asked["request_id"],
        status=200,
        headers={"x-meshnet-shape": "1,1,4", "content-type": "application/octet-stream"},
        body_base64=base64.b64encode(answer).decode(),
    )
    got = await requester.receive()
    assert got["request_id"] == "0a1b"
    assert got["status"] == 200
    assert got["headers"]["x-meshnet-shape"] == "1,1,4"
    assert base64.b64decode(got["body_base64"]) == answer
    assert "body" not in got
    assert "type" not in got


async def test_a_text_answer_travels_as_body(ends: Ends) -> None:
    peer, requester = await ends.peer(), await ends.requester()
    await requester.send(request_id="ff", **FORWARD)
    asked = await peer.receive()
    text = json.dumps({"token_id": 7, "text": "é🙂"}, ensure_ascii=False)
    await peer.send(
        type="relay-http-response",
        request_id=asked["request_id"],
        status=200,
        headers={"content-type": "application/json"},
        body=text,
    )
    got = await requester.receive()
    assert got["body"] == text
    assert "body_base64" not in got


async def test_many_requests_on_one_socket_and_answers_in_any_order(ends: Ends) -> None:
    peer, requester = await ends.peer(), await ends.requester()
    for number in range(8):
        await requester.send(request_id=f"r{number}", body=str(number), **FORWARD)
    asked = [await peer.receive() for _ in range(8)]
    for each in reversed(asked):
        await peer.send(
            type="relay-http-response", request_id=each["request_id"], status=200, headers={}, body=each["body"]
        )
    answers = [await requester.receive() for _ in range(8)]
    assert [(each["request_id"], each["body"]) for each in answers] == [(f"r{n}", str(n)) for n in reversed(range(8))]
    for number in range(50):
        await requester.send(request_id=f"s{number}", **FORWARD)
        again = await peer.receive()
        await peer.send(type="relay-http-response", request_id=again["request_id"], status=204)
        assert (await requester.receive())["request_id"] == f"s{number}"


async def test_two_requesters_may_use_the_same_id(ends: Ends) -> None:
    peer, one, two = await ends.peer(), await ends.requester(), await ends.requester()
    await one.send(request_id="aa", body="one", **FORWARD)
    first = await peer.receive()
    await two.send(request_id="aa", body="two", **FORWARD)
    second = await peer.receive()
    for each in (second, first):
        await peer.send(
            type="relay-http-response", request_id=each["request_id"], status=200, headers={}, body=each["body"]
        )
    assert (await one.receive())["body"] == "one"
    assert (await two.receive())["body"] == "two"


async def test_an_unknown_peer(ends: Ends) -> None:
    requester = await ends.requester("nobody")
    failure(await requester.ask(request_id="aa", **FORWARD), "aa", 404, "unknown_peer", delivered=False)
    failure(await requester.ask(request_id="bb", **FORWARD), "bb", 404, "unknown_peer", delivered=False)


async def test_a_peer_that_goes_in_the_middle_of_a_request(ends: Ends) -> None:
    peer, requester = await ends.peer(), await ends.requester()
    await requester.send(request_id="aa", **FORWARD)
    await peer.receive()
    peer.socket.transport.abort()
    failure(await requester.receive(), "aa", 502, "peer_gone", delivered=True)
    failure(await requester.ask(request_id="bb", **FORWARD), "bb", 404, "unknown_peer", delivered=False)


async def test_a_peer_that_is_too_slow_is_told_to_stop() -> None:
    async with relay_with(first_answer_s=0.2) as ends:
        peer, requester = await ends.peer(), await ends.requester()
        await requester.send(request_id="aa", **FORWARD)
        asked = await peer.receive()
        failure(await requester.receive(), "aa", 504, "peer_timeout", delivered=True)
        assert await peer.receive() == {"type": "relay-http-cancel", "request_id": asked["request_id"]}


async def test_too_many_at_once() -> None:
    async with relay_with(in_flight_per_requester=1, in_flight_per_peer=1) as ends:
        peer, one, two = await ends.peer(), await ends.requester(), await ends.requester()
        await one.send(request_id="aa", **FORWARD)
        await peer.receive()
        failure(await one.ask(request_id="bb", **FORWARD), "bb", 429, "too_many", delivered=False)
        failure(await two.ask(request_id="cc", **FORWARD), "cc", 429, "too_many", delivered=False)


async def test_a_body_too_large_is_refused_and_the_socket_stays(ends: Ends) -> None:
    peer, requester = await ends.peer(), await ends.requester()
    large = "A" * (22_369_622 + 4)
    failure(await requester.ask(request_id="aa", body_base64=large, **FORWARD), "aa", 413, "too_large", delivered=False)
    await requester.send(request_id="bb", body_base64="AA==", **FORWARD)
    assert (await peer.receive())["body_base64"] == "AA=="


async def test_a_frame_beyond_any_size_closes_the_socket(ends: Ends) -> None:
    requester = await ends.requester()
    with contextlib.suppress(ConnectionClosed):
        await requester.socket.send("x" * (24 * 1024 * 1024 + 1))
    assert (await closed(requester))[0] == 1009


@pytest.mark.parametrize(
    ("changes", "request_id", "code"),
    [
        ({"request_id": None}, None, "missing_field"),
        ({"request_id": 5}, None, "bad_request_id"),
        ({"request_id": "a/b"}, None, "bad_request_id"),
        ({"method": None}, "aa", "missing_field"),
        ({"method": 5}, "aa", "mistyped_field"),
        ({"path": "forward"}, "aa", "mistyped_field"),
        ({"headers": [1]}, "aa", "mistyped_field"),
        ({"body": 5}, "aa", "mistyped_field"),
        ({"body": "a", "body_base64": "AA=="}, "aa", "two_bodies"),
        ({"type": "register"}, "aa", "unknown_type"),
    ],
)
async def test_a_malformed_request_is_a_400(
    ends: Ends, changes: dict[str, Any], request_id: str | None, code: str
) -> None:
    await ends.peer()
    requester = await ends.requester()
    answer = await requester.ask(**{"request_id": "aa", **FORWARD, **changes})
    failure(answer, request_id, 400, code, delivered=False)


async def test_frames_that_are_no_json_are_answered_then_the_socket_is_closed(ends: Ends) -> None:
    requester = await ends.requester()
    await requester.socket.send("{")
    failure(await requester.receive(), None, 400, "not_json", delivered=False)
    await requester.socket.send(b'{"request_id": "\xff"}', text=True)
    failure(await requester.receive(), None, 400, "not_utf8", delivered=False)
    for _ in range(6):
        await requester.socket.send("[]")
    assert await closed(requester) == (4400, "not_json")


async def test_a_peers_unreadable_answer_is_a_502(ends: Ends) -> None:
    peer, requester = await ends.peer(), await ends.requester()
    await requester.send(request_id="aa", **FORWARD)
    asked = await peer.receive()
    await peer.send(type="relay-http-response", request_id=asked["request_id"], status="fine")
    failure(await requester.receive(), "aa", 502, "bad_answer", delivered=True)


async def test_a_streamed_answer_comes_frame_by_frame(ends: Ends) -> None:
    peer, requester = await ends.peer(), await ends.requester()
    await requester.send(request_id="aa", accept_stream=True, **FORWARD)
    asked = await peer.receive()
    assert asked["accept_stream"] is True
    reply = {"type": "relay-http-response", "request_id": asked["request_id"]}
    await peer.send(**reply, stream="start", status=200, headers={"content-type": "text/event-stream"})
    start = await requester.receive()
    assert (start["request_id"], start["stream"], start["status"]) == ("aa", "start", 200)
    for text in ("data: 1\n\n", "data: é\n\n"):
        await peer.send(**reply, stream="chunk", body=text)
        assert await requester.receive() == {"request_id": "aa", "stream": "chunk", "body": text}
    await peer.send(**reply, stream="end")
    assert await requester.receive() == {"request_id": "aa", "stream": "end"}


async def test_a_stream_that_was_not_asked_for_is_a_502(ends: Ends) -> None:
    peer, requester = await ends.peer(), await ends.requester()
    await requester.send(request_id="aa", **FORWARD)
    asked = await peer.receive()
    await peer.send(type="relay-http-response", request_id=asked["request_id"], stream="start", status=200)
    failure(await requester.receive(), "aa", 502, "bad_answer", delivered=True)


async def test_a_stream_whose_peer_goes_ends_with_an_error(ends: Ends) -> None:
    peer, requester = await ends.peer(), await ends.requester()
    await requester.send(request_id="aa", accept_stream=True, **FORWARD)
    asked = await peer.receive()
    await peer.send(type="relay-http-response", request_id=asked["request_id"], stream="start", status=200)
    await requester.receive()
    await peer.socket.close()
    end = await requester.receive()
    assert (end["request_id"], end["stream"], end["error"]["code"]) == ("aa", "end", "peer_gone")


@pytest.mark.parametrize("how", ["cancel", "close", "cut"])
async def test_a_requester_that_gives_up_ends_the_work_at_the_peer(ends: Ends, how: str) -> None:
    peer, requester = await ends.peer(), await ends.requester()
    await requester.send(request_id="aa", accept_stream=True, **FORWARD)
    asked = await peer.receive()
    if how == "cancel":
        await requester.send(type="relay-http-cancel", request_id="aa")
    elif how == "close":
        await requester.socket.close()
    else:
        requester.socket.transport.abort()
    assert await peer.receive() == {"type": "relay-http-cancel", "request_id": asked["request_id"]}


async def test_the_same_peer_takes_over_and_a_stranger_does_not(ends: Ends) -> None:
    old = await ends.peer()
    stranger = await ends.dial("/ws")
    refused = await stranger.ask(type="register", peer_id="peer-1", secret="another-secret-here")
    assert (refused["type"], refused["error"]["code"]) == ("error", "peer_id_taken")
    assert (await closed(stranger))[0] == 4403
    new, requester = await ends.peer(), await ends.requester()
    assert (await old.receive())["error"]["code"] == "replaced"
    assert (await closed(old))[0] == 4409
    await requester.send(request_id="aa", **FORWARD)
    assert (await new.receive())["path"] == "/forward"


@pytest.mark.parametrize(
    ("first", "code"),
    [
        ({"type": "relay-http-response", "request_id": "aa", "status": 200}, "unknown_type"),
        ({"type": "register", "secret": SECRET}, "missing_field"),
        ({"type": "register", "peer_id": "peer-1", "secret": 5}, "mistyped_field"),
        ({"type": "register", "peer_id": "a b", "secret": SECRET}, "mistyped_field"),
        ({"type": "register", "peer_id": "peer-1", "secret": "short"}, "mistyped_field"),
    ],
)
async def test_a_registration_that_is_none(ends: Ends, first: dict[str, Any], code: str) -> None:
    peer = await ends.dial("/ws")
    answer = await peer.ask(**first)
    assert (answer["type"], answer["error"]["code"]) == ("error", code)
    assert await closed(peer) == (4400, code)


async def test_a_peer_that_knows_no_secret_is_served_and_not_replaced(ends: Ends) -> None:
    peer, other, requester = await ends.dial("/ws"), await ends.dial("/ws"), await ends.requester()
    assert (await peer.ask(type="register", peer_id="peer-1"))["type"] == "registered"
    assert (await other.ask(type="register", peer_id="peer-1"))["error"]["code"] == "peer_id_taken"
    await requester.send(request_id="aa", **FORWARD)
    assert (await peer.receive())["path"] == "/forward"


async def test_a_socket_that_never_registers_is_closed() -> None:
    async with relay_with(login_s=0.1) as ends:
        peer = await ends.dial("/ws")
        assert (await peer.receive())["error"]["code"] == "login_late"
        assert (await closed(peer))[0] == 4408


async def test_the_relay_tells_its_limits(ends: Ends) -> None:
    peer = await ends.dial("/ws")
    answer = await peer.ask(type="register", peer_id="peer-1", secret=SECRET)
    assert answer["limits"]["body_bytes"] == 16 * 1024 * 1024


async def test_a_peer_that_never_reads_is_cut_and_its_requesters_are_told() -> None:
    async with relay_with(stall_s=0.5, in_flight_per_requester=8, in_flight_per_peer=64) as ends:
        peer = await ends.peer()
        peer.socket.transport.pause_reading()
        requesters = [await ends.requester() for _ in range(4)]
        large = "A" * (8 * 1024 * 1024)

        async def fill(requester: Bare) -> dict[str, Any]:
            await requester.send(request_id="aa", body_base64=large, **FORWARD)
            return await requester.receive()

        answers = await asyncio.gather(*map(fill, requesters))
        codes = {each["error"]["code"] for each in answers}
        assert "peer_gone" in codes
        assert codes <= {"peer_gone", "unknown_peer"}


async def test_a_requester_that_never_reads_is_cut_and_others_are_served() -> None:
    async with relay_with(queue_bytes=1024 * 1024, stall_s=30) as ends:
        peer, slow, other = await ends.peer(), await ends.requester(), await ends.requester()
        slow.socket.transport.pause_reading()
        await slow.send(request_id="aa", accept_stream=True, **FORWARD)
        reply = {"type": "relay-http-response", "request_id": (await peer.receive())["request_id"]}
        await peer.send(**reply, stream="start", status=200)

        async def pour() -> None:
            while True:
                await peer.send(**reply, stream="chunk", body="x" * 256 * 1024)

        pouring = asyncio.create_task(pour())
        assert (await peer.receive())["type"] == "relay-http-cancel"
        pouring.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await pouring
        await other.send(request_id="bb", **FORWARD)
        asked = await peer.receive()
        await peer.send(type="relay-http-response", request_id=asked["request_id"], status=200, headers={}, body="ok")
        assert (await other.receive())["body"] == "ok"


async def test_a_requester_that_stops_reading_is_cut_after_a_while() -> None:
    async with relay_with(stall_s=0.2) as ends:
        peer, slow = await ends.peer(), await ends.requester()
        await slow.send(request_id="aa", **FORWARD)
        await slow.send(request_id="bb", **FORWARD)
        first, second = await peer.receive(), await peer.receive()
        slow.socket.transport.pause_reading()
        # One answer larger than what the two ends' sockets hold, within what may wait for a requester.
        await peer.send(
            type="relay-http-response",
            request_id=first["request_id"],
            status=200,
            headers={},
            body="x" * (16 * 1024 * 1024),
        )
        assert await peer.receive() == {"type": "relay-http-cancel", "request_id": second["request_id"]}
