"""The relay's rules without sockets."""

from __future__ import annotations

import json
from typing import Any

import pytest

from meshdesk.protocol.envelopes import (
    Body,
    Cancel,
    Register,
    Request,
    Response,
    emit_cancel,
    emit_register,
    emit_request,
    emit_response,
)
from meshdesk.relay.hub import (
    CLOSE_BUSY,
    CLOSE_LOGIN_LATE,
    CLOSE_PEER_ID_TAKEN,
    CLOSE_PROTOCOL,
    CLOSE_REPLACED,
    Action,
    Close,
    Hub,
    PeerLink,
    RequesterLink,
    Send,
)
from meshdesk.relay.limits import RelayLimits

SECRET = "s" * 16


def register(hub: Hub, peer_id: str = "p", secret: str | None = SECRET, now: float = 0.0) -> PeerLink:
    link = hub.peer_opened(now)
    [action] = [
        each for each in hub.peer_frame(link, emit_register(Register(peer_id, secret)), now) if each.link is link
    ]
    assert sent(action)["type"] == "registered"
    return link


def sent(action: Action) -> dict[str, Any]:
    assert isinstance(action, Send), action
    fields = json.loads(action.frame)
    assert isinstance(fields, dict)
    return fields


def ask(
    hub: Hub, link: RequesterLink, request_id: str = "aa", now: float = 0.0, *, stream: bool = False
) -> list[Action]:
    request = Request(request_id, "POST", "/forward", {"X-A": "1"}, Body.of(b"\x00"), stream)
    return hub.requester_frame(link, emit_request(request), now)


def asked(hub: Hub, link: RequesterLink, request_id: str = "aa", now: float = 0.0, *, stream: bool = False) -> str:
    """Pass a request on to the peer; the relay's id for it."""
    [action] = ask(hub, link, request_id, now, stream=stream)
    assert isinstance(action.link, PeerLink)
    fields = sent(action)
    assert fields["type"] == "relay-http-request"
    assert fields["body_base64"] == "AA=="
    return str(fields["request_id"])


def answer(hub: Hub, link: PeerLink, relay_id: str, now: float = 0.0, **fields: Any) -> list[Action]:
    return hub.peer_frame(link, emit_response(Response(relay_id, **fields), to_relay=True), now)


def failed(actions: list[Action], status: int, code: str, *, delivered: bool, request_id: str | None = "aa") -> None:
    """The one action is the relay's own failure, in the top-level error and in the body alike."""
    [action] = actions
    fields = sent(action)
    assert (fields["request_id"], fields["status"]) == (request_id, status)
    assert fields["error"]["code"] == code
    assert fields["error"]["delivered"] is delivered
    assert json.loads(fields["body"])["error"] == fields["error"]
    assert fields["error"]["message"].endswith(".")


def test_an_answer_goes_back_to_whoever_asked_under_its_own_id() -> None:
    hub = Hub()
    peer, one, two = register(hub), hub.requester_opened("p", 0), hub.requester_opened("p", 0)
    first, second = asked(hub, one), asked(hub, two)
    assert first != second
    assert (hub.peers, hub.requesters, hub.in_flight) == (1, 2, 2)
    [back] = answer(hub, peer, second, status=201, headers={"a": "b"}, body=Body(text="two"))
    assert back.link is two
    assert sent(back) == {"request_id": "aa", "status": 201, "headers": {"a": "b"}, "body": "two"}
    [back] = answer(hub, peer, first, body=Body.of(b"\xff"))
    assert back.link is one
    assert hub.in_flight == 0
    assert answer(hub, peer, first) == []
    assert hub.counts.stray_responses == 1


def test_the_same_peer_takes_over_with_its_secret_only() -> None:
    hub = Hub()
    old, requester = register(hub), hub.requester_opened("p", 0)
    asked(hub, requester)
    stranger = hub.peer_opened(1)
    told, closed = hub.peer_frame(stranger, emit_register(Register("p", "x" * 16)), 1)
    assert sent(told)["error"]["code"] == "peer_id_taken"
    assert closed == Close(stranger, CLOSE_PEER_ID_TAKEN, "peer_id_taken")
    new = hub.peer_opened(2)
    told, closed, failure, registered = hub.peer_frame(new, emit_register(Register("p", SECRET)), 2)
    assert sent(told)["error"]["code"] == "replaced"
    assert closed == Close(old, CLOSE_REPLACED, "replaced")
    failed([failure], 502, "peer_gone", delivered=True)
    assert registered.link is new
    assert hub.peers == 1
    # The older socket's end and its late frames change nothing.
    assert hub.peer_frame(old, b"{}", 3) == []
    assert hub.peer_gone(old) == []
    asked(hub, requester)
    assert hub.counts.replaced == 1


def test_a_peer_that_left_is_known_again_by_its_secret() -> None:
    hub = Hub()
    hub.peer_gone(register(hub))
    link = hub.peer_opened(1)
    assert hub.peer_frame(link, emit_register(Register("p", "x" * 16)), 1)[1] == Close(
        link, CLOSE_PEER_ID_TAKEN, "peer_id_taken"
    )
    register(hub)


def test_only_secrets_of_absent_peers_are_forgotten() -> None:
    hub = Hub(RelayLimits(secrets=2))
    register(hub, "here")
    hub.peer_gone(register(hub, "gone"))
    register(hub, "third")
    register(hub, "gone", "another-secret-xx")
    hub = Hub(RelayLimits(secrets=1))
    register(hub, "a")
    register(hub, "b")
    link = hub.peer_opened(0)
    assert hub.peer_frame(link, emit_register(Register("a", "x" * 16)), 0)[1].link is link


def test_a_first_frame_that_is_no_registration_ends_the_socket() -> None:
    hub = Hub()
    link = hub.peer_opened(0)
    told, closed = hub.peer_frame(link, b"{}", 0)
    assert sent(told)["type"] == "error"
    assert closed == Close(link, CLOSE_PROTOCOL, "unknown_type")
    assert hub.counts.refused_registrations == 1


def test_a_full_relay_says_so() -> None:
    hub = Hub(RelayLimits(peers=1))
    register(hub)
    link = hub.peer_opened(0)
    _, closed = hub.peer_frame(link, emit_register(Register("q", SECRET)), 0)
    assert closed == Close(link, CLOSE_BUSY, "relay_full")
    register(hub)


def test_a_socket_that_does_not_register_is_closed() -> None:
    hub = Hub(RelayLimits(login_s=10))
    link = hub.peer_opened(0)
    register(hub, now=0)
    assert hub.on_time(9.9) == []
    told, closed = hub.on_time(10)
    assert sent(told)["error"]["code"] == "login_late"
    assert closed == Close(link, CLOSE_LOGIN_LATE, "login_late")
    assert hub.on_time(11) == []


def test_an_unknown_peer_is_a_404_and_may_come_later() -> None:
    hub = Hub()
    requester = hub.requester_opened("p", 0)
    failed(ask(hub, requester), 404, "unknown_peer", delivered=False)
    register(hub)
    asked(hub, requester)


def test_a_peer_that_goes_fails_what_waits_for_it() -> None:
    hub = Hub()
    peer, requester = register(hub), hub.requester_opened("p", 0)
    asked(hub, requester)
    streaming = asked(hub, requester, "bb", stream=True)
    answer(hub, peer, streaming, stream="start")
    whole, end = hub.peer_gone(peer)
    failed([whole], 502, "peer_gone", delivered=True)
    assert sent(end)["stream"] == "end"
    assert sent(end)["error"]["code"] == "peer_gone"
    assert "status" not in sent(end)
    assert hub.in_flight == hub.peers == 0
    assert hub.counts.failures == {"peer_gone": 2}


def test_a_late_answer_is_a_504_and_its_work_is_cancelled() -> None:
    hub = Hub(RelayLimits(first_answer_s=5))
    peer, requester = register(hub), hub.requester_opened("p", 0)
    relay_id = asked(hub, requester, now=0)
    streaming = asked(hub, requester, "bb", now=0, stream=True)
    answer(hub, peer, streaming, now=4, stream="start")
    cancel, failure = hub.on_time(5)
    assert cancel == Send(peer, emit_cancel(Cancel(relay_id)))
    failed([failure], 504, "peer_timeout", delivered=True)
    assert answer(hub, peer, relay_id) == []
    # Each frame of a stream puts its deadline off.
    assert answer(hub, peer, streaming, now=8, stream="chunk")
    assert hub.on_time(12) == []
    _, broken = hub.on_time(13)
    assert sent(broken)["error"]["code"] == "peer_timeout"
    assert sent(broken)["stream"] == "end"


def test_a_stream_passes_frame_by_frame() -> None:
    hub = Hub()
    peer, requester = register(hub), hub.requester_opened("p", 0)
    relay_id = asked(hub, requester, stream=True)
    frames = []
    for mark in ("start", "chunk", "chunk", "end"):
        [back] = answer(hub, peer, relay_id, stream=mark, body=Body(text=mark))
        frames.append(sent(back))
    assert [frame["stream"] for frame in frames] == ["start", "chunk", "chunk", "end"]
    assert frames[0]["status"] == 200
    assert all(frame["request_id"] == "aa" for frame in frames)
    assert hub.in_flight == 0
    assert hub.counts.stream_frames == 4


@pytest.mark.parametrize(
    ("accepts", "marks", "status"),
    [(False, ["start"], 502), (True, ["chunk"], 502), (True, ["end"], 502), (True, ["start", "start"], None)],
)
def test_a_stream_nobody_asked_for_or_out_of_order_is_a_502(
    accepts: bool, marks: list[str], status: int | None
) -> None:
    hub = Hub()
    peer, requester = register(hub), hub.requester_opened("p", 0)
    relay_id = asked(hub, requester, stream=accepts)
    actions: list[Action] = []
    for mark in marks:
        actions = answer(hub, peer, relay_id, stream=mark)
    cancel, failure = actions
    assert cancel == Send(peer, emit_cancel(Cancel(relay_id)))
    assert sent(failure)["error"]["code"] == "bad_answer"
    # Once a status has gone out, another would be taken for a second answer.
    assert sent(failure).get("status") == status
    assert hub.in_flight == 0


def test_a_whole_answer_in_the_middle_of_a_stream_breaks_it_off() -> None:
    hub = Hub()
    peer, requester = register(hub), hub.requester_opened("p", 0)
    relay_id = asked(hub, requester, stream=True)
    answer(hub, peer, relay_id, stream="start")
    cancel, failure = answer(hub, peer, relay_id)
    assert cancel.link is peer
    assert sent(failure)["stream"] == "end"
    assert sent(failure)["error"]["code"] == "bad_answer"


def test_a_cancelled_request_is_cancelled_at_the_peer_once() -> None:
    hub = Hub()
    peer, requester = register(hub), hub.requester_opened("p", 0)
    relay_id = asked(hub, requester)
    cancel = emit_cancel(Cancel("aa"))
    assert hub.requester_frame(requester, cancel, 0) == [Send(peer, emit_cancel(Cancel(relay_id)))]
    assert hub.requester_frame(requester, cancel, 0) == []
    assert answer(hub, peer, relay_id) == []
    asked(hub, requester)


def test_a_requester_that_goes_cancels_what_it_asked() -> None:
    hub = Hub()
    peer, requester = register(hub), hub.requester_opened("p", 0)
    ids = [asked(hub, requester, name) for name in ("aa", "bb")]
    assert hub.requester_gone(requester) == [Send(peer, emit_cancel(Cancel(each))) for each in ids]
    assert (hub.requesters, hub.in_flight) == (0, 0)
    assert ask(hub, requester) == []
    assert hub.counts.cancelled == 2


def test_too_many_at_once_is_a_429() -> None:
    hub = Hub(RelayLimits(in_flight_per_peer=2, in_flight_per_requester=1))
    register(hub)
    one, two, three = (hub.requester_opened("p", 0) for _ in range(3))
    asked(hub, one)
    failed(ask(hub, one, "bb"), 429, "too_many", delivered=False, request_id="bb")
    asked(hub, two)
    failed(ask(hub, three), 429, "too_many", delivered=False)


def test_an_id_under_way_cannot_be_used_again() -> None:
    hub = Hub()
    register(hub)
    requester = hub.requester_opened("p", 0)
    asked(hub, requester)
    failed(ask(hub, requester), 400, "bad_request_id", delivered=False)


def test_bad_frames_are_answered_until_there_are_too_many() -> None:
    hub = Hub(RelayLimits(bad_frames=3))
    peer, requester = register(hub), hub.requester_opened("p", 0)
    relay_id = asked(hub, requester)
    failed(hub.requester_frame(requester, b"\xff", 0), 400, "not_utf8", delivered=False, request_id=None)
    failed(
        hub.requester_frame(requester, b'{"request_id": "bb"}', 0),
        400,
        "missing_field",
        delivered=False,
        request_id="bb",
    )
    _, closed, cancel = hub.requester_frame(requester, b"[]", 0)
    assert closed == Close(requester, CLOSE_PROTOCOL, "not_json")
    assert cancel == Send(peer, emit_cancel(Cancel(relay_id)))
    assert hub.requester_frame(requester, b"[]", 0) == []


def test_a_body_too_large_is_a_413_however_often() -> None:
    hub = Hub(RelayLimits(bad_frames=1))
    requester = hub.requester_opened("p", 0)
    headers = {str(number): "" for number in range(100)}
    request = Request("aa", "POST", "/forward", headers, Body())
    for _ in range(3):
        failed(hub.requester_frame(requester, emit_request(request), 0), 413, "too_large", delivered=False)


def test_a_peers_unreadable_answer_is_a_502_for_its_requester() -> None:
    hub = Hub(RelayLimits(bad_frames=3))
    peer, requester = register(hub), hub.requester_opened("p", 0)
    relay_id = asked(hub, requester)
    bad = {"type": "relay-http-response", "request_id": relay_id}
    failed(hub.peer_frame(peer, json.dumps({**bad, "status": "x"}), 0), 502, "bad_answer", delivered=True)
    streaming = asked(hub, requester, "bb", stream=True)
    answer(hub, peer, streaming, stream="start")
    [broken] = hub.peer_frame(peer, json.dumps({**bad, "request_id": streaming, "stream": "x"}), 0)
    assert sent(broken)["stream"] == "end"
    told, closed = hub.peer_frame(peer, b"{", 0)
    assert sent(told)["error"]["code"] == "not_json"
    assert closed == Close(peer, CLOSE_PROTOCOL, "not_json")


def test_an_idle_requester_is_closed_and_a_waiting_one_is_not() -> None:
    hub = Hub(RelayLimits(idle_requester_s=10, first_answer_s=100))
    register(hub)
    idle, waiting = hub.requester_opened("p", 0), hub.requester_opened("p", 0)
    asked(hub, waiting)
    assert hub.on_time(10) == [Close(idle, 1000, "idle")]
    assert hub.requesters == 1


def test_a_peer_without_a_secret_has_its_id_while_it_is_here() -> None:
    hub = Hub()
    peer = register(hub, secret=None)
    for secret in (None, SECRET):
        other = hub.peer_opened(0)
        assert hub.peer_frame(other, emit_register(Register("p", secret)), 0)[1] == Close(
            other, CLOSE_PEER_ID_TAKEN, "peer_id_taken"
        )
    hub.peer_gone(peer)
    hub.peer_gone(register(hub))
    other = hub.peer_opened(0)
    assert hub.peer_frame(other, emit_register(Register("p", None)), 0)[1].link is other
