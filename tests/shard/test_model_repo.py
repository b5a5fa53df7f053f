"""Reading a model repo's headers: what is there is found, what is damaged is named."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from meshdesk.shard.errors import ModelDamaged, ModelUnsupported
from meshdesk.shard.families import SUPPORTED, check_family
from meshdesk.shard.model_repo import INDEX_NAME, read_model_repo, read_tensor_headers
from meshdesk.shard.tensor_headers import shifted

LAYERS = 2
NAMES = ["model.embed_tokens.weight", "model.layers.0.w.weight", "model.layers.1.w.weight", "model.norm.weight"]


def octets(tensors: dict[str, tuple[int, ...]], header: dict[str, Any] | None = None) -> bytes:
    """A safetensors file of BF16 zeros."""
    entries: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    at = 0
    for name, shape in tensors.items():
        size = 2
        for count in shape:
            size *= count
        entries[name] = {"dtype": "BF16", "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    head = json.dumps(entries if header is None else header).encode()
    return struct.pack("<Q", len(head)) + head + bytes(at)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "llama", "num_hidden_layers": LAYERS}))
    return tmp_path


def put(repo: Path, file: str, *names: str) -> None:
    (repo / file).write_bytes(octets(dict.fromkeys(names, (2, 3))))


def index(repo: Path, files: dict[str, str]) -> None:
    (repo / INDEX_NAME).write_text(json.dumps({"weight_map": files}))


def test_a_single_file(repo: Path) -> None:
    put(repo, "model.safetensors", *NAMES)
    found = read_model_repo(repo)
    assert sorted(found.tensors) == sorted(NAMES)
    assert (found.num_layers, found.layer_bytes) == (2, (12, 12))
    assert [tensor.name for tensor in found.of_layers(1, 2)] == ["model.layers.1.w.weight"]
    assert {tensor.name for tensor in found.outside_layers()} == {NAMES[0], NAMES[3]}
    assert [shifted(name, 7) for name in NAMES[:2]] == [NAMES[0], "model.layers.7.w.weight"]
    raw = (repo / "model.safetensors").read_bytes()
    assert all(len(raw[tensor.begin : tensor.end]) == 12 for tensor in found.tensors.values())


def test_sharded_with_and_without_an_index(repo: Path) -> None:
    put(repo, "model-00001-of-00002.safetensors", *NAMES[:2])
    put(repo, "model-00002-of-00002.safetensors", *NAMES[2:])
    bare = read_model_repo(repo)
    index(repo, dict.fromkeys(NAMES[:2], "model-00001-of-00002.safetensors"))
    named = read_model_repo(repo)
    assert sorted(bare.tensors) == sorted(named.tensors) == sorted(NAMES)
    assert bare.revision == named.revision


def test_layers_in_files_that_were_not_downloaded_are_missing(repo: Path) -> None:
    put(repo, "model-00001-of-00002.safetensors", *NAMES[:2])
    index(repo, {name: f"model-0000{1 + (n > 1)}-of-00002.safetensors" for n, name in enumerate(NAMES)})
    found = read_model_repo(repo)
    assert found.missing_layers(0, 2) == [1]
    assert found.missing_layers(0, 1) == []


def test_a_tensor_in_two_files_is_the_one_the_index_names(repo: Path) -> None:
    put(repo, "model-00001-of-00002.safetensors", *NAMES)
    put(repo, "model-00002-of-00002.safetensors", NAMES[0])
    with pytest.raises(ModelDamaged, match="both hold"):
        read_model_repo(repo)
    index(repo, {NAMES[0]: "model-00002-of-00002.safetensors"})
    assert read_model_repo(repo).tensors[NAMES[0]].file.name == "model-00002-of-00002.safetensors"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "no config.json"),
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "not a JSON object"),
        ("{}", "num_hidden_layers"),
        ('{"num_hidden_layers": true}', "num_hidden_layers"),
        ('{"num_hidden_layers": 0}', "num_hidden_layers"),
        ('{"num_hidden_layers": 1e9}', "num_hidden_layers"),
    ],
)
def test_a_config_that_is_no_config(tmp_path: Path, text: str | None, words: str) -> None:
    if text is not None:
        (tmp_path / "config.json").write_text(text)
    with pytest.raises(ModelDamaged, match=words):
        read_model_repo(tmp_path)


def test_no_weights(repo: Path) -> None:
    with pytest.raises(ModelDamaged, match="no safetensors weights"):
        read_model_repo(repo)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "cut off"),
        (b"\1\0", "cut off"),
        (struct.pack("<Q", 2**40), "cut off"),
        (octets({"a": (2, 3)})[:-1], "shorter than its header"),
        (octets({}, {"a": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [0, 11]}}), "makes no sense"),
        (octets({}, {"a": {"dtype": "BF16", "shape": [-2, -3], "data_offsets": [0, 12]}}), "makes no sense"),
        (octets({}, {"a": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [-12, 0]}}), "makes no sense"),
        (octets({}, {"a": {"dtype": "Q4", "shape": [2], "data_offsets": [0, 1]}}), "makes no sense"),
        (octets({}, {"a": 5}), "makes no sense"),
        (struct.pack("<Q", 2) + b"[]", "makes no sense"),
        (struct.pack("<Q", 100_000) + b"[" * 100_000, "makes no sense"),
        (octets({}, {"a": {"dtype": "BF16", "shape": [float("inf")], "data_offsets": [0, 2]}}), "makes no sense"),
        (struct.pack("<Q", 3) + b"\xff{}", "makes no sense"),
    ],
)
def test_a_damaged_file_is_named(repo: Path, data: bytes, words: str) -> None:
    (repo / "model.safetensors").write_bytes(data)
    with pytest.raises(ModelDamaged, match=rf"model\.safetensors is damaged: .*{words}"):
        read_model_repo(repo)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=80), st.booleans())
def test_garbage_is_damage_and_nothing_worse(repo: Path, data: bytes, honest: bool) -> None:
    file = repo / "model.safetensors"
    file.write_bytes(struct.pack("<Q", len(data)) + data if honest else data)
    try:
        _, tensors = read_tensor_headers(file)
    except ModelDamaged as error:
        assert error.hint == "Download the model again."
    else:
        assert all(0 <= tensor.begin <= tensor.end <= file.stat().st_size for tensor in tensors)


def test_the_revision_follows_config_and_headers(repo: Path) -> None:
    put(repo, "model.safetensors", *NAMES)
    first = read_model_repo(repo).revision
    assert read_model_repo(repo).revision == first
    put(repo, "model.safetensors", *NAMES, "model.layers.1.more")
    second = read_model_repo(repo).revision
    (repo / "config.json").write_text(json.dumps({"model_type": "qwen2", "num_hidden_layers": LAYERS}))
    assert len({first, second, read_model_repo(repo).revision}) == 3


def test_a_hub_snapshot_knows_its_name_and_commit(tmp_path: Path) -> None:
    repo = tmp_path / "models--org--name" / "snapshots" / "0123abc"
    repo.mkdir(parents=True)
    (repo / "config.json").write_text(json.dumps({"num_hidden_layers": LAYERS}))
    put(repo, "model.safetensors", *NAMES)
    found = read_model_repo(repo)
    assert (found.model_id, found.revision) == ("org/name", "0123abc")


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({}, "names no model_type"),
        ({"model_type": "gemma4_text"}, "share KV caches"),
        ({"model_type": "brand_new"}, "has not been shown"),
        ({"model_type": "llama", "quantization_config": {"bits": 4}}, "quantised"),
        ({"model_type": "llama", "per_layer_config": {"0": {}}}, "built differently"),
    ],
)
def test_a_family_that_cannot_be_cut_is_refused_with_the_reason(config: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelUnsupported, match=words):
        check_family(config)


def test_supported_families_are_let_through() -> None:
    assert [check_family({"model_type": family}) for family in SUPPORTED] == list(SUPPORTED)
