"""Ready-made moments of a volunteer's computer: for tests of the windows and for pictures of them."""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Callable

from meshdesk.node.events import ForwardServed, HopTimed, HopWayChanged, Way
from meshdesk.volunteer.hop_history import HopHistory
from meshdesk.volunteer.status import (
    DirectFacts,
    Given,
    LinkFacts,
    LinkState,
    Pause,
    PauseCause,
    Phase,
    Problem,
    Progress,
    Reach,
    Remedy,
    RouteStop,
    ShardFacts,
    Status,
    WhyNotDirect,
)
from meshdesk.volunteer.wording import QT_TRANSLATE_NOOP

NOW = 1_795_000_931.0
"""The moment at which all of them are looked at."""
HOUR = 3600.0
MODEL = "SmolLM2-135M-Instruct"

SHARD = ShardFacts(
    model=MODEL,
    start_layer=15,
    end_layer=30,
    num_layers=30,
    weight_bytes=141_000_000,
    compute_dtype="bfloat16",
    memory_bytes=388_000_000,
    kv_bytes=3_900_000,
    chosen=QT_TRANSLATE_NOOP("Layers", "nobody holds layers {layers} yet").format(layers="15–29"),
)
RELAY = LinkFacts("relay.example", LinkState.CONNECTED, NOW - 3.2 * HOUR, 1, 21.0)
TRACKER = LinkFacts("tracker.example", LinkState.CONNECTED, NOW - 3.2 * HOUR, 0, 24.0)
BEHIND_WSL2 = DirectFacts(False, WhyNotDirect.WSL2_NAT, "", "172.29.80.1")
TODAY = Given(chats=6, tokens=1_204, bytes_in=4_100_000, bytes_out=4_000_000, seconds=3.2 * HOUR)
IN_ALL = Given(chats=31, tokens=88_310, bytes_in=88_000_000, bytes_out=92_000_000, seconds=70 * HOUR)
ROUTE = (
    RouteStop("anna", 0, 15, latency_ms=3.0, compute_ms=4.0),
    RouteStop("berta", 15, 30, mine=True, way=Way.RELAY, via="relay.example", latency_ms=21.0, compute_ms=4.2),
)
FALLEN_ROUTE = (
    ROUTE[0],
    RouteStop("berta", 15, 30, mine=True, way=Way.DIRECT_AFTER_RELAY, latency_ms=11.0, compute_ms=4.2),
)


def off() -> Status:
    return Status(phase=Phase.OFF, since=NOW - 60, in_all=IN_ALL)


def off_at_first() -> Status:
    """Before the first Join ever."""
    return Status(phase=Phase.OFF, since=NOW)


def starting() -> Status:
    return Status(
        phase=Phase.STARTING,
        since=NOW - 14,
        progress=Progress("downloading", "layers 15–29", 84_000_000, 141_000_000, 6_200_000, 9.0),
        shard=dataclasses.replace(SHARD, compute_dtype="", memory_bytes=None, kv_bytes=0),
        relay=LinkFacts("relay.example", LinkState.CONNECTING, NOW - 14),
        in_all=IN_ALL,
    )


def finding() -> Status:
    return Status(phase=Phase.STARTING, since=NOW - 1, progress=Progress("finding"), in_all=IN_ALL)


def serving_direct() -> Status:
    """The head of a mesh without a relay, with a little to do."""
    return Status(
        phase=Phase.SERVING,
        since=NOW - 0.5 * HOUR,
        reach=Reach.DIRECT,
        shard=dataclasses.replace(SHARD, start_layer=0, end_layer=15, chosen=""),
        tracker=TRACKER,
        direct=DirectFacts(True, WhyNotDirect.REACHABLE, "203.0.113.7:7443"),
        route=(
            RouteStop("carla", 0, 15, mine=True, compute_ms=4.4),
            RouteStop("dora", 15, 30, way=Way.DIRECT, latency_ms=8.1, compute_ms=4.1),
        ),
        joined_at=NOW - 0.5 * HOUR,
        chats_now=1,
        tokens_per_s=21.7,
        today=TODAY,
        in_all=IN_ALL,
    )


def serving_by_relay() -> Status:
    """The drawing of the dashboard."""
    return Status(
        phase=Phase.SERVING,
        since=NOW - 3.2 * HOUR,
        reach=Reach.RELAY,
        shard=SHARD,
        relay=RELAY,
        tracker=TRACKER,
        direct=BEHIND_WSL2,
        route=ROUTE,
        joined_at=NOW - 3.2 * HOUR,
        chats_now=2,
        tokens_per_s=18.4,
        today=TODAY,
        in_all=IN_ALL,
    )


def serving_quietly() -> Status:
    """In the mesh, and nobody has chatted yet."""
    return dataclasses.replace(serving_by_relay(), chats_now=0, tokens_per_s=None, today=Given(), route=ROUTE[1:])


def falling_back() -> Status:
    return dataclasses.replace(
        serving_by_relay(),
        relay=dataclasses.replace(RELAY, state=LinkState.LOST, since=NOW - 24, latency_ms=None, reason="no answer"),
        reach=Reach.DIRECT,
        direct=DirectFacts(True, WhyNotDirect.REACHABLE, "192.0.2.14:7443"),
        route=FALLEN_ROUTE,
    )


def reconnecting() -> Status:
    return dataclasses.replace(
        serving_by_relay(),
        reach=Reach.NOT_YET,
        reconnecting_since=NOW - 12,
        relay=dataclasses.replace(RELAY, state=LinkState.LOST, since=NOW - 12, latency_ms=None, reason="no answer"),
        chats_now=0,
        tokens_per_s=None,
    )


def paused_by_person() -> Status:
    return Status(
        phase=Phase.PAUSED,
        since=NOW - 300,
        pause=Pause(PauseCause.PERSON, NOW + 3300),
        today=TODAY,
        in_all=IN_ALL,
    )


def paused_on_battery() -> Status:
    return Status(
        phase=Phase.PAUSED,
        since=NOW - 300,
        pause=Pause(PauseCause.BATTERY, None, "pause_on_battery"),
        today=TODAY,
        in_all=IN_ALL,
    )


def error() -> Status:
    return Status(
        phase=Phase.ERROR,
        since=NOW - 40,
        problem=Problem(
            "Not enough memory for layers 15–29: they need 6.1 GB, and 2.3 GB are free.",
            "Close other programs, or serve fewer layers.",
            "no-memory",
            Remedy.SETTINGS,
        ),
        shard=dataclasses.replace(SHARD, memory_bytes=None, kv_bytes=0),
        in_all=IN_ALL,
    )


def leaving() -> Status:
    return dataclasses.replace(serving_by_relay(), phase=Phase.LEAVING, since=NOW - 2)


def long_words() -> Status:
    """Everything as long as it may get."""
    return dataclasses.replace(
        serving_by_relay(),
        shard=dataclasses.replace(
            SHARD,
            model="Qwen3-Coder-480B-A35B-Instruct-Quantised-Longname",
            start_layer=115,
            end_layer=131,
            num_layers=160,
            weight_bytes=141_000_000_000,
            memory_bytes=148_000_000_000,
            chosen="The node that held them, hinterhofwerkstatt-rechner-2, left the mesh an hour ago.",
        ),
        relay=dataclasses.replace(RELAY, address="relay-europe-west-4.volunteers.mesh.example:8443", reconnects=214),
        route=(
            RouteStop("annas-old-laptop", 0, 50, latency_ms=3.0),
            RouteStop("berta-the-basement-server", 50, 90, way=Way.DIRECT, latency_ms=140.0),
            RouteStop("carla", 90, 115, way=Way.DIRECT_AFTER_RELAY, latency_ms=31.0),
            RouteStop(
                "this-is-my-own-computer",
                115,
                131,
                mine=True,
                way=Way.RELAY,
                via="relay-europe-west-4.volunteers.mesh.example",
                latency_ms=121.0,
            ),
            RouteStop("dora", 131, 160, way=None),
        ),
        in_all=Given(31_204, 88_310_441, 88_000_000_000, 92_000_000_000),
    )


STATES: dict[str, Callable[[], Status]] = {
    "off": off,
    "first": off_at_first,
    "finding": finding,
    "downloading": starting,
    "direct": serving_direct,
    "relay": serving_by_relay,
    "quiet": serving_quietly,
    "fallback": falling_back,
    "reconnecting": reconnecting,
    "paused": paused_by_person,
    "battery": paused_on_battery,
    "error": error,
    "leaving": leaving,
    "long": long_words,
    "served": serving_by_relay,
}
"""Each moment by name; ``hops_of`` has the hops that go with it."""


def hops_of(state: str) -> HopHistory:
    """The hops of the last minute before NOW that go with a state of STATES."""
    if state == "direct":
        return two_hops(Way.DIRECT, own_first=True)
    if state in {"relay", "reconnecting", "leaving", "long"}:
        return two_hops(Way.RELAY)
    if state == "fallback":
        return fallen_hops()
    if state == "served":
        return served_hops()
    return HopHistory()


def timed(
    at: float,
    token: int,
    layers: tuple[int, int] = (15, 30),
    way: Way = Way.RELAY,
    total: float = 21.0,
    compute: float = 4.2,
    tokens: int = 1,
    hop: int = 1,
    session: str = "5d1c",
) -> HopTimed:
    """One hop as the head saw it."""
    return HopTimed(
        at=at,
        session=session,
        token_index=token,
        hop=hop,
        start_layer=layers[0],
        end_layer=layers[1],
        way=way,
        total_ms=total,
        compute_ms=compute,
        queue_ms=0.2,
        bytes_out=1_540 * tokens,
        bytes_in=1_540 * tokens,
        tokens=tokens,
    )


def _wander(dice: random.Random, token: int, middle: float) -> float:
    return middle + 1.6 * math.sin(token / 17) + abs(dice.gauss(0, 1.1)) + (14.0 if dice.random() < 0.01 else 0.0)


def two_hops(way: Way, *, own_first: bool = False, rate: float = 9.0) -> HopHistory:
    """Two chats with a pause between them, as the head of two hops sees it."""
    history, dice = HopHistory(), random.Random(7)
    token, at = 0, NOW - 57.0
    while at < NOW - 0.1:
        if NOW - 31 < at < NOW - 24:
            at, token = NOW - 24.0, 0
        prompt = 37 if token == 0 else 1
        ms = _wander(dice, token, 21.0 if way is Way.RELAY else 12.4)
        head = 4.4 + dice.random()
        session = "5d1c" if at < NOW - 30 else "77ab"
        history.apply(
            timed(
                at,
                token,
                (0, 15),
                Way.LOCAL if own_first else Way.DIRECT,
                head + (0 if own_first else 3),
                head,
                prompt,
                0,
                session,
            )
        )
        total = 96.0 if prompt > 1 else ms
        history.apply(timed(at + 0.02, token, way=way, total=total, tokens=prompt, session=session))
        token += 1
        at += 1 / rate * (0.9 + 0.2 * dice.random())
    return history


def fallen_hops() -> HopHistory:
    """A relay fails in the middle of a chat, which goes on direct, and comes back for the last seconds."""
    history, dice = HopHistory(), random.Random(7)
    at, way = NOW - 57.0, Way.RELAY
    for token in range(490):
        if way is Way.RELAY and NOW - 30 < at < NOW - 9:
            way, at = Way.DIRECT_AFTER_RELAY, at + 1.9
            reason = "relay.example did not answer within 1.5 s."
            history.apply(HopWayChanged(at=at, session="5d1c", hop=1, way=way, reason=reason))
        elif way is not Way.RELAY and at > NOW - 9:
            way = Way.RELAY
            history.apply(HopWayChanged(at=at, session="5d1c", hop=1, way=way, reason="The relay answers again."))
        middle = 21.0 if way is Way.RELAY else 11.0
        history.apply(timed(at, token, (0, 15), Way.LOCAL, 4.4 + dice.random(), 4.4, hop=0))
        history.apply(timed(at + 0.02, token, way=way, total=_wander(dice, token, middle)))
        at += 0.11
        if at > NOW:
            break
    return history


def served_hops() -> HopHistory:
    """What a node that is not the head knows: its own computing, with a prompt at the start."""
    history, dice = HopHistory(own_layers=lambda: (15, 30)), random.Random(3)
    for token in range(250):
        tokens = 52 if token == 0 else 1
        history.apply(
            ForwardServed(
                at=NOW - 40 + token * 0.15,
                session="5d1c",
                position=token if token == 0 else 51 + token,
                tokens=tokens,
                compute_ms=61.0 if tokens > 1 else 4.2 + dice.random(),
                queue_ms=0.1 + dice.random() / 2,
                bytes_in=1_540,
                bytes_out=1_540,
            )
        )
    return history
