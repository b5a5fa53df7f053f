"""A shard reads the tensors of its own part and no other, and a model that lacks some is refused by name."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from meshdesk.shard.model_repo import read_model_repo
from tests.shard.lab import Lab, LabFailed

LAYERS = 6
Tiny = Callable[..., Path]


def names_of(path: Path, start: int, end: int, *outside: str) -> list[str]:
    repo = read_model_repo(path)
    return sorted([tensor.name for tensor in repo.of_layers(start, end)] + list(outside))


EMBED, NORM, HEAD = "model.embed_tokens.weight", "model.norm.weight", "lm_head.weight"


@pytest.mark.parametrize("files", [1, 3])
@pytest.mark.parametrize(
    ("tied", "start", "end", "outside"),
    [
        (True, 0, 3, [EMBED]),
        (True, 2, 4, []),
        (True, 3, 6, [EMBED, NORM]),
        (True, 0, 6, [EMBED, NORM]),
        (False, 0, 3, [EMBED]),
        (False, 2, 4, []),
        (False, 3, 6, [NORM, HEAD]),
        (False, 0, 6, [EMBED, NORM, HEAD]),
    ],
)
def test_only_the_shards_tensors_are_read(
    lab: Lab, tiny: Tiny, tied: bool, files: int, start: int, end: int, outside: list[str]
) -> None:
    path = tiny("llama", tie_word_embeddings=tied, files=files)
    wanted = names_of(path, start, end, *outside)
    found = lab("lab_cuts.tensors_read", path=path, start=start, end=end)
    assert found["read"] == wanted, "each once, and no other"
    tensors = read_model_repo(path).tensors
    nbytes = sum(tensors[name].nbytes for name in wanted)
    assert found["announced"] == [nbytes, nbytes]
    assert found["weight_bytes"] == nbytes


def test_a_half_of_the_real_model(lab: Lab, smollm2: Path) -> None:
    found = lab("lab_cuts.tensors_read", path=smollm2, start=15, end=30)
    assert found["read"] == names_of(smollm2, 15, 30, EMBED, NORM)
    assert not [name for name in found["parameters"] if name == EMBED]


def copy(path: Path, to: Path) -> Path:
    return Path(shutil.copytree(path, to / "copy"))


def refusal(lab: Lab, path: Path, start: int, end: int, dtype: str = "bfloat16") -> str:
    """The last line of what loading raised."""
    with pytest.raises(LabFailed) as failed:
        lab("lab_engine.load", path=path, start=start, end=end, dtype=dtype)
    return str(failed.value).strip().splitlines()[-1]


UP = "model.layers.4.mlp.up_proj.weight"


@pytest.mark.parametrize(
    ("edit", "start", "end", "words"),
    [
        ({"drop": [UP]}, 3, 6, f"ModelDamaged: 1 of the model's tensors are missing, the first of them {UP}."),
        (
            {"reshape": [UP]},
            3,
            6,
            f"ModelDamaged: 1 of the model's tensors are of another shape, the first of them {UP}.",
        ),
        ({"drop": [NORM]}, 3, 6, "ModelDamaged: The model's files lack the tensor norm.weight."),
        ({"drop": [EMBED]}, 0, 3, "ModelDamaged: The model's files lack the tensor embed_tokens.weight."),
        ({"drop": [HEAD]}, 3, 6, "ModelUnsupported: The model says that its output head is not tied"),
    ],
)
def test_missing_and_wrong_tensors_are_named(
    lab: Lab, tiny: Tiny, tmp_path: Path, edit: dict[str, Any], start: int, end: int, words: str
) -> None:
    path = copy(tiny("llama", tie_word_embeddings=False), tmp_path)
    lab("lab_models.edit", path=path, **edit)
    assert words in refusal(lab, path, start, end)
    others = (0, 3) if start else (3, 6)
    lab("lab_engine.load", path=path, start=others[0], end=others[1], dtype="bfloat16")


def test_layers_whose_file_is_gone_are_named(lab: Lab, tiny: Tiny, tmp_path: Path) -> None:
    path = copy(tiny("llama", files=3), tmp_path)
    index = json.loads((path / "model.safetensors.index.json").read_text())["weight_map"]
    gone = index["model.layers.5.mlp.up_proj.weight"]
    (path / gone).unlink()
    assert "lack the weights of" in refusal(lab, path, 0, 6) or "are missing" in refusal(lab, path, 0, 6)
    whole = min(int(name.split(".")[2]) for name, file in index.items() if file == gone and ".layers." in name)
    lab("lab_engine.load", path=path, start=0, end=whole, dtype="bfloat16")


@pytest.mark.parametrize(("start", "end"), [(0, 7), (3, 3), (4, 2), (-1, 3), (6, 7)])
def test_layers_the_model_does_not_have_are_refused(lab: Lab, tiny: Tiny, start: int, end: int) -> None:
    assert "the model has layers 0–5" in refusal(lab, tiny("llama"), start, end)


def test_a_model_that_keeps_other_state_is_refused(lab: Lab, tiny: Tiny, tmp_path: Path) -> None:
    path = copy(tiny("llama"), tmp_path)
    config = json.loads((path / "config.json").read_text())
    for family in ("mamba", "gemma4_text", "never_heard_of"):
        (path / "config.json").write_text(json.dumps({**config, "model_type": family}))
        assert "ModelUnsupported: Models of the family" in refusal(lab, path, 0, 3)
