"""The control socket with real sockets: who may ask, many at once, the slow, the rude and the dead."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
import tempfile
from pathlib import Path

import orjson
import pytest

from meshdesk.volunteer import control_server
from meshdesk.volunteer.control_client import ControlClient, NoAnswer, NotRunning, running
from meshdesk.volunteer.control_places import (
    MAX_PATH_BYTES,
    NoPlace,
    Place,
    app_place,
    free_node_place,
    node_place,
    own_directory,
)
from meshdesk.volunteer.control_protocol import BadControl, Command, ControlError, NotPossible
from meshdesk.volunteer.control_server import ControlServer
from tests.volunteer.stand_in_controlled import StandInControlled, served

pytestmark = pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="no Unix sockets here")


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MESHDESK_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture(params=["unix", "tcp"])
def place(request: pytest.FixtureRequest, data: Path) -> Place:
    """The app's place of this system, and the one of Windows."""
    return app_place() if request.param == "unix" else Place("control", data / "control.json", unix=False)


def test_each_command_reaches_the_other_side_and_answers_with_the_status(place: Place) -> None:
    controlled = StandInControlled()
    with served(place, controlled):
        client = ControlClient(place)
        assert client.ask(Command.STATUS)["phase"] == "off"
        assert client.ask(Command.JOIN)["phase"] == "starting"
        assert client.ask(Command.PAUSE, seconds=900)["phase"] == "paused"
        for command in (Command.RESUME, Command.LEAVE, Command.QUIT):
            client.ask(command)
        client.ask(Command.SHOW, window="logs")
        controlled.findings = [{"check": "disk"}]
        assert client.ask(Command.DOCTOR) == [{"check": "disk"}]
    assert controlled.told == ["join", ("pause", 900.0), "resume", "leave", "quit", ("show", "logs")]


def test_what_is_not_possible_is_answered_as_that(place: Place) -> None:
    controlled = StandInControlled()
    controlled.refuses = "There is no mesh to leave."
    with served(place, controlled), pytest.raises(NotPossible, match="no mesh to leave"):
        ControlClient(place).ask(Command.LEAVE)


def test_a_fault_of_ours_is_a_sentence_and_the_server_lives_on(caplog: pytest.LogCaptureFixture) -> None:
    controlled = StandInControlled()
    controlled.show = lambda window: 1 / 0  # type: ignore[method-assign, assignment, return-value]
    with served(app_place(), controlled):
        client = ControlClient(app_place())
        with pytest.raises(ControlError, match="fault of meshdesk"):
            client.ask(Command.SHOW, window="")
        assert client.ask(Command.STATUS)["phase"] == "off"
    assert any(record.exc_info for record in caplog.records)


def test_the_place_is_this_users_alone(place: Place) -> None:
    with served(place, StandInControlled()):
        assert stat.S_IMODE(place.path.stat().st_mode) == 0o600
    assert not place.path.exists()


def test_without_the_token_a_loopback_port_takes_no_command(data: Path) -> None:
    place = Place("control", data / "control.json", unix=False)
    controlled = StandInControlled()
    with served(place, controlled):
        fields = orjson.loads(place.path.read_bytes())
        place.path.write_bytes(orjson.dumps({**fields, "token": "guessed"}))
        with pytest.raises(BadControl, match="token"):
            ControlClient(place).ask(Command.QUIT)
    assert controlled.told == []


def test_a_socket_left_by_a_crash_is_replaced(data: Path) -> None:
    data.mkdir()
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(app_place().path))
    with pytest.raises(NotRunning):
        ControlClient(app_place()).ask(Command.STATUS)
    with served(app_place(), StandInControlled()):
        assert ControlClient(app_place()).ask(Command.STATUS)


def test_a_path_too_long_for_a_socket_goes_to_a_directory_of_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESHDESK_DATA", str(tmp_path / ("d" * 120)))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    place = app_place()
    assert len(os.fsencode(place.path)) <= MAX_PATH_BYTES
    with served(place, StandInControlled()):
        assert stat.S_IMODE(place.path.parent.stat().st_mode) == 0o700
        assert ControlClient(place).ask(Command.STATUS)
    place.path.parent.chmod(0o777)
    with pytest.raises(NoPlace, match="not this user's alone"):
        own_directory(place)


def test_many_ask_at_once_while_others_are_silent() -> None:
    with served(app_place(), StandInControlled()):
        silent = [socket.socket(socket.AF_UNIX) for _ in range(20)]
        for each in silent:
            each.connect(str(app_place().path))
        try:
            assert all(ControlClient(app_place()).ask(Command.STATUS) for _ in range(50))
        finally:
            for each in silent:
                each.close()


def test_one_too_many_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_server, "MAX_CLIENTS", 1)
    with served(app_place(), StandInControlled()):
        first = ControlClient(app_place()).follow(Command.WATCH)
        next(first)
        with pytest.raises(ControlError, match="Too many"):
            ControlClient(app_place()).ask(Command.STATUS)
        first.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("sent", "says"), [(b"x" * 100_000 + b"\n", "too long"), (b"hello\n", "no JSON"), (b'{"version"', "cut short")]
)
def test_rude_clients_get_a_sentence(sent: bytes, says: str) -> None:
    with served(app_place(), StandInControlled()), socket.socket(socket.AF_UNIX) as rude:
        rude.settimeout(5)
        rude.connect(str(app_place().path))
        rude.sendall(sent)
        rude.shutdown(socket.SHUT_WR)
        assert says in orjson.loads(rude.recv(65536))["error"]["message"]


def test_who_says_nothing_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_server, "READ_S", 0.05)
    with served(app_place(), StandInControlled()), socket.socket(socket.AF_UNIX) as silent:
        silent.settimeout(5)
        silent.connect(str(app_place().path))
        assert "No command came" in orjson.loads(silent.recv(65536))["error"]["message"]
        assert silent.recv(1) == b""


async def test_a_watcher_sees_changes_and_its_going_ends_the_stream() -> None:
    controlled = StandInControlled()
    server = ControlServer(controlled, app_place())
    await server.start()
    try:
        reader, writer = await asyncio.open_unix_connection(str(app_place().path))
        writer.write(b'{"version":1,"command":"watch"}\n')
        assert orjson.loads(await reader.readline())["item"]["phase"] == "off"
        await controlled.join()
        assert orjson.loads(await reader.readline())["item"]["phase"] == "starting"
        writer.close()
        await writer.wait_closed()
        await asyncio.wait_for(controlled.watch_ended.wait(), 5)
    finally:
        await server.close()


async def test_closing_cuts_off_whoever_follows() -> None:
    controlled = StandInControlled()
    server = ControlServer(controlled, app_place())
    await server.start()
    reader, writer = await asyncio.open_unix_connection(str(app_place().path))
    writer.write(b'{"version":1,"command":"logs","args":{"follow":true}}\n')
    watcher_reader, watcher = await asyncio.open_unix_connection(str(app_place().path))
    watcher.write(b'{"version":1,"command":"watch"}\n')
    await watcher_reader.readline()
    async with asyncio.timeout(5):
        await server.close()
        assert await reader.read() == b"" and await watcher_reader.read() == b""
    assert controlled.watch_ended.is_set()
    for each in (writer, watcher):
        each.close()
        await each.wait_closed()


def test_the_app_is_found_before_the_nodes_and_a_node_by_its_number() -> None:
    assert running() == []
    with free_node_place() as one, free_node_place() as two:
        assert one == node_place(1) and two == node_place(2)
        with served(two, StandInControlled()):
            assert running() == [two]
            assert running(only_node=1) == []
            with served(app_place(), StandInControlled()):
                assert running() == [app_place(), two]
                assert running(only_node=2) == [two]
    with free_node_place() as again:
        assert again == node_place(1)


def test_somebody_who_hangs_is_no_reason_to_wait_for_ever(data: Path) -> None:
    data.mkdir()
    with socket.socket(socket.AF_UNIX) as hung:
        hung.bind(str(app_place().path))
        hung.listen(1)
        with pytest.raises(NoAnswer):
            ControlClient(app_place(), 0.1).ask(Command.STATUS, within_s=0.1)
