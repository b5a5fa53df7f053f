"""The last hops of this computer, as charts and tables show them: who waited how long for what, and which way.

A head's node publishes ``HopTimed`` for every hop of every token, any other only ``ForwardServed`` for
what it computes itself. Both become one kind of record here. Bounded by tokens, not by time, so that a
quiet computer still shows its last chat.
"""

from __future__ import annotations

import csv
import io
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from meshdesk.node.events import Event, ForwardServed, HopTimed, HopWayChanged, Way

MAX_TOKENS = 500
"""How many tokens a table holds."""
MINUTE_TOKENS = 5_000
"""How many tokens hold the chart's last minute, at more than eighty a second."""
MAX_RECORDS = 20_000
MAX_MARKS = 200
SERVED = "served"


class MarkKind(StrEnum):
    """A change of way that a chart marks."""

    FELL_BACK = "fell-back"
    CAME_BACK = "came-back"


@dataclass(frozen=True, slots=True)
class HopRecord:
    """One activation through one hop; times in ms.

    ``way`` is None for a forward that this node served for somebody else's chat: it knows what it
    computed, not how long the head waited; then ``total_ms`` is compute and queue together.
    """

    at: float
    session: str
    token_index: int
    hop: int
    start_layer: int
    end_layer: int
    way: Way | None
    total_ms: float
    compute_ms: float
    queue_ms: float
    tokens: int
    bytes_out: int
    bytes_in: int

    @property
    def line(self) -> tuple[int, int]:
        """Which line of the chart it belongs to: its hop's layers; a node of its own is one line over all chats."""
        return self.start_layer, self.end_layer

    @property
    def served(self) -> bool:
        return self.way is None

    @property
    def network_ms(self) -> float | None:
        """Time on the way; None where this computer cannot know it."""
        return None if self.way is None else max(0.0, self.total_ms - self.compute_ms - self.queue_ms)


@dataclass(frozen=True, slots=True)
class Mark:
    """A seam's relay failed, or came back, at ``at``."""

    at: float
    kind: MarkKind
    hop: int
    reason: str


@dataclass(frozen=True, slots=True)
class HopStats:
    """One line's figures over a window; ms. ``way`` is the newest."""

    start_layer: int
    end_layer: int
    way: Way | None
    count: int
    last_ms: float
    p50_ms: float
    p95_ms: float
    network_p50_ms: float | None
    compute_p50_ms: float


class HopHistory:
    """Keeps the newest records and marks. ``own_layers`` are those this node serves, for ForwardServed."""

    def __init__(self, max_tokens: int = MAX_TOKENS, own_layers: Callable[[], tuple[int, int]] = lambda: (0, 0)):
        self._max_tokens = max_tokens
        self._own_layers = own_layers
        self._records: deque[HopRecord] = deque(maxlen=MAX_RECORDS)
        self._tokens: dict[tuple[str, int], int] = {}
        """How many records each token has, oldest first."""
        self._fallen: set[int] = set()
        self._marks: deque[Mark] = deque(maxlen=MAX_MARKS)
        self.version = 0
        """Grows with every change, so that a window need not compare."""

    def __len__(self) -> int:
        return len(self._records)

    @property
    def records(self) -> Iterable[HopRecord]:
        """Oldest first."""
        return self._records

    @property
    def marks(self) -> Iterable[Mark]:
        """Oldest first."""
        return self._marks

    def apply(self, event: Event) -> HopRecord | None:
        """Take an event in; the new record, if it made one."""
        if isinstance(event, HopTimed):
            return self._add(
                HopRecord(
                    at=event.at,
                    session=event.session,
                    token_index=event.token_index,
                    hop=event.hop,
                    start_layer=event.start_layer,
                    end_layer=event.end_layer,
                    way=event.way,
                    total_ms=event.total_ms,
                    compute_ms=event.compute_ms,
                    queue_ms=event.queue_ms,
                    tokens=event.tokens,
                    bytes_out=event.bytes_out,
                    bytes_in=event.bytes_in,
                )
            )
        if isinstance(event, ForwardServed):
            start, end = self._own_layers()
            return self._add(
                HopRecord(
                    at=event.at,
                    session=event.session,
                    token_index=event.position + event.tokens,
                    hop=0,
                    start_layer=start,
                    end_layer=end,
                    way=None,
                    total_ms=event.compute_ms + event.queue_ms,
                    compute_ms=event.compute_ms,
                    queue_ms=event.queue_ms,
                    tokens=event.tokens,
                    bytes_out=event.bytes_out,
                    bytes_in=event.bytes_in,
                )
            )
        if isinstance(event, HopWayChanged):
            self._mark(event)
        return None

    def clear(self) -> None:
        """Forget everything, as the window's Clear does."""
        self._records.clear()
        self._tokens.clear()
        self._marks.clear()
        self.version += 1

    def since(self, at: float) -> list[HopRecord]:
        """The records not older than ``at``, oldest first."""
        found: list[HopRecord] = []
        for record in reversed(self._records):
            if record.at < at:
                break
            found.append(record)
        found.reverse()
        return found

    def last_tokens(self, count: int = MAX_TOKENS) -> list[HopRecord]:
        """All records of the newest ``count`` tokens, oldest first."""
        found: list[HopRecord] = []
        tokens: set[tuple[str, int]] = set()
        for record in reversed(self._records):
            token = (record.session, record.token_index)
            if token not in tokens:
                if len(tokens) == count:
                    break
                tokens.add(token)
            found.append(record)
        found.reverse()
        return found

    def stats(self, since: float) -> list[HopStats]:
        """Figures of each line since ``since``, in the order of the layers. Prefill is left out: it is no token."""
        return stats_of(self.since(since))

    def _add(self, record: HopRecord) -> HopRecord:
        if len(self._records) == self._records.maxlen:
            self._forget_oldest_token()
        token = (record.session, record.token_index)
        self._tokens[token] = self._tokens.get(token, 0) + 1
        self._records.append(record)
        while len(self._tokens) > self._max_tokens:
            self._forget_oldest_token()
        self.version += 1
        return record

    def _forget_oldest_token(self) -> None:
        """The oldest record goes, and with it the further hops of its token, which follow it closely."""
        oldest = self._records[0]
        token = (oldest.session, oldest.token_index)
        count = self._tokens.pop(token)
        kept: list[HopRecord] = []
        while count:
            record = self._records.popleft()
            if (record.session, record.token_index) == token:
                count -= 1
            else:
                kept.append(record)
        self._records.extendleft(reversed(kept))

    def _mark(self, event: HopWayChanged) -> None:
        kind = None
        if event.way is Way.DIRECT_AFTER_RELAY and event.hop not in self._fallen:
            kind = MarkKind.FELL_BACK
            self._fallen.add(event.hop)
        elif event.way is Way.RELAY and event.hop in self._fallen:
            kind = MarkKind.CAME_BACK
            self._fallen.discard(event.hop)
        if kind is not None:
            self._marks.append(Mark(event.at, kind, event.hop, event.reason))
            self.version += 1


def stats_of(records: Iterable[HopRecord]) -> list[HopStats]:
    """Figures of each line of ``records``, in the order of the layers; prefill is left out."""
    lines: dict[tuple[int, int], list[HopRecord]] = {}
    for record in records:
        if record.tokens == 1:
            lines.setdefault(record.line, []).append(record)
    return [_stats(line, each) for line, each in sorted(lines.items())]


def percentile(values: list[float], share: float) -> float:
    """The value below which ``share`` (0 to 1) of the sorted ``values`` lie; the nearest one, not a mean."""
    return values[min(len(values) - 1, max(0, round(share * (len(values) - 1))))]


def _stats(line: tuple[int, int], records: list[HopRecord]) -> HopStats:
    totals = sorted(record.total_ms for record in records)
    networks = sorted(record.network_ms for record in records if record.network_ms is not None)
    return HopStats(
        start_layer=line[0],
        end_layer=line[1],
        way=records[-1].way,
        count=len(records),
        last_ms=records[-1].total_ms,
        p50_ms=percentile(totals, 0.5),
        p95_ms=percentile(totals, 0.95),
        network_p50_ms=percentile(networks, 0.5) if networks else None,
        compute_p50_ms=percentile(sorted(record.compute_ms for record in records), 0.5),
    )


CSV_COLUMNS = (
    "at",
    "session",
    "token",
    "hop",
    "first_layer",
    "last_layer",
    "way",
    "total_ms",
    "network_ms",
    "compute_ms",
    "queue_ms",
    "tokens",
    "bytes_out",
    "bytes_in",
)


def to_csv(records: Iterable[HopRecord]) -> str:
    """The records as CSV with a header line; ``at`` is Unix seconds, layers are inclusive, sizes octets."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for record in records:
        network = record.network_ms
        writer.writerow(
            [
                f"{record.at:.3f}",
                record.session,
                record.token_index,
                record.hop,
                record.start_layer,
                record.end_layer - 1,
                record.way.value if record.way is not None else SERVED,
                f"{record.total_ms:.3f}",
                "" if network is None else f"{network:.3f}",
                f"{record.compute_ms:.3f}",
                f"{record.queue_ms:.3f}",
                record.tokens,
                record.bytes_out,
                record.bytes_in,
            ]
        )
    return out.getvalue()
