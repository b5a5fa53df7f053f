"""What is known of a repo without its weights, and that it is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from meshdesk.shard.download.outline import layer_count, read_outline, write_outline
from meshdesk.shard.errors import ModelDamaged
from tests.shard.download.samples import two_files


def test_it_is_kept_as_it_was(tmp_path: Path) -> None:
    outline = two_files()
    write_outline(outline, tmp_path / "deep" / "outline.json")
    assert read_outline(tmp_path / "deep" / "outline.json") == outline
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["outline.json"]


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"format": 0}', b'{"format": 1, "files": 3}'])
def test_one_that_cannot_be_read_is_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "outline.json"
    assert read_outline(path) is None
    path.write_bytes(content)
    assert read_outline(path) is None


def test_layers_are_sized_and_the_rest_is_told_apart() -> None:
    outline = two_files()
    assert outline.layer_bytes == (200, 200, 200, 200)
    assert [each.name for each in outline.outside_layers()] == ["model.embed_tokens.weight", "model.norm.weight"]


@pytest.mark.parametrize("config", [{}, {"num_hidden_layers": 0}, {"num_hidden_layers": True}, {"n_layer": "12"}])
def test_a_config_that_does_not_say_how_many_layers_is_refused(config: dict[str, Any]) -> None:
    with pytest.raises(ModelDamaged, match="how many layers"):
        layer_count(config)
    assert layer_count({"n_layer": 12}) == 12
