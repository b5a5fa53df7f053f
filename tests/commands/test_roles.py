"""Relay, tracker and node as programs: ready lines, events, how they stop and with whom they end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import aiohttp
import psutil
import pytest

from tests.commands.program import environment, none_left, started


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(("role", "scheme"), [("relay", "ws"), ("tracker", "http")])
async def test_a_hub_is_ready_and_stops(role: str, scheme: str, number: signal.Signals, tmp_path: Path) -> None:
    with started([role, "--json", "--port", "0"], tmp_path) as program:
        ready = program.fields()
        assert ready["event"] == "ready" and ready["role"] == role and ready["pid"] == program.process.pid
        assert ready["url"].startswith(f"{scheme}://127.0.0.1:")
        path = {"relay": "/health", "tracker": "/v1/models"}[role]
        async with aiohttp.ClientSession() as client, client.get("http" + ready["url"][len(scheme) :] + path) as answer:
            assert answer.status == 200
        program.send(number)
        assert program.end() == 0
        assert not [line for line in program.errors if "Traceback" in line or "Warning" in line]


def test_a_person_reads_sentences(tmp_path: Path) -> None:
    with started(["tracker"], tmp_path) as program:
        assert program.line().startswith("The tracker listens at http://127.0.0.1:")
        assert "meshdesk chat --tracker http://127.0.0.1:" in program.line()


def test_a_node_is_ready_tells_its_events_and_leaves_nothing(tmp_path: Path, smollm2: Path) -> None:
    arguments = ["node", "--json", "--layers", "28-29", "--threads", "1", "--model", str(smollm2)]
    with started(arguments, tmp_path) as program:
        ready = program.fields()
        assert (ready["event"], ready["role"]) == ("ready", "node")
        assert (ready["start_layer"], ready["end_layer"], ready["num_layers"]) == (28, 30, 30)
        program.line_with('"state":"serving"')
        shard = program.descendants()
        assert len(shard) == 1
        program.send(signal.SIGTERM)
        program.line_with('"state":"off"')
        assert program.end() == 0
        assert not none_left(shard)
        assert not [line for line in program.errors if "Traceback" in line or "ResourceWarning" in line]


def test_a_node_keeps_who_it_is_and_shows_no_secret(tmp_path: Path, smollm2: Path) -> None:
    arguments = ["node", "--json", "--layers", "29", "--threads", "1", "--model", str(smollm2)]
    with started(arguments, tmp_path) as first, started(arguments, tmp_path) as second:
        ids = [first.fields()["node_id"], second.fields()["node_id"]]
        assert ids[0] != ids[1], "two nodes of one user must not share an identity"
        kept = sorted((tmp_path / "nodes").glob("*.json"))
        assert len(kept) == 2
        texts = [path.read_text() for path in kept]
        if os.name == "posix":
            assert {path.stat().st_mode & 0o777 for path in kept} == {0o600}
        for program in (first, second):
            line = " ".join(psutil.Process(program.process.pid).cmdline())
            assert not any(text.split('"secret":"')[1][:20] in line for text in texts)
    with started(arguments, tmp_path) as again:
        assert again.fields()["node_id"] in ids


def test_a_child_role_ends_with_its_parent(tmp_path: Path) -> None:
    """The parent is killed, so nothing of it can end the child but the kernel or the end of the pipe."""
    parent = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-m', 'meshdesk', 'relay', '--json', '--exit-with-parent'],"
        " stdin=subprocess.PIPE)\n"
        "child.wait()\n"
    )
    with subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE, env=environment(tmp_path)) as process:
        assert process.stdout is not None
        assert b'"ready"' in process.stdout.readline()
        children = psutil.Process(process.pid).children(recursive=True)
        assert len(children) == 1
        process.kill()
        process.wait()
        assert not none_left(children)


def test_the_end_of_its_input_does_not_end_a_role_that_stands_alone(tmp_path: Path) -> None:
    with started(["relay", "--json"], tmp_path) as program:
        ready = program.fields()
        assert program.process.stdin is not None
        program.process.stdin.close()
        with urllib.request.urlopen(ready["http_url"] + "/health", timeout=10) as answer:
            assert answer.status == 200
        program.send(signal.SIGTERM)
        assert program.end() == 0
