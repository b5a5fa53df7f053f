"""How a shard's tensors are kept: whole files of the repo where nearly all of one is wanted, else a file per layer.

Pure. A file per layer (and per tensor outside the layers) makes a change of layers cost only what is new,
and lets layers that nobody uses be deleted, without touching the others. Each is a valid safetensors file.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

from meshdesk.shard.download.outline import Outline, SourceFile
from meshdesk.shard.download.spans import Span, joined, size_of
from meshdesk.shard.tensor_headers import TensorHeader

WHOLE_SHARE = 0.98
"""So much of a file must be wanted to fetch all of it, and have it verified by the hash that the Hub tells."""
MAX_GAP = 16 * 1024
"""A hole so small is fetched with what lies around it: a request of its own would take longer."""
PREFIX = "meshdesk-"
_UNIT = re.compile(re.escape(PREFIX) + r"(layer-(\d+)\.[A-Za-z0-9._-]+|tensor-[A-Za-z0-9._-]+)\.safetensors")


@dataclass(frozen=True, slots=True)
class Segment:
    """Octets of a source file that go to ``offset`` of the file they are kept in."""

    source: Span
    offset: int


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A file to be had: ``name`` in the model's directory, put together from ``segments`` of ``source``.

    ``header`` are the octets it begins with that come from nowhere: a safetensors header; empty for a whole file.
    """

    name: str
    source: SourceFile
    segments: tuple[Segment, ...]
    size: int
    header: bytes = b""

    @property
    def is_whole(self) -> bool:
        return not self.header

    @property
    def wanted(self) -> list[Span]:
        """What of the source file it takes."""
        return joined(segment.source for segment in self.segments)


def plan_files(outline: Outline, wanted: Iterable[TensorHeader]) -> list[KeptFile]:
    """The files that hold the ``wanted`` tensors, whole ones first."""
    by_file: dict[str, list[TensorHeader]] = {}
    for tensor in wanted:
        by_file.setdefault(tensor.file.name, []).append(tensor)
    whole: list[KeptFile] = []
    parts: list[KeptFile] = []
    for name, tensors in sorted(by_file.items()):
        source = outline.files[name]
        if size_of(Span(tensor.begin, tensor.end) for tensor in tensors) >= source.size * WHOLE_SHARE:
            whole.append(KeptFile(name, source, (Segment(Span(0, source.size), 0),), source.size))
        else:
            parts += _units(source, tensors)
    return whole + parts


def requests_for(files: Sequence[KeptFile]) -> dict[str, list[Span]]:
    """Source file name to the spans to ask for, with small holes filled."""
    spans: dict[str, list[Span]] = {}
    for file in files:
        spans.setdefault(file.source.name, []).extend(file.wanted)
    return {name: joined(each, MAX_GAP) for name, each in spans.items()}


def unit_layer(name: str) -> int | None:
    """The layer that a kept file's name speaks of; None for any other file."""
    found = _UNIT.fullmatch(name)
    return int(found[2]) if found and found[2] else None


def is_unit(name: str) -> bool:
    """Whether meshdesk made the file of this name out of ranges."""
    return _UNIT.fullmatch(name) is not None


def _units(source: SourceFile, tensors: Sequence[TensorHeader]) -> list[KeptFile]:
    groups: dict[str, list[TensorHeader]] = {}
    for tensor in tensors:
        groups.setdefault(_unit_name(source, tensor), []).append(tensor)
    return [_unit(name, source, group) for name, group in sorted(groups.items())]


def _unit_name(source: SourceFile, tensor: TensorHeader) -> str:
    if tensor.layer is not None:
        # A layer's tensors may lie in two files; each then makes a file of its own.
        return f"{PREFIX}layer-{tensor.layer:05d}.{_plain(Path(source.name).stem)}.safetensors"
    return f"{PREFIX}tensor-{_plain(tensor.name)}.safetensors"


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "-", name)[-80:]


def _unit(name: str, source: SourceFile, tensors: Sequence[TensorHeader]) -> KeptFile:
    """One safetensors file of these tensors, in the order in which they lie in the source."""
    entries: dict[str, object] = {"__metadata__": {"format": "pt"}}
    segments: list[Segment] = []
    at = 0
    ordered = sorted(tensors, key=lambda tensor: (tensor.begin, tensor.name))
    for tensor in ordered:
        entries[tensor.name] = {
            "dtype": tensor.dtype,
            "shape": list(tensor.shape),
            "data_offsets": [at, at + tensor.nbytes],
        }
        segments.append(Segment(Span(tensor.begin, tensor.end), at))
        at += tensor.nbytes
    raw = orjson.dumps(entries)
    raw += b" " * (-len(raw) % 8)
    header = len(raw).to_bytes(8, "little") + raw
    placed = tuple(Segment(segment.source, segment.offset + len(header)) for segment in segments)
    return KeptFile(name, source, placed, len(header) + at, header)


def file_sha256(path: Path) -> str:
    """The hash of a file's content. Blocks."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
