"""What a repo on the Hub holds, known without its weights: config, every tensor's place and size, files and hashes.

Kept beside the model once it was read, so that layers can be planned and fetched later without asking again.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from meshdesk.shard.errors import ModelDamaged
from meshdesk.shard.tensor_headers import TensorHeader

FORMAT = 1
"""Raised when an older outline can no longer be read; it is then read from the Hub anew."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One weight file on the Hub. ``sha256`` None where the Hub does not tell it; ``etag`` names its content."""

    name: str
    size: int
    etag: str
    sha256: str | None


@dataclass(frozen=True, slots=True)
class Outline:
    """A repo at one commit. Tensors by name, their ``file`` being the name of a source file."""

    repo: str
    commit: str
    config: dict[str, Any]
    num_layers: int
    files: dict[str, SourceFile]
    tensors: dict[str, TensorHeader]

    @property
    def layer_bytes(self) -> tuple[int, ...]:
        """Octets of each layer's tensors."""
        counts = [0] * self.num_layers
        for tensor in self.tensors.values():
            if tensor.layer is not None and tensor.layer < self.num_layers:
                counts[tensor.layer] += tensor.nbytes
        return tuple(counts)

    def outside_layers(self) -> list[TensorHeader]:
        """The tensors of no layer."""
        return [tensor for tensor in self.tensors.values() if tensor.layer is None]


def write_outline(outline: Outline, path: Path) -> None:
    """Keep ``outline`` in the file ``path``, in one step."""
    fields = {
        "format": FORMAT,
        "repo": outline.repo,
        "commit": outline.commit,
        "config": outline.config,
        "num_layers": outline.num_layers,
        "files": [[file.name, file.size, file.etag, file.sha256] for file in outline.files.values()],
        "tensors": [
            [tensor.name, tensor.dtype, tensor.shape, tensor.file.name, tensor.begin, tensor.end]
            for tensor in outline.tensors.values()
        ],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(path.name + ".new")
    beside.write_bytes(orjson.dumps(fields))
    beside.replace(path)


def read_outline(path: Path) -> Outline | None:
    """The outline kept in ``path``; None where there is none, or none that this version reads."""
    try:
        fields = orjson.loads(path.read_bytes())
        if fields["format"] != FORMAT:
            return None
        return Outline(
            repo=fields["repo"],
            commit=fields["commit"],
            config=fields["config"],
            num_layers=fields["num_layers"],
            files={name: SourceFile(name, size, etag, sha256) for name, size, etag, sha256 in fields["files"]},
            tensors={
                name: TensorHeader(name, dtype, tuple(shape), Path(file), begin, end)
                for name, dtype, shape, file, begin, end in fields["tensors"]
            },
        )
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError, ValueError):
        return None


def layer_count(config: dict[str, Any]) -> int:
    """How many layers a config.json says its model has; ModelDamaged if it does not."""
    count = config.get("num_hidden_layers", config.get("n_layer"))
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= 10_000:
        raise ModelDamaged("The model's config.json does not say how many layers it has (num_hidden_layers).")
    return count
