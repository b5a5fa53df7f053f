"""The command line's twin of the tray's menu, against a stand-in of the app, and once against a real node."""

from __future__ import annotations

import dataclasses
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from typer.testing import CliRunner

from meshdesk.cli import app
from meshdesk.commands.control import seconds_of
from meshdesk.commands.status_text import headline, rows
from meshdesk.protocol.errors import MeshdeskError, UsageError
from meshdesk.volunteer.control_places import app_place, node_place
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
    RouteStop,
    ShardFacts,
    Status,
    WhyNotDirect,
)
from tests.commands.program import run, started
from tests.volunteer.stand_in_controlled import StandInControlled, served

SHARD = ShardFacts("HuggingFaceTB/SmolLM2-135M-Instruct", 15, 30, 30)
SERVING = Status(
    phase=Phase.SERVING,
    reach=Reach.RELAY,
    shard=SHARD,
    relay=LinkFacts("ws://relay.example", LinkState.CONNECTED, latency_ms=21.0, reconnects=1),
    tracker=LinkFacts("http://tracker.example", LinkState.LOST, reason="it timed out"),
    direct=DirectFacts(False, WhyNotDirect.CGNAT, "http://100.64.0.1:1"),
    route=(RouteStop("anna", 0, 15), RouteStop("me", 15, 30, mine=True, latency_ms=21.3)),
    joined_at=1000.0,
    chats_now=2,
    tokens_per_s=18.44,
    today=Given(chats=31, tokens=1204),
    in_all=Given(chats=900, tokens=88310, bytes_out=92_000_000, bytes_in=88_000_000),
)


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MESHDESK_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def running_app() -> Iterator[StandInControlled]:
    controlled = StandInControlled(SERVING)
    with served(app_place(), controlled):
        yield controlled


def meshdesk(*arguments: str) -> str:
    """Run a command in this process, which is quicker by half a second each; what it prints."""
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("command", ["status", "join", "leave", "pause", "resume", "logs", "hops", "quit"])
def test_where_nothing_runs_each_says_so(command: str) -> None:
    with pytest.raises(MeshdeskError) as refused:
        meshdesk(command)
    assert refused.value.exit_code == 3
    assert f"{refused.value.message} {refused.value.hint}" == "meshdesk is not running here. Start it with: meshdesk"


def test_a_person_reads_one_sentence_and_the_exit_code_is_three(data: Path) -> None:
    ended = run(["status"], data)
    assert (ended.returncode, ended.stdout) == (3, "")
    assert ended.stderr == "meshdesk: meshdesk is not running here. Start it with: meshdesk\n"


def test_each_command_does_in_the_app_what_its_name_says(running_app: StandInControlled) -> None:
    assert "Joining" in meshdesk("join")
    assert "for 15 min" in meshdesk("pause", "15m")
    assert "until" in meshdesk("pause", "--until-resume")
    meshdesk("resume")
    meshdesk("leave")
    assert orjson.loads(meshdesk("quit", "--json"))["phase"] == "leaving"
    assert running_app.told == ["join", ("pause", 900.0), ("pause", None), "resume", "leave", "quit"]


def test_what_is_not_possible_ends_with_its_sentence(running_app: StandInControlled) -> None:
    running_app.refuses = "There is no mesh to leave."
    with pytest.raises(MeshdeskError, match="no mesh to leave") as refused:
        meshdesk("leave")
    assert refused.value.exit_code == 4


def test_status_for_people_and_for_programs(running_app: StandInControlled) -> None:
    text = meshdesk("status")
    assert "Serving layers 15–29 of SmolLM2-135M-Instruct by relay" in text
    fields = orjson.loads(meshdesk("status", "--json"))
    assert fields == orjson.loads(orjson.dumps(dataclasses.asdict(SERVING), default=str))


def test_the_status_in_words() -> None:
    fields = SERVING.to_fields()
    told = dict(rows(fields, now=1000.0 + 11_520))
    assert told["Relay"] == "ws://relay.example  connected, 21.0 ms, 1 reconnects"
    assert told["Tracker"] == "http://tracker.example  lost (it timed out)"
    assert "CGNAT" in told["Direct"] and "relay" in told["Direct"]
    assert told["Route"] == "anna 0–14 → (21.3 ms) YOU 15–29"
    assert told["Given"] == "today 1,204 tokens in 31 chats; in all 88,310 tokens in 900 chats, ↑ 92 MB ↓ 88 MB"
    assert ("", "2 chats now · 18.4 tokens/s · in the mesh for 3 h 12 min") in rows(fields, now=1000.0 + 11_520)


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (Status(), "Not in the mesh"),
        (
            Status(Phase.STARTING, progress=Progress("downloading", "", 84_000_000, 141_000_000, None, 9.0)),
            "Starting: ",
        ),
        (Status(Phase.PAUSED, pause=Pause(PauseCause.PERSON)), "Paused until you resume"),
        (Status(Phase.PAUSED, pause=Pause(PauseCause.BATTERY, setting="pause_on_battery")), "Paused: on battery"),
        (Status(Phase.ERROR, problem=Problem("No room.", "Make some.")), "No room."),
        (Status(Phase.SERVING, shard=SHARD, reconnecting_since=1.0), "Reconnecting"),
        (Status(Phase.LEAVING), "Leaving once"),
    ],
)
def test_each_state_has_its_sentence(status: Status, says: str) -> None:
    assert headline(status.to_fields()).startswith(says)
    rows(status.to_fields())


def test_watching_shows_each_change_until_it_is_stopped(running_app: StandInControlled, data: Path) -> None:
    with started(["status", "--watch", "--json"], data) as watching:
        assert watching.fields()["phase"] == "serving"
        meshdesk("join")
        assert watching.fields()["phase"] == "starting"
        watching.send(signal.SIGINT)
        assert watching.end() == 130
        assert watching.errors == []


def test_logs_by_level(running_app: StandInControlled) -> None:
    line = {"number": 1, "at": 1.5, "origin": "engine", "logger": "meshdesk.node", "details": ""}
    running_app.log_items = [
        {**line, "level": "INFO", "message": "registered"},
        {**line, "level": "ERROR", "message": "lost", "details": "Traceback …"},
    ]
    assert "registered" in meshdesk("logs")
    errors = meshdesk("logs", "--level", "warning")
    assert "registered" not in errors and "lost\nTraceback …" in errors
    assert [orjson.loads(each)["level"] for each in meshdesk("logs", "--json").splitlines()] == ["INFO", "ERROR"]


def test_hops_as_a_table_and_as_lines(running_app: StandInControlled, data: Path) -> None:
    assert "No hops yet" in meshdesk("hops")
    hop = {
        "at": 1.5,
        "session": "s",
        "token_index": 3,
        "hop": 1,
        "start_layer": 15,
        "end_layer": 30,
        "way": "relay",
        "total_ms": 21.3,
        "compute_ms": 4.2,
        "queue_ms": 0.0,
        "tokens": 1,
        "bytes_out": 1,
        "bytes_in": 1,
        "network_ms": 17.1,
    }
    running_app.hop_items = [hop, {**hop, "way": None, "network_ms": None, "start_layer": 0, "end_layer": 15}]
    table = meshdesk("hops")
    assert "15–29" in table and "21.3" in table and "relay" in table and "served" in table
    assert orjson.loads(meshdesk("hops", "--json").splitlines()[0]) == hop
    with started(["hops", "-f"], data) as following:
        assert "network" in following.line()
        assert "relay" in following.line() and "served" in following.line()
        following.send(signal.SIGINT)
        following.end()


def test_several_nodes_are_all_shown_and_one_is_chosen_by_its_number() -> None:
    one, two = StandInControlled(SERVING), StandInControlled(Status())
    with served(node_place(1), one), served(node_place(2), two):
        text = meshdesk("status")
        assert "node-1: Serving" in text and "node-2: Not in the mesh" in text
        with pytest.raises(UsageError, match="Several nodes run here: 1, 2"):
            meshdesk("pause")
        meshdesk("pause", "--node", "2")
        assert (one.told, two.told) == ([], [("pause", None)])
        with pytest.raises(MeshdeskError, match="no node 3"):
            meshdesk("status", "--node", "3")
        with served(app_place(), StandInControlled(Status(Phase.PAUSED))):
            assert "Paused" in meshdesk("status"), "the app goes before the nodes"


@pytest.mark.parametrize(
    ("text", "seconds"), [("15m", 900), ("1h", 3600), ("1h30m", 5400), ("90S", 90), ("2 d", 172_800)]
)
def test_the_length_of_a_pause(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "15", "m", "-5m", "0m", "1y", "15m!", "999999d"])
def test_what_is_no_length_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no length of a pause"):
        seconds_of(text)


def test_the_doctor_asks_the_running_app(running_app: StandInControlled) -> None:
    running_app.findings = [{"check": "disk", "verdict": "warning", "found": "full", "advice": "Make room."}]
    told = orjson.loads(CliRunner().invoke(app, ["doctor", "--json"]).stdout)
    assert told == {"ok": True, "findings": running_app.findings}


@pytest.mark.timeout(120)
def test_a_real_node_is_seen_paused_resumed_and_ended(data: Path, smollm2: Path) -> None:
    with started(["tracker", "--allow-loopback", "--json"], data) as tracker:
        url = tracker.fields()["url"]
        node_line = ["node", "--layers", "0-1", "--tracker", url, "--json", "--threads", "1"]
        with started(node_line, data) as node:
            ready = orjson.loads(node.line_with('"ready"'))
            node.line_with('"TrackerRegistered"')
            status = orjson.loads(meshdesk("status", "--json"))
            assert (status["role"], status["node_id"]) == ("node", ready["node_id"])
            assert (status["phase"], status["tracker"]["state"]) == ("serving", "connected")
            meshdesk("pause", "1s")
            assert orjson.loads(meshdesk("status", "--json"))["phase"] == "paused"
            node.line_with('"TrackerRegistered"')
            assert orjson.loads(meshdesk("status", "--json"))["phase"] == "serving", "the pause is over"
            meshdesk("leave")
            assert "still loaded" in meshdesk("status")
            meshdesk("join")
            node.line_with('"TrackerRegistered"')
            assert "registered with the tracker" in meshdesk("logs")
            asked = time.monotonic()
            meshdesk("quit")
            assert node.end() == 0 and time.monotonic() - asked < 15
            assert not any("Traceback" in line for line in node.errors)
        assert not list(data.glob("*.sock"))
