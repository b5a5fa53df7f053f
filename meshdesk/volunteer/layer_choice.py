"""Which layers this computer should hold: those the mesh lacks most, as many as fit, joining up with its neighbours.

Pure. A route only joins where one node's layers end exactly where the next one's begin, so a choice
never cuts across a border that others have drawn, unless nothing else fits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from meshdesk.protocol.errors import UsageError
from meshdesk.volunteer.layers import show_layers
from meshdesk.volunteer.wording import QT_TRANSLATE_NOOP

WORK_BYTES = 350 << 20
"""What the shard's process takes besides weights and caches, measured with the bundled model."""
KV_SHARE = 0.25
"""The part of the memory limit that is kept for running chats."""
MIN_KV_BYTES = 64 << 20
MAX_KV_BYTES = 4 << 30


class NothingFits(UsageError):
    """Not even one layer fits into the memory limit."""

    code = "nothing_fits"


@dataclass(frozen=True, slots=True)
class ModelSize:
    """Octets of a model: each layer, and what only the first (embeddings) and the last node need besides."""

    layer_bytes: tuple[int, ...]
    first_bytes: int = 0
    last_bytes: int = 0
    tied: bool = False
    """The head's matrix is the embeddings'; a node with both ends holds it once."""

    @property
    def num_layers(self) -> int:
        return len(self.layer_bytes)

    def nbytes(self, start: int, end: int) -> int:
        """Weights of layers ``[start, end)`` with what comes with them."""
        first = self.first_bytes if start == 0 else 0
        last = self.last_bytes if end == self.num_layers else 0
        return sum(self.layer_bytes[start:end]) + (max(first, last) if self.tied else first + last)


@dataclass(frozen=True, slots=True)
class Choice:
    """Layers ``[start, end)``, why they were chosen, and the octets left for the caches of running chats."""

    start: int
    end: int
    why: str
    kv_budget_bytes: int


def memory_budget(limit_bytes: int) -> tuple[int, int]:
    """How a memory limit is divided: octets for weights, octets for KV caches."""
    free = max(0, limit_bytes - WORK_BYTES)
    kv = int(min(MAX_KV_BYTES, max(MIN_KV_BYTES, free * KV_SHARE)))
    return max(0, free - kv), kv


def choose_layers(size: ModelSize, limit_bytes: int, others: Iterable[tuple[int, int]]) -> Choice:
    """The layers for a node that may use ``limit_bytes``; ``others`` are the ranges that the mesh has already.

    NothingFits if there is no room for a single layer.
    """
    weights, kv = memory_budget(limit_bytes)
    ranges = [(start, end) for start, end in others if 0 <= start < end <= size.num_layers]
    covered = coverage(size.num_layers, ranges)
    lowest = min(covered)
    fits = [
        (start, end) for start, end in _candidates(size, weights, covered, ranges) if size.nbytes(start, end) <= weights
    ]
    if not fits:
        need = min(size.nbytes(layer, layer + 1) for layer in range(size.num_layers)) + WORK_BYTES + MIN_KV_BYTES
        raise NothingFits(
            f"Not one layer of this model fits into {limit_bytes / 1e6:.0f} MB; "
            f"the smallest needs {need / 1e6:.0f} MB.",
            hint="Raise the memory limit, close other programs, or choose a smaller model.",
        )

    def merit(candidate: tuple[int, int]) -> tuple[int, int, int]:
        start, end = candidate
        wanted = sum(count == lowest for count in covered[start:end])
        return wanted, wanted - (end - start), -start

    start, end = max(fits, key=merit)
    return Choice(start, end, _why(start, end, covered), kv)


def coverage(num_layers: int, ranges: Iterable[tuple[int, int]]) -> list[int]:
    """How many nodes hold each layer."""
    counts = [0] * num_layers
    for start, end in ranges:
        for layer in range(max(0, start), min(num_layers, end)):
            counts[layer] += 1
    return counts


def _candidates(
    size: ModelSize, weights: int, covered: Sequence[int], ranges: Sequence[tuple[int, int]]
) -> set[tuple[int, int]]:
    """Ranges between borders that exist; and within a run of equally covered layers, as many as fit from its ends."""
    borders = sorted({0, size.num_layers, *(border for pair in ranges for border in pair)})
    found = {(start, end) for start in borders for end in borders if start < end}
    for start in borders:
        end = start
        while end < size.num_layers and covered[end] == covered[start] and size.nbytes(start, end + 1) <= weights:
            end += 1
        # The last layer brings the head's weights with it, so one fewer may fit where one more does not.
        if end > start:
            found.add((start, end))
    for end in borders:
        start = end
        while start > 0 and covered[start - 1] == covered[end - 1] and size.nbytes(start - 1, end) <= weights:
            start -= 1
        if start < end:
            found.add((start, end))
    return found


def _why(start: int, end: int, covered: Sequence[int]) -> str:
    counts = covered[start:end]
    span = show_layers(start, end)
    if end - start == len(covered):
        return QT_TRANSLATE_NOOP("Layers", "the whole model fits")
    if max(counts) == 0:
        return QT_TRANSLATE_NOOP("Layers", "nobody holds layers {layers} yet").format(layers=span)
    text = QT_TRANSLATE_NOOP("Layers", "layers {layers} are the rarest in this mesh; others hold them {count} times")
    return text.format(layers=span, count=min(counts))
