"""The child dies, hangs or runs out of memory, or its parent dies: each ends in a clear error and no orphan."""

from __future__ import annotations

import asyncio
import json
import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from meshdesk.shard import child_link, process
from meshdesk.shard.errors import SessionBehind, ShardOutOfMemory, ShardUnavailable
from meshdesk.shard.process import ShardProcess
from meshdesk.shard.shard_events import ShardEvent, ShardLoading, ShardStateChanged
from meshdesk.shard.spec import ForwardWork
from tests.shard.shards import Events, generate, hidden, running, spec, step

Tiny = Callable[..., Path]
PROMPT = list(range(3, 16))
WAIT_S = 40.0

linux = pytest.mark.skipif(sys.platform != "linux", reason="signals and limits of Linux")
pytestmark = linux


@pytest.fixture(autouse=True)
def nobody_else_waits(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """However a child ends, its exit code reaches the loop."""
    yield
    assert "Unknown child process" not in caplog.text


async def test_killed_it_comes_back_and_the_session_is_replayed(tiny: Tiny) -> None:
    events = Events()
    async with running(spec(tiny("llama"), 0, 6), events) as shard:
        expected = await generate([shard], "s", PROMPT, 4)
        info, pid = shard.info, shard.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        waiting = asyncio.create_task(step([shard], "s", 0, PROMPT))
        await asyncio.sleep(0)
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(ShardUnavailable, match="SIGKILL") as gone:
            await waiting
        assert (gone.value.status, gone.value.code, gone.value.retry_after) == (503, "shard_unavailable", 1.0)
        assert gone.value.to_body()["error"]["message"].endswith(".")
        with pytest.raises(ShardUnavailable) as meanwhile:
            await step([shard], "s", 0, PROMPT)
        assert meanwhile.value.retry_after is not None
        again = await events.wait_for("restarting")
        assert "SIGKILL" in again.reason
        assert again.retry_in_s is not None
        assert 0 <= again.retry_in_s <= process.FIRST_RETRY_S
        await events.wait_for("ready", 2)
        assert (shard.info, shard.state) == (info, "ready")
        assert shard.pid not in (pid, None)
        with pytest.raises(SessionBehind) as behind:
            await step([shard], "s", len(PROMPT), expected[:1])
        assert behind.value.have == 0
        assert await generate([shard], "s", PROMPT, 4) == expected
        assert (await shard.stats()).restarts == 1


async def test_memory_that_ends_while_computing_is_an_error_and_not_a_crash(tiny: Tiny) -> None:
    path = tiny("llama", max_position_embeddings=2_000_000)
    async with running(spec(path, 0, 3)) as shard:
        expected = await hidden(shard, ForwardWork("s", 0, token_ids=tuple(PROMPT)))
        assert shard.pid is not None
        child = psutil.Process(shard.pid)
        child.rlimit(psutil.RLIMIT_AS, (child.memory_info().vms + (64 << 20), psutil.RLIM_INFINITY))
        with pytest.raises(ShardOutOfMemory) as out:
            await shard.forward(ForwardWork("s", len(PROMPT), token_ids=(5,) * 500_000))
        assert (out.value.status, out.value.code) == (503, "out_of_memory")
        assert out.value.hint is not None
        with pytest.raises(SessionBehind):
            await shard.forward(ForwardWork("s", len(PROMPT), token_ids=(5,)))
        again = await hidden(shard, ForwardWork("s", 0, token_ids=tuple(PROMPT)))
        assert again.data == expected.data
        assert (await shard.stats()).restarts == 0


async def test_memory_that_ends_while_loading_is_an_error(smollm2: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_link, "WORKER_MODULE", "tests.shard.poor_worker")
    shard = ShardProcess(spec(smollm2, 0, 15))
    with pytest.raises(ShardOutOfMemory, match="layers 0–14"):
        await shard.start()
    assert (shard.state, shard.pid) == ("failed", None)


async def test_a_child_that_hangs_is_killed_and_started_again(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "FORWARD_HANG_S", 0.2)
    monkeypatch.setattr(process, "FORWARD_HANG_PER_TOKEN_S", 0.0)
    events = Events()
    async with running(spec(tiny("llama"), 0, 6), events) as shard:
        assert shard.pid is not None
        os.kill(shard.pid, signal.SIGSTOP)
        with pytest.raises(ShardUnavailable, match="without an answer"):
            await step([shard], "s", 0, PROMPT)
        assert "without an answer" in (await events.wait_for("restarting")).reason


async def test_a_child_that_is_stopped_while_it_does_not_answer_is_killed(
    tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "STOP_S", 0.2)
    shard = ShardProcess(spec(tiny("llama"), 0, 6))
    await shard.start()
    assert shard.pid is not None
    child = psutil.Process(shard.pid)
    child.suspend()
    await shard.stop()
    assert not child.is_running()


async def test_a_start_without_progress_is_given_up(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "START_SILENCE_S", 0.3)

    def freeze(event: ShardEvent) -> None:
        if isinstance(event, ShardLoading) and shard.pid is not None:
            os.kill(shard.pid, signal.SIGSTOP)

    shard = ShardProcess(spec(tiny("llama"), 0, 6), freeze)
    with pytest.raises(ShardUnavailable, match="no progress"):
        await shard.start()
    assert shard.pid is None


async def test_restarts_wait_longer_each_time_with_jitter_and_end(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "FIRST_RETRY_S", 0.001)
    monkeypatch.setattr(process, "LONGEST_RETRY_S", 0.05)
    events = Events()
    async with running(spec(tiny("llama"), 0, 6), events) as shard:
        assert shard.pid is not None
        monkeypatch.setattr(sys, "executable", "/nonexistent/python")
        os.kill(shard.pid, signal.SIGKILL)
        failed = await events.wait_for("failed")
        assert "in vain" in failed.reason
        assert "cannot be started" in failed.reason
        changes = [event for event in events.seen if isinstance(event, ShardStateChanged)]
        waits = [event.retry_in_s for event in changes if event.state == "restarting"]
        assert len(waits) == process.MAX_RESTARTS
        for number, wait in enumerate(waits):
            assert wait is not None
            assert 0 <= wait <= min(0.05, 0.001 * 2**number)
        assert len(set(waits)) == len(waits), "no jitter"
        with pytest.raises(ShardUnavailable) as unavailable:
            await step([shard], "s", 0, PROMPT)
        assert unavailable.value.retry_after is None, "nobody should wait for what stays down"


async def test_another_model_on_disk_is_not_served_under_the_old_name(
    tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "FIRST_RETRY_S", 0.001)
    path = Path(shutil.copytree(tiny("llama"), tmp_path / "model"))
    events = Events()
    async with running(spec(path, 0, 6), events) as shard:
        config = json.loads((path / "config.json").read_text())
        (path / "config.json").write_text(json.dumps({**config, "rms_norm_eps": 0.5}))
        assert shard.pid is not None
        os.kill(shard.pid, signal.SIGKILL)
        assert "no longer the one" in (await events.wait_for("failed")).reason
        assert shard.pid is None


@pytest.mark.parametrize("when", ["starting", "computing"])
def test_it_dies_with_its_parent(tiny: Tiny, when: str) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-m", "tests.shard.orphan", str(tiny("llama")), when], stdout=subprocess.PIPE, text=True
    )
    with parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        descriptor = os.pidfd_open(child)
        try:
            assert psutil.Process(child).ppid() == parent.pid
            parent.kill()
            parent.wait(WAIT_S)
            ended, _, _ = select.select([descriptor], [], [], WAIT_S)
            assert ended, "the child outlived its parent"
        finally:
            os.close(descriptor)
