"""How much room models take on the disk."""

from __future__ import annotations

import os
from pathlib import Path

from meshdesk.volunteer.kept_models import KeptModel, hub_cache, kept_models


def test_each_file_counts_once_however_many_names_it_has(tmp_path: Path) -> None:
    model = tmp_path / "cache" / "models" / "org" / "small"
    model.mkdir(parents=True)
    (model / "a.safetensors").write_bytes(bytes(100))
    os.link(model / "a.safetensors", model / "b.safetensors")
    (tmp_path / "cache" / "models" / ".partial").mkdir()
    repo = tmp_path / "hub" / "models--other--large"
    (repo / "blobs").mkdir(parents=True)
    (repo / "snapshots" / "1").mkdir(parents=True)
    (repo / "blobs" / "abc").write_bytes(bytes(5000))
    (repo / "snapshots" / "1" / "model.safetensors").symlink_to(repo / "blobs" / "abc")
    (tmp_path / "hub" / "datasets--other--words").mkdir()

    assert kept_models(tmp_path / "cache", tmp_path / "hub") == [
        KeptModel("other/large", repo, 5000, downloaded=True),
        KeptModel("org/small", model, 100),
    ]


def test_no_directories_are_no_models(tmp_path: Path) -> None:
    assert kept_models(tmp_path / "none", tmp_path / "nor this") == []


def test_the_hubs_cache_is_where_its_library_puts_it(tmp_path: Path) -> None:
    assert hub_cache({"HF_HUB_CACHE": "/a", "HF_HOME": "/b"}) == Path("/a")
    assert hub_cache({"HF_HOME": "/b", "XDG_CACHE_HOME": "/c"}) == Path("/b/hub")
    assert hub_cache({"XDG_CACHE_HOME": "/c"}) == Path("/c/huggingface/hub")
    assert hub_cache({}) == Path.home() / ".cache" / "huggingface" / "hub"
