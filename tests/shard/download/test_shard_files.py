"""Which files a shard is kept in, and that each is one that the safetensors library reads."""

from __future__ import annotations

from pathlib import Path

import pytest
from safetensors import safe_open

from meshdesk.shard.download.shard_files import (
    MAX_GAP,
    KeptFile,
    file_sha256,
    is_unit,
    plan_files,
    requests_for,
    unit_layer,
)
from meshdesk.shard.download.spans import Span
from tests.shard.download.samples import outline_of, two_files


def layers(*wanted: int) -> list[KeptFile]:
    outline = two_files()
    return plan_files(outline, [each for each in outline.tensors.values() if each.layer in wanted])


def test_a_layer_is_a_file_and_one_in_two_sources_is_two() -> None:
    assert [file.name for file in layers(0, 1)] == [
        "meshdesk-layer-00000.model-00001-of-00002.safetensors",
        "meshdesk-layer-00001.model-00001-of-00002.safetensors",
        "meshdesk-layer-00001.model-00002-of-00002.safetensors",
    ]


def test_other_layers_leave_the_files_of_those_that_stay_as_they_are() -> None:
    before = {file.name: file for file in layers(0, 1)}
    after = {file.name: file for file in layers(1, 2)}
    for name in before.keys() & after.keys():
        assert before[name] == after[name]
    assert len(before.keys() & after.keys()) == 2


def test_a_source_that_is_wanted_whole_is_kept_whole() -> None:
    outline = two_files()
    files = plan_files(outline, [each for each in outline.tensors.values() if each.layer in (1, 2, 3)])
    assert [(file.name, file.is_whole) for file in files] == [
        ("meshdesk-layer-00001.model-00001-of-00002.safetensors", False),
        ("meshdesk-layer-00001.model-00002-of-00002.safetensors", False),
        ("meshdesk-layer-00002.model-00002-of-00002.safetensors", False),
        ("meshdesk-layer-00003.model-00002-of-00002.safetensors", False),
    ], "the header and the norm are more than a fiftieth of so small a file"
    big = outline_of({"model.safetensors": [("model.layers.0.a.weight", 10_000), ("model.norm.weight", 4)]})
    (whole,) = plan_files(big, [big.tensors["model.layers.0.a.weight"]])
    assert (whole.name, whole.is_whole, whole.wanted) == ("model.safetensors", True, [Span(0, whole.source.size)])


def test_a_file_of_a_layer_is_read_by_the_library(tmp_path: Path) -> None:
    file = layers(0)[0]
    source = bytes(number % 256 for number in range(file.source.size))
    kept = bytearray(file.size)
    kept[: len(file.header)] = file.header
    for segment in file.segments:
        kept[segment.offset : segment.offset + segment.source.size] = source[segment.source.begin : segment.source.end]
    path = tmp_path / file.name
    path.write_bytes(kept)
    with safe_open(path, framework="numpy") as opened:
        assert sorted(opened.keys()) == ["model.layers.0.a.weight", "model.layers.0.b.weight"]
        assert opened.get_slice("model.layers.0.b.weight").get_shape() == [60]
    assert len(file.header) % 8 == 0, "tensors are aligned, for they are mapped"
    assert len(file_sha256(path)) == 64


def test_few_requests_fetch_it_with_small_holes_filled() -> None:
    outline = outline_of(
        {
            "a.safetensors": [
                ("model.layers.0.a.weight", 10),
                ("model.layers.1.a.weight", MAX_GAP // 2),
                ("model.layers.0.b.weight", 10),
                ("model.layers.1.b.weight", MAX_GAP // 2 + 1),
                ("model.layers.0.c.weight", 10),
            ]
        }
    )
    asked = requests_for(plan_files(outline, [each for each in outline.tensors.values() if each.layer == 0]))
    assert [len(spans) for spans in asked.values()] == [2]


@pytest.mark.parametrize(
    ("name", "layer", "unit"),
    [
        ("meshdesk-layer-00015.model.safetensors", 15, True),
        ("meshdesk-tensor-model.norm.weight.safetensors", None, True),
        ("model.safetensors", None, False),
        ("meshdesk-layer-x.model.safetensors", None, False),
        ("meshdesk-layer-00015.model.safetensors.part", None, False),
    ],
)
def test_names_tell_what_a_file_is(name: str, layer: int | None, unit: bool) -> None:
    assert (unit_layer(name), is_unit(name)) == (layer, unit)
