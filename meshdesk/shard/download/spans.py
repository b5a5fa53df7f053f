"""Ranges of octets of one file: what is there, what is missing, and how few requests fetch it. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Span(NamedTuple):
    """Octets ``[begin, end)``."""

    begin: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.begin


def joined(spans: Iterable[Span], gap: int = 0) -> list[Span]:
    """The same octets in ascending spans that neither touch nor overlap; holes of up to ``gap`` octets are filled."""
    found: list[Span] = []
    for span in sorted(span for span in spans if span.size > 0):
        if found and span.begin <= found[-1].end + gap:
            found[-1] = Span(found[-1].begin, max(found[-1].end, span.end))
        else:
            found.append(span)
    return found


def without(wanted: Iterable[Span], there: Iterable[Span]) -> list[Span]:
    """What of ``wanted`` is not ``there``."""
    left: list[Span] = []
    have = joined(there)
    for span in joined(wanted):
        begin = span.begin
        for other in have:
            if other.end <= begin:
                continue
            if other.begin >= span.end:
                break
            if other.begin > begin:
                left.append(Span(begin, other.begin))
            begin = max(begin, other.end)
        if begin < span.end:
            left.append(Span(begin, span.end))
    return left


def size_of(spans: Iterable[Span]) -> int:
    """Octets in all; overlaps count once."""
    return sum(span.size for span in joined(spans))


def pieces(spans: Iterable[Span], most: int) -> list[Span]:
    """The spans cut so that none is larger than ``most``: what one request fetches."""
    return [Span(begin, min(begin + most, span.end)) for span in spans for begin in range(span.begin, span.end, most)]
