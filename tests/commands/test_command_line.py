"""What a person meets before any mesh: help, versions, mistakes, ports that are taken."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from meshdesk import __version__
from meshdesk.commands.options import reached_at
from tests.commands.program import run


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as holder:
        yield holder.getsockname()[1]


def test_the_version_and_the_commands_are_told(tmp_path: Path) -> None:
    assert run(["--version"], tmp_path).stdout == f"meshdesk {__version__}\n"
    shown = run(["--help"], tmp_path)
    assert shown.returncode == 0
    for command in ("demo", "chat", "node", "relay", "tracker", "doctor"):
        assert command in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["node", "--layers", "14-0"], 2, "ends before it begins. Did you mean 0-14?"),
        (["node", "--layers", "some"], 2, "is not a range of layers"),
        (["node", "--model", "/no/such/model"], 2, "There is no directory /no/such/model"),
        (["node", "--layers", "0-99"], 2, "it has layers 0–29"),
        (["node", "--tracker", "ftp://somewhere"], 2, "--tracker 'ftp://somewhere' is not an address"),
        (["node", "--tracker", "http://203.0.113.5:7000"], 2, "Nobody else could reach this node"),
        (["tracker", "--heartbeat", "10", "--expire-after", "5"], 2, "before their next sign of life"),
        (["relay", "--host", "203.0.113.77"], 4, "This computer has no address 203.0.113.77"),
        (["demo", "--nodes", "31"], 2, "A model of 30 layers cannot be split over 31 nodes"),
        (["chat", "hello"], 2, "Give --tracker"),
        (["chat", "--tracker", "127.0.0.1:1", "hello"], 3, "Nothing answers at http://127.0.0.1:1"),
    ],
)
def test_a_mistake_is_one_sentence(arguments: list[str], code: int, said: str, tmp_path: Path, smollm2: Path) -> None:
    ended = run(arguments, tmp_path)
    assert ended.returncode == code, ended.stderr
    last = ended.stderr.splitlines()[-1]
    assert last.startswith("meshdesk: ") and said in last
    assert "Traceback" not in ended.stderr + ended.stdout


@pytest.mark.parametrize("role", ["relay", "tracker", "node"])
def test_a_taken_port_is_a_sentence(role: str, taken_port: int, tmp_path: Path) -> None:
    ended = run([role, "--port", str(taken_port)], tmp_path)
    assert ended.returncode == 4
    assert ended.stderr == (
        f"meshdesk: Port {taken_port} on 127.0.0.1 is already in use by another program. Choose another with --port.\n"
    )


def test_the_demo_passes_on_what_its_program_says(taken_port: int, tmp_path: Path, smollm2: Path) -> None:
    ended = run(["demo", "--serve", "--port", str(taken_port)], tmp_path)
    assert ended.returncode == 1
    said = ended.stderr.splitlines()[-1]
    assert said.startswith("meshdesk: The tracker ended: Port ") and "already in use" in said
    assert "Traceback" not in ended.stderr


def test_debug_shows_where_an_error_came_from(tmp_path: Path) -> None:
    ended = run(["--debug", "node", "--layers", "some"], tmp_path)
    assert ended.returncode == 2
    assert "Traceback" in ended.stderr


@pytest.mark.parametrize("role", ["relay", "tracker", "node"])
def test_an_empty_host_is_not_taken_for_all_of_them(role: str, tmp_path: Path) -> None:
    ended = run([role, "--host", ""], tmp_path)
    assert ended.returncode == 2
    assert "0.0.0.0 would be all" in ended.stderr


def test_addresses_are_told_as_others_know_them() -> None:
    assert reached_at("ws://127.0.0.1:7100", "0.0.0.0") == "ws://THIS-COMPUTERS-ADDRESS:7100"
    assert reached_at("http://[::1]:7200", "::") == "http://THIS-COMPUTERS-ADDRESS:7200"
    assert reached_at("ws://192.0.2.1:7100", "192.0.2.1") == "ws://192.0.2.1:7100"
