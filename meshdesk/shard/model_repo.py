"""A model on disk: config and tensor headers of a local safetensors repo, read without torch.

Only headers are read, a few hundred kilobytes even for a large model. What a file's header says is the
truth; the index is used to choose files and may be absent or stale.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from meshdesk.shard.errors import ModelDamaged, ModelUnsupported
from meshdesk.shard.tensor_headers import PREFIX_BYTES, TensorHeader, header_length, parse_header

INDEX_NAME = "model.safetensors.index.json"
_SHARDED = re.compile(r"model-\d+-of-\d+\.safetensors")


@dataclass(frozen=True, slots=True)
class ModelRepo:
    """A local safetensors repo. ``layer_bytes[i]`` are the octets of layer i's tensors (0: not here)."""

    path: Path
    config: dict[str, Any]
    tensors: dict[str, TensorHeader]
    num_layers: int
    layer_bytes: tuple[int, ...]
    model_id: str
    revision: str

    def of_layers(self, start_layer: int, end_layer: int) -> list[TensorHeader]:
        """The tensors of layers ``[start_layer, end_layer)``."""
        wanted = range(start_layer, end_layer)
        return [tensor for tensor in self.tensors.values() if tensor.layer in wanted]

    def outside_layers(self) -> list[TensorHeader]:
        """The tensors of no layer: embeddings, final norm, lm_head."""
        return [tensor for tensor in self.tensors.values() if tensor.layer is None]

    def missing_layers(self, start_layer: int, end_layer: int) -> list[int]:
        """Layers of the range whose tensors are not in the files."""
        return [layer for layer in range(start_layer, end_layer) if self.layer_bytes[layer] == 0]

    def check_layers(self, start_layer: int, end_layer: int) -> None:
        """ModelUnsupported for layers the model does not have, ModelDamaged for layers the files do not have."""
        if not 0 <= start_layer < end_layer <= self.num_layers:
            raise ModelUnsupported(
                f"Layers {start_layer}–{end_layer - 1} were asked for; the model has layers 0–{self.num_layers - 1}."
            )
        if missing := self.missing_layers(start_layer, end_layer):
            raise ModelDamaged(
                f"The model's files lack the weights of {len(missing)} layers, the first of them layer {missing[0]}.",
                hint="Download the model again.",
            )


def read_model_repo(path: Path) -> ModelRepo:
    """Read config.json and all tensor headers below ``path``; ModelDamaged where they do not add up."""
    config = read_json(path / "config.json")
    if config is None:
        raise ModelDamaged(f"There is no config.json in {path}, so this is not a model.")
    count = config.get("num_hidden_layers")
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= 10_000:
        raise ModelDamaged("The model's config.json does not say how many layers it has (num_hidden_layers).")
    digest = hashlib.sha256((path / "config.json").read_bytes())
    tensors: dict[str, TensorHeader] = {}
    index = _read_index(path)
    for file in _weight_files(path, index):
        header, found = read_tensor_headers(file)
        digest.update(header)
        digest.update(file.stat().st_size.to_bytes(8, "little"))
        for tensor in found:
            other = tensors.get(tensor.name)
            if other is None or index.get(tensor.name) == file.name:
                tensors[tensor.name] = tensor
            elif index.get(tensor.name) != other.file.name:
                raise ModelDamaged(
                    f"{other.file.name} and {file.name} both hold {tensor.name}.",
                    hint="Remove the files that belong to another version of the model.",
                )
    layer_bytes = [0] * count
    for tensor in tensors.values():
        if tensor.layer is not None and tensor.layer < count:
            layer_bytes[tensor.layer] += tensor.nbytes
    model_id, commit = _identity(path)
    return ModelRepo(
        path=path,
        config=config,
        tensors=tensors,
        num_layers=count,
        layer_bytes=tuple(layer_bytes),
        model_id=model_id,
        revision=commit or digest.hexdigest()[:12],
    )


def read_json(path: Path) -> dict[str, Any] | None:
    """A JSON object from a file; None if there is no file, ModelDamaged if it is something else."""
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError):
        raise ModelDamaged(f"{path.name} is not JSON.", hint="Download the model again.") from None
    if not isinstance(found, dict):
        raise ModelDamaged(f"{path.name} is not a JSON object.", hint="Download the model again.")
    return found


def read_tensor_headers(file: Path) -> tuple[bytes, list[TensorHeader]]:
    """The raw header of one safetensors file, and its tensors; ModelDamaged unless all of it lies in the file."""
    size = file.stat().st_size
    with file.open("rb") as stream:
        raw = stream.read(header_length(stream.read(PREFIX_BYTES), size, file.name))
    return raw, parse_header(raw, size, file)


def _read_index(path: Path) -> dict[str, str]:
    """Tensor name to file name as the index says; empty where there is no usable index."""
    try:
        index = read_json(path / INDEX_NAME)
    except ModelDamaged:
        return {}
    entries = (index or {}).get("weight_map")
    if not isinstance(entries, dict):
        return {}
    return {
        name: file
        for name, file in entries.items()
        if isinstance(file, str) and Path(file).name == file and file.endswith(".safetensors")
    }


def _weight_files(path: Path, index: dict[str, str]) -> list[Path]:
    """The files that make up the model, in the library's order of preference, in a fixed order."""
    single = path / "model.safetensors"
    if single.is_file():
        return [single]
    named = {path / file for file in index.values() if (path / file).is_file()}
    sharded = {file for file in path.glob("*.safetensors") if _SHARDED.fullmatch(file.name)}
    others = set(path.glob("*.safetensors"))
    # An index whose files are gone is as good as none; files of other names count only where no usual name exists.
    files = sorted(named | sharded if named or sharded else others)
    if not files:
        raise ModelDamaged(
            f"There are no safetensors weights in {path}.",
            hint="Choose a model that is published as safetensors.",
        )
    return files


def _identity(path: Path) -> tuple[str, str | None]:
    """Model id and commit: of a Hub snapshot from its folders, else the directory's name and no commit."""
    parts = path.absolute().parts
    if len(parts) >= 3 and parts[-2] == "snapshots" and parts[-3].startswith("models--"):
        return parts[-3].removeprefix("models--").replace("--", "/"), parts[-1]
    name = path.absolute().resolve().name
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name) or "model", None
