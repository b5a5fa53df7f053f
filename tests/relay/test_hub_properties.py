"""Whatever happens in whatever order: every request passed on ends exactly once, and nothing is kept."""

from __future__ import annotations

import json
from collections import Counter

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

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
from meshdesk.relay.hub import Action, Close, Hub, PeerLink, RequesterLink
from meshdesk.relay.limits import RelayLimits

PEERS = st.sampled_from(["p", "q"])
IDS = st.sampled_from(["aa", "bb", "cc"])
MARKS = st.sampled_from([None, "start", "chunk", "end"])


class HubMachine(RuleBasedStateMachine):
    peers = Bundle("peers")
    requesters = Bundle("requesters")

    def __init__(self) -> None:
        super().__init__()
        self.hub = Hub(
            RelayLimits(first_answer_s=5, login_s=5, idle_requester_s=50, bad_frames=2, in_flight_per_peer=3)
        )
        self.now = 0.0
        self.live_peers: list[PeerLink] = []
        self.live_requesters: list[RequesterLink] = []
        self.asked: list[tuple[PeerLink, str]] = []
        self.open: Counter[tuple[RequesterLink, str]] = Counter()
        """Requests that their requester still waits for."""

    def do(self, actions: list[Action]) -> None:
        for action in actions:
            if isinstance(action, Close):
                if isinstance(action.link, PeerLink):
                    self.live_peers = [link for link in self.live_peers if link is not action.link]
                else:
                    self.drop_requester(action.link)
                continue
            fields = json.loads(action.frame)
            if isinstance(action.link, PeerLink):
                if fields["type"] == "relay-http-request":
                    self.asked.append((action.link, fields["request_id"]))
            elif fields["request_id"] is not None and fields.get("stream") in (None, "end"):
                key = (action.link, fields["request_id"])
                self.open[key] -= 1
                assert self.open[key] >= 0, "answered twice, or never asked"

    def drop_requester(self, link: RequesterLink) -> None:
        self.live_requesters = [each for each in self.live_requesters if each is not link]
        for key in [key for key in self.open if key[0] is link]:
            del self.open[key]

    @rule(target=peers, peer_id=PEERS, secret=st.sampled_from(["s" * 16, "t" * 16]))
    def peer_registers(self, peer_id: str, secret: str) -> PeerLink:
        link = self.hub.peer_opened(self.now)
        self.live_peers.append(link)
        self.do(self.hub.peer_frame(link, emit_register(Register(peer_id, secret)), self.now))
        return link

    @rule(target=requesters, peer_id=PEERS)
    def requester_opens(self, peer_id: str) -> RequesterLink:
        link = self.hub.requester_opened(peer_id, self.now)
        self.live_requesters.append(link)
        return link

    @rule(link=requesters, request_id=IDS, stream=st.booleans())
    def requester_asks(self, link: RequesterLink, request_id: str, stream: bool) -> None:
        if not any(each is link for each in self.live_requesters):
            return
        self.open[link, request_id] += 1
        request = Request(request_id, "POST", "/forward", {}, Body(), stream)
        self.do(self.hub.requester_frame(link, emit_request(request), self.now))

    @rule(link=requesters, request_id=IDS)
    def requester_cancels(self, link: RequesterLink, request_id: str) -> None:
        if link in self.live_requesters:
            waiting = request_id in link.waiting
            self.do(self.hub.requester_frame(link, emit_cancel(Cancel(request_id)), self.now))
            self.open[link, request_id] -= waiting

    @rule(link=requesters, frame=st.sampled_from([b"\xff", b"[]", b'{"request_id":"zz"}']))
    def requester_babbles(self, link: RequesterLink, frame: bytes) -> None:
        if link in self.live_requesters:
            self.open[link, "zz"] += frame.startswith(b"{")
            self.do(self.hub.requester_frame(link, frame, self.now))

    @rule(data=st.data(), mark=MARKS, any_peer=st.booleans())
    def peer_answers(self, data: st.DataObject, mark: str | None, any_peer: bool) -> None:
        if not self.asked:
            return
        link, relay_id = data.draw(st.sampled_from(self.asked))
        if any_peer and self.live_peers:
            link = data.draw(st.sampled_from(self.live_peers))
        self.do(self.hub.peer_frame(link, emit_response(Response(relay_id, stream=mark), to_relay=True), self.now))

    @rule(link=peers, frame=st.sampled_from([b"\xff", b"[]"]))
    def peer_babbles(self, link: PeerLink, frame: bytes) -> None:
        self.do(self.hub.peer_frame(link, frame, self.now))

    @rule(link=consumes(peers))
    def peer_goes(self, link: PeerLink) -> None:
        self.do(self.hub.peer_gone(link))

    @rule(link=consumes(requesters))
    def requester_goes(self, link: RequesterLink) -> None:
        self.do(self.hub.requester_gone(link))
        self.drop_requester(link)

    @rule(seconds=st.sampled_from([0.5, 3, 20]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        self.do(self.hub.on_time(self.now))

    @invariant()
    def whoever_waits_is_answered_later(self) -> None:
        assert sum(self.open.values()) == self.hub.in_flight == sum(len(link.waiting) for link in self.live_requesters)

    def teardown(self) -> None:
        self.now += 100
        self.do(self.hub.on_time(self.now))
        assert self.hub.in_flight == 0
        assert sum(self.open.values()) == 0


TestHub = HubMachine.TestCase
