"""The child driven by hand over its pipes: orders that end, make no sense, or are meant to harm."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from meshdesk.shard.child_environment import compute_environment
from meshdesk.shard.ipc import Frame, FrameReader, encode_frame
from meshdesk.shard.worker import EXIT_BAD_ORDERS, EXIT_NOT_LOADED, EXIT_ORDERS_ENDED
from tests.shard.test_ipc import bomb_frame

WAIT_S = 50.0
Worker = subprocess.Popen[bytes]


def start() -> Worker:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "meshdesk.shard.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=compute_environment({}),
    )


@pytest.fixture
def worker() -> Iterator[Worker]:
    with start() as process:
        yield process
        process.kill()


def give(worker: Worker, data: bytes) -> tuple[int, list[Frame]]:
    """The exit code after these octets and the end of the orders, and what was answered."""
    out, _ = worker.communicate(data, timeout=WAIT_S)
    return worker.returncode, list(FrameReader().feed(out))


def load_order(path: Path, **fields: object) -> bytes:
    spec = {"model_path": str(path), "start_layer": 0, "end_layer": 1, **fields}
    return encode_frame({"op": "load", "spec": spec})


def test_the_end_of_the_orders_is_the_end_of_the_child(worker: Worker) -> None:
    assert give(worker, b"") == (EXIT_ORDERS_ENDED, [])


def test_so_is_one_that_breaks_off(worker: Worker) -> None:
    assert give(worker, encode_frame({"op": "stats", "number": 1})[:-1]) == (EXIT_ORDERS_ENDED, [])


def test_statistics_are_answered_before_anything_is_loaded(worker: Worker) -> None:
    code, (answer,) = give(worker, encode_frame({"op": "stats", "number": 7}))
    assert (code, answer.op, answer.header["number"], answer.header["sessions"]) == (0, "answer", 7, 0)
    assert answer.header["rss_bytes"] > 0


def test_a_malformed_forward_is_refused_and_the_next_order_is_heard(worker: Worker) -> None:
    bad = encode_frame({"op": "forward", "number": 1, "session": "s", "position": "x", "token_ids": [1]})
    code, (refusal, answer) = give(worker, bad + encode_frame({"op": "stats", "number": 2}))
    assert (code, refusal.op, refusal.header["number"]) == (0, "refusal", 1)
    assert refusal.header["error"]["code"] == "bad_frame"
    assert answer.header["number"] == 2


def test_a_pickle_ends_the_child_and_is_not_run(worker: Worker, tmp_path: Path) -> None:
    path = tmp_path / "made"
    assert give(worker, bomb_frame(path)) == (EXIT_BAD_ORDERS, [])
    assert not path.exists()


# Each example is a process, so they are few.
@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(min_size=8, max_size=40))
@example(struct.pack("<II", 2**32 - 1, 0))
@example(struct.pack("<II", 0, 2**32 - 1))
@example(encode_frame({"op": "no such thing", "number": 1}))
@example(encode_frame({"op": "stats"}))
@example(encode_frame({"op": "load"}))
@example(encode_frame({"op": "load", "spec": {"model_path": 5}}))
@example(encode_frame({"op": "load", "spec": {"model_path": "x", "start_layer": 0, "end_layer": 1}, "dtypes": 5}))
def test_garbage_ends_the_child_quickly(data: bytes) -> None:
    with start() as process:
        code, frames = give(process, data)
    assert code in (EXIT_BAD_ORDERS, EXIT_ORDERS_ENDED)
    assert frames == []


def test_a_model_that_is_not_there_is_a_sentence_and_a_code(worker: Worker, tmp_path: Path) -> None:
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(load_order(tmp_path))
    worker.stdin.flush()
    frames = list(FrameReader().feed(worker.stdout.read()))
    assert worker.wait(WAIT_S) == EXIT_NOT_LOADED
    assert [frame.op for frame in frames] == ["phase", "failed"]
    assert frames[-1].header["error"]["code"] == "model_damaged"
    assert "config.json" in frames[-1].header["error"]["message"]
