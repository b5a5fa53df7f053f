"""The demo as a person runs it: a real mesh of real processes, and nothing of it is left behind."""

from __future__ import annotations

import signal
from pathlib import Path

import orjson
import pytest
from tokenizers import Tokenizer

from tests.commands.program import none_left, run, started

pytestmark = pytest.mark.timeout(180)
QUESTION = "What is the capital of France?"


@pytest.mark.parametrize(
    ("way", "nodes", "layers"), [("relay", 2, ["0-14", "15-29"]), ("direct", 3, ["0-9", "10-19", "20-29"])]
)
def test_the_json_object_tells_all(way: str, nodes: int, layers: list[str], tmp_path: Path, smollm2: Path) -> None:
    arguments = ["--way", way, "--nodes", str(nodes), "--dtype", "float32", "--max-tokens", "12", "--prompt", QUESTION]
    ended = run(["demo", "--json", *arguments], tmp_path)
    assert ended.returncode == 0, ended.stderr
    told = orjson.loads(ended.stdout)  # one object and nothing else
    assert told["model_path"] == str(smollm2)
    assert told["text"] == "The capital of France is Paris."
    assert told["finish_reason"] == "stop" and told["warnings"] == []
    tokenizer = Tokenizer.from_file(str(smollm2 / "tokenizer.json"))
    assert tokenizer.decode(told["token_ids"]) == told["text"]
    count = len(told["token_ids"])
    assert told["tokens_per_s"] > 0
    assert [(hop["token"], hop["hop"]) for hop in told["hops"]] == [(t, h) for t in range(count) for h in range(nodes)]
    for hop in told["hops"]:
        assert hop["layers"] == layers[hop["hop"]]
        assert hop["way"] == ("local" if hop["hop"] == 0 else way)
        assert hop["total_ms"] >= hop["compute_ms"] > 0


def test_without_a_terminal_answer_and_table_are_plain_text(tmp_path: Path, smollm2: Path) -> None:
    ended = run(["demo", "--nodes", "1", "--max-tokens", "4", "--prompt", QUESTION, "--dtype", "float32"], tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "\nThe capital of France\n" in ended.stdout
    assert "p95" in ended.stdout and "0–29" in ended.stdout
    assert "4 tokens, " in ended.stdout.splitlines()[-1] and "tokens/s" in ended.stdout.splitlines()[-1]
    assert "\x1b" not in ended.stdout


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_ended_in_the_middle_of_an_answer_it_leaves_no_process(
    number: signal.Signals, code: int, tmp_path: Path, smollm2: Path
) -> None:
    with started(["demo", "--max-tokens", "4000", "--prompt", "Count from one to one thousand."], tmp_path) as program:
        program.line_with("> Count")
        program.wait_for_more()
        processes = program.descendants()
        assert len(processes) == 6, "relay, tracker, two nodes and their two shards"
        program.send(number)
        assert program.end() == code
        assert not none_left(processes)
        assert not any("Traceback" in line for line in program.errors)


def test_ended_while_its_nodes_load_it_leaves_no_process(tmp_path: Path, smollm2: Path) -> None:
    with started(["demo", "--way", "direct"], tmp_path) as program:
        program.wait_for_error("loading their layers")
        processes = program.descendants()
        assert processes
        program.send(signal.SIGINT)
        assert program.end() == 130
        assert not none_left(processes)


def test_a_served_mesh_says_which_of_its_programs_died(tmp_path: Path, smollm2: Path) -> None:
    with started(["demo", "--serve", "--json", "--way", "direct"], tmp_path) as program:
        ready = program.fields()
        processes = program.descendants()
        next(process for process in processes if process.pid == ready["nodes"][1]["pid"]).kill()
        assert program.end() == 1
        assert "The node for layers 15–29 ended" in program.errors[-1]
        assert not none_left(processes)
