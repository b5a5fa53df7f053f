"""Cutting a model changes no bit: every family, every dtype, several seams, prefill and decode."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from meshdesk.shard.families import SUPPORTED
from tests.shard.lab import Lab

LAYERS = 6
DECODE = 6
CUTS = [[0, 6], [0, 1, 6], [0, 3, 6], [0, 5, 6], [0, 2, 4, 6]]


def check(lab: Lab, path: Path, dtype: str, cuts: list[list[int]], decode: int = DECODE) -> None:
    found = lab("lab_cuts.compare", path=path, dtype=dtype, all_cuts=cuts, decode=decode)
    assert len(set(found["whole"])) == decode + 2, "a model whose logits never change proves nothing"
    for cut in found["cuts"]:
        assert cut["logits"] == found["whole"], cut["cut"]
        assert cut["seams_equal"], cut["cut"]


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.parametrize("family", SUPPORTED)
def test_every_family(lab: Lab, tiny: Callable[..., Path], family: str, dtype: str) -> None:
    check(lab, tiny(family), dtype, CUTS)


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("files", [1, 3])
def test_tied_and_untied_in_one_file_and_several(lab: Lab, tiny: Callable[..., Path], tied: bool, files: int) -> None:
    check(lab, tiny("llama", tie_word_embeddings=tied, files=files), "bfloat16", [[0, 6], [0, 4, 6]])


@pytest.mark.parametrize("stored", ["float32", "float16"])
@pytest.mark.parametrize("computed", ["bfloat16", "float32"])
def test_weights_stored_in_another_dtype(lab: Lab, tiny: Callable[..., Path], stored: str, computed: str) -> None:
    check(lab, tiny("qwen2", dtype=stored), computed, [[0, 6], [0, 4, 6]])


def test_names_without_their_prefix(lab: Lab, tiny: Callable[..., Path]) -> None:
    check(lab, tiny("llama", tie_word_embeddings=True, bare=True), "bfloat16", [[0, 6], [0, 4, 6]])


@pytest.mark.timeout(120)
@pytest.mark.parametrize(("dtype", "cut"), [("bfloat16", [0, 10, 20, 30]), ("float32", [0, 15, 30])])
def test_the_real_model(lab: Lab, smollm2: Path, dtype: str, cut: list[int]) -> None:
    check(lab, smollm2, dtype, [cut], decode=4)
