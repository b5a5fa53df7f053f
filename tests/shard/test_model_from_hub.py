"""Models from a Hub: the real Hub library against a Hub on loopback."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from meshdesk.shard.model_job import ModelProgress, ModelStopped, ModelUnavailable
from meshdesk.shard.model_source import find_model
from tests.shard.loopback_hub import COMMIT, LoopbackHub, loopback_hub

WEIGHTS = os.urandom(3_000_000)
FILES = {
    "config.json": b'{"model_type": "llama"}',
    "model.safetensors": WEIGHTS,
    "tokenizer.json": b"{}",
    "pytorch_model.bin": b"a pickle that nobody shall fetch",
    "README.md": b"not needed",
}


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackHub]:
    with loopback_hub(FILES) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
        monkeypatch.setenv("HF_HUB_DISABLE_XET", "1")
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        yield hub


def test_a_repo_is_fetched_once_without_what_is_not_needed(hub: LoopbackHub) -> None:
    progress: list[ModelProgress] = []
    path = find_model("org/tiny", progress.append)
    assert {each.name for each in path.iterdir()} == {"config.json", "model.safetensors", "tokenizer.json"}
    assert (path / "model.safetensors").read_bytes() == WEIGHTS
    assert path.name == COMMIT
    assert progress[0].step.startswith("asking the Hub")
    assert any(each.step == "downloading" for each in progress)
    sent = hub.octets_sent
    assert find_model(f"org/tiny@{COMMIT}") == path
    assert hub.octets_sent - sent < 10_000


@pytest.mark.parametrize(
    ("repo", "said"),
    [
        ("org/missing", "no public repo org/missing"),
        ("org/gated", "gated"),
        ("org/tiny@nowhere", "no revision nowhere"),
    ],
)
def test_what_the_hub_does_not_give_is_a_sentence(hub: LoopbackHub, repo: str, said: str) -> None:
    with pytest.raises(ModelUnavailable) as caught:
        find_model(repo)
    assert said in caught.value.message
    assert "Traceback" not in caught.value.message


def test_a_fetch_nobody_wants_any_more_ends(hub: LoopbackHub) -> None:
    stopped = threading.Event()
    with pytest.raises(ModelStopped):
        find_model("org/tiny", lambda progress: stopped.set(), stopped)


def test_a_kept_token_reaches_the_hub_and_no_command_line(hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_TOKEN", raising=False)
    find_model("org/tiny", token=lambda: "hf_kept_by_the_person")
    assert "Bearer hf_kept_by_the_person" in hub.authorizations
