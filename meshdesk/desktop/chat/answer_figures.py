"""What an answer cost, in one quiet line: tokens a second, tokens, and the hop that took longest."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QCoreApplication

from meshdesk.desktop.amounts import ms_text, rate_text
from meshdesk.desktop.plurals import plurals
from meshdesk.node.events import Way
from meshdesk.volunteer.chat_client import Piece
from meshdesk.volunteer.hop_history import percentile
from meshdesk.volunteer.layers import show_layers

translate = QCoreApplication.translate

MAX_HOPS = 64
MAX_TIMES = 2_000
"""So many of a hop's newest times are kept; more says no more about it."""
MAX_LAYER = 10_000
MAX_MS = 1e7
MAX_WARNINGS = 5


@dataclass(frozen=True, slots=True)
class SlowestHop:
    """The hop with the largest median; layers half-open, way as it went last."""

    start_layer: int
    end_layer: int
    way: Way
    ms: float


class AnswerFigures:
    """Adds up one answer's pieces. ``clock`` gives seconds.

    The prompt takes far longer than a token of the answer, so it counts neither for the speed nor for the hops.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._first_at: float | None = None
        self._last_at = 0.0
        self._with_first = 0
        self._hops: dict[tuple[int, int], list[float]] = {}
        self._ways: dict[tuple[int, int], Way] = {}
        self.tokens = 0
        self.warnings: list[str] = []

    def add(self, piece: Piece) -> None:
        """Take in one piece; its hops come from a stranger's computer, and those that make no sense are left out."""
        # A mesh that names no token ids sends one piece a token all the same.
        tokens = len(piece.token_ids) or bool(piece.text)
        if tokens:
            self._last_at = self._clock()
            self.tokens += tokens
            if self._first_at is None:
                self._first_at, self._with_first = self._last_at, tokens
        for hop in piece.hops:
            self._add_hop(hop)
        for warning in piece.warnings:
            if warning not in self.warnings and len(self.warnings) < MAX_WARNINGS:
                self.warnings.append(warning)

    @property
    def tokens_per_s(self) -> float | None:
        """From the first token to the last; None for fewer than two, and where no time has passed."""
        if self._first_at is None or self.tokens <= self._with_first or self._last_at <= self._first_at:
            return None
        return (self.tokens - self._with_first) / (self._last_at - self._first_at)

    @property
    def slowest(self) -> SlowestHop | None:
        """None while no token after the first has gone through the mesh."""
        medians = {layers: percentile(sorted(times), 0.5) for layers, times in self._hops.items()}
        if not medians:
            return None
        layers = max(medians, key=lambda each: medians[each])
        return SlowestHop(*layers, self._ways[layers], medians[layers])

    def _add_hop(self, hop: dict[str, Any]) -> None:
        try:
            layers, way = (hop["start_layer"], hop["end_layer"]), Way(hop["way"])
            token, total_ms = hop["token_index"], float(hop["total_ms"])
        except (KeyError, TypeError, ValueError):
            return
        if not all(type(each) is int for each in (*layers, token)) or not 0 <= layers[0] < layers[1] <= MAX_LAYER:
            return
        if token < 1 or not 0 <= total_ms <= MAX_MS or (layers not in self._hops and len(self._hops) >= MAX_HOPS):
            return
        times = self._hops.setdefault(layers, [])
        times.append(total_ms)
        del times[:-MAX_TIMES]
        self._ways[layers] = way


def figures_text(figures: AnswerFigures) -> str:
    """``18.4 tokens/s · 62 tokens · slowest hop: layers 15–29 by relay, 21.3 ms``; what is unknown is left out."""
    facts = []
    if figures.tokens_per_s is not None:
        facts.append(translate("AnswerFigures", "{rate} tokens/s").format(rate=rate_text(figures.tokens_per_s)))
    facts.append(tokens_text(figures.tokens))
    if figures.slowest is not None:
        facts.append(_slowest_text(figures.slowest))
    return " · ".join(facts)


def tokens_text(tokens: int) -> str:
    return plurals().tokens(tokens)


def _slowest_text(hop: SlowestHop) -> str:
    text = {
        Way.LOCAL: translate("AnswerFigures", "slowest hop: layers {layers} at the first node, {time}"),
        Way.DIRECT: translate("AnswerFigures", "slowest hop: layers {layers} direct, {time}"),
        Way.RELAY: translate("AnswerFigures", "slowest hop: layers {layers} by relay, {time}"),
        Way.DIRECT_AFTER_RELAY: translate(
            "AnswerFigures", "slowest hop: layers {layers} direct (relay failed), {time}"
        ),
    }[hop.way]
    return text.format(layers=show_layers(hop.start_layer, hop.end_layer), time=ms_text(hop.ms))
