"""The doctor looks at the real computer; where something is missing it says so and ends with 1."""

from __future__ import annotations

import re
from pathlib import Path

import orjson
import pytest

from tests.commands.program import run, started

pytestmark = pytest.mark.timeout(120)


def test_this_computer_can_run_a_node_and_reach_a_tracker_and_a_relay(tmp_path: Path, smollm2: Path) -> None:
    with started(["tracker", "--json"], tmp_path) as tracker, started(["relay", "--json"], tmp_path) as relay:
        urls = ["--tracker", tracker.fields()["url"], "--relay", relay.fields()["url"]]
        ended = run(["doctor", "--json", *urls], tmp_path)
    assert ended.returncode == 0, ended.stdout
    told = orjson.loads(ended.stdout)
    found = {each["check"]: each for each in told["findings"]}
    assert told["ok"]
    computer = {"Python", "packages", "engine", "Qt", "torch", "model", "memory", "disk", "graphics"}
    connection = {"tracker", "relay", "clock", "port", "network", "proxy", "direct hops"}
    assert set(found) - {"WSL"} == computer | connection
    assert re.search(r"answers in [\d.]+ ms$", found["tracker"]["found"])
    assert re.search(r"answers in [\d.]+ ms$", found["relay"]["found"])
    assert found["clock"]["found"] == "agrees with the tracker's"
    assert found["model"]["found"] == str(smollm2)
    assert "torch" in found["engine"]["found"] and "threads" in found["torch"]["found"]


def test_what_is_missing_is_told_with_advice(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('libgomp.so.1 is missing')")
    extra = {"PYTHONPATH": f"{tmp_path}:{Path(__file__).resolve().parents[2]}", "MESHDESK_CACHE": str(tmp_path / "c")}
    ended = run(["doctor", "--tracker", "127.0.0.1:1"], tmp_path, extra=extra)
    assert ended.returncode == 1
    assert "libgomp.so.1 is missing" in ended.stdout
    assert "http://127.0.0.1:1/v1/models does not answer" in ended.stdout
    assert "at its first use" in ended.stdout, "the model is not made yet, which is no fault"
    assert ended.stdout.splitlines()[-1] == "Something is missing; see above."
    assert "Traceback" not in ended.stdout + ended.stderr
