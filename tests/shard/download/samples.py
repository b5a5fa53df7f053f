"""Outlines of models that are not there: layers of a few octets, spread over weight files as a repo would."""

from __future__ import annotations

from pathlib import Path

from meshdesk.shard.download.outline import Outline, SourceFile
from meshdesk.shard.tensor_headers import TensorHeader

HEADER = 100
"""Octets before the first tensor of a source file."""


def tensor(name: str, file: str, begin: int, values: int) -> TensorHeader:
    return TensorHeader(name, "BF16", (values,), Path(file), begin, begin + 2 * values)


def outline_of(files: dict[str, list[tuple[str, int]]]) -> Outline:
    """``files``: what each weight file holds, tensor names and numbers of values in their order."""
    sources: dict[str, SourceFile] = {}
    tensors: dict[str, TensorHeader] = {}
    for file, held in files.items():
        at = HEADER
        for name, values in held:
            tensors[name] = tensor(name, file, at, values)
            at = tensors[name].end
        sources[file] = SourceFile(file, at, f"etag of {file}", None)
    layers = {each.layer for each in tensors.values()} - {None}
    return Outline("org/tiny", "c" * 40, {"model_type": "llama"}, len(layers), sources, tensors)


def two_files() -> Outline:
    """Four layers, of which the second lies in both files."""
    return outline_of(
        {
            "model-00001-of-00002.safetensors": [
                ("model.embed_tokens.weight", 500),
                ("model.layers.0.a.weight", 40),
                ("model.layers.0.b.weight", 60),
                ("model.layers.1.a.weight", 40),
            ],
            "model-00002-of-00002.safetensors": [
                ("model.layers.1.b.weight", 60),
                ("model.layers.2.a.weight", 100),
                ("model.layers.3.a.weight", 100),
                ("model.norm.weight", 4),
            ],
        }
    )
