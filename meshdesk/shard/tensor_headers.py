"""What a safetensors file says of its tensors, read from its header alone: of a file here or of one on the Hub.

A header comes from strangers: every claim in it is checked against the file's size before anything is believed.
Source: the safetensors format, 8 octets of little-endian length, a JSON object, then the tensors' octets.
"""

from __future__ import annotations

import json
import math
import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from meshdesk.shard.errors import ModelDamaged

DTYPE_BYTES = {
    "F64": 8,
    "F32": 4,
    "F16": 2,
    "BF16": 2,
    "I64": 8,
    "I32": 4,
    "I16": 2,
    "I8": 1,
    "U8": 1,
    "BOOL": 1,
    "F8_E4M3": 1,
    "F8_E5M2": 1,
}
"""Octets per value of the safetensors dtypes."""

MAX_HEADER_BYTES = 100_000_000
PREFIX_BYTES = 8
_LAYER = re.compile(r"^((?:.*\.)?layers\.)(\d+)(\..+)$")


@dataclass(frozen=True, slots=True)
class TensorHeader:
    """One tensor: where its octets lie (``begin`` and ``end`` count from the file's start) and what they are."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    file: Path
    begin: int
    end: int

    @property
    def nbytes(self) -> int:
        return self.end - self.begin

    @property
    def layer(self) -> int | None:
        """The layer it belongs to; None for embeddings, the final norm and lm_head."""
        found = _LAYER.match(self.name)
        return int(found[2]) if found else None


def shifted(name: str, layers: int) -> str:
    """A tensor's name in a model where its layer's number is larger by ``layers``; unchanged if it has no layer."""
    found = _LAYER.match(name)
    return f"{found[1]}{int(found[2]) + layers}{found[3]}" if found else name


def header_length(prefix: bytes, size: int, name: str) -> int:
    """Octets of the header that follows ``prefix``, the first octets of a file of ``size``; ModelDamaged if it lies."""
    length: int = struct.unpack("<Q", prefix)[0] if len(prefix) == PREFIX_BYTES else size
    if length > min(MAX_HEADER_BYTES, size - PREFIX_BYTES):
        raise _damaged(name, "its header is cut off")
    return length


def parse_header(raw: bytes, size: int, file: Path) -> list[TensorHeader]:
    """The tensors of ``file``, whose header is ``raw`` and whose octets are ``size`` in all; ModelDamaged if not so."""
    try:
        header = json.loads(raw)
        entries = [(name, entry) for name, entry in header.items() if name != "__metadata__"]
        tensors = [_tensor(file, name, entry, PREFIX_BYTES + len(raw)) for name, entry in entries]
    except (ValueError, AttributeError, KeyError, TypeError, OverflowError, RecursionError):
        raise _damaged(file.name, "its header makes no sense") from None
    if any(tensor.end > size for tensor in tensors):
        raise _damaged(file.name, "it is shorter than its header says")
    return tensors


def _tensor(file: Path, name: str, entry: dict[str, Any], base: int) -> TensorHeader:
    shape = tuple(int(size) for size in entry["shape"])
    begin, end = (int(offset) for offset in entry["data_offsets"])
    nbytes = math.prod(shape) * DTYPE_BYTES[entry["dtype"]]
    if begin < 0 or end - begin != nbytes or any(size < 0 for size in shape):
        raise ValueError(name)
    return TensorHeader(name, entry["dtype"], shape, file, base + begin, base + end)


def _damaged(name: str, what: str) -> ModelDamaged:
    return ModelDamaged(f"The model file {name} is damaged: {what}.", hint="Download the model again.")
