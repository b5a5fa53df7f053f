"""Where models lie: what is free and needed there, and a chosen folder that children know too."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from meshdesk.shard import model_source
from meshdesk.volunteer import model_place


@pytest.fixture(autouse=True)
def nothing_set_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_place, "_SET_OUTSIDE", dict.fromkeys((model_source.CACHE_VARIABLE, "HF_HUB_CACHE")))
    for name in (model_source.CACHE_VARIABLE, "HF_HUB_CACHE"):
        # Set and deleted, so that what a test sets is undone.
        monkeypatch.setenv(name, "x")
        monkeypatch.delenv(name)


def test_a_folder_that_is_not_there_yet(tmp_path: Path) -> None:
    place = model_place.look_at(tmp_path / "new" / "models")
    assert place.free > 0 and place.writable
    assert place.needed >= model_place.PREPARED_BYTES


def test_a_file_is_no_place_for_models(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert not model_place.look_at(tmp_path / "file" / "models").writable


def test_nothing_is_needed_where_the_model_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        model_source, "is_converted", lambda path: path == tmp_path / "models" / "HuggingFaceTB" / path.name
    )
    assert model_place.look_at(tmp_path).needed == 0


def test_a_chosen_folder_is_used_here_and_by_children(tmp_path: Path) -> None:
    usual = model_source.cache_root()
    model_place.use_folder(str(tmp_path))
    assert model_source.cache_root() == model_place.present_folder(str(tmp_path)) == tmp_path
    assert os.environ["HF_HUB_CACHE"] == str(tmp_path / "hub")
    model_place.use_folder("")
    assert model_source.cache_root() == model_place.present_folder("") == usual
    assert "HF_HUB_CACHE" not in os.environ


def test_what_was_set_outside_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(model_place._SET_OUTSIDE, model_source.CACHE_VARIABLE, str(tmp_path))
    monkeypatch.setenv(model_source.CACHE_VARIABLE, str(tmp_path))
    model_place.use_folder("/elsewhere")
    assert model_source.cache_root() == model_place.present_folder("/elsewhere") == tmp_path
