"""Which chains of nodes hold a whole model. Pure.

A node runs all of its layers or none, so a chain joins only where one node's layers end exactly where the
next one's start: overlapping shards never follow each other.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from meshdesk.protocol.routes import MAX_HOPS, Hop
from meshdesk.tracker.registration import ModelKey, NodeRecord

MAX_CHAIN = MAX_HOPS + 1
"""The head, and as many hops after it as a route header may have."""

Layers = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Route:
    """A chain of nodes from layer 0 to the last. ``cost`` is the sum of its nodes' costs; less is better."""

    nodes: tuple[NodeRecord, ...]
    cost: float

    @property
    def head(self) -> NodeRecord:
        return self.nodes[0]

    @property
    def key(self) -> ModelKey:
        return self.head.key

    @property
    def node_ids(self) -> tuple[str, ...]:
        return tuple(node.node_id for node in self.nodes)

    def downstream(self) -> tuple[Hop, ...]:
        """The hops after the head, as ``X-Meshnet-Route`` lists them."""
        return tuple(node.as_hop() for node in self.nodes[1:])


def group(records: Iterable[NodeRecord]) -> dict[ModelKey, list[NodeRecord]]:
    """The nodes by what they must have in common to share a chat."""
    groups: dict[ModelKey, list[NodeRecord]] = defaultdict(list)
    for record in records:
        groups[record.key].append(record)
    return dict(groups)


def routes(records: Sequence[NodeRecord], cost: Callable[[NodeRecord], float], limit: int = 4) -> list[Route]:
    """At most ``limit`` chains through nodes of one group, the cheapest first.

    ``cost`` must not be negative. Of equally cheap chains the shorter comes first, then the one whose ids
    sort first, so that the result depends on nothing but the arguments.
    """
    if not records:
        return []
    _check_one_group(records)
    by_start: dict[int, list[NodeRecord]] = defaultdict(list)
    for record in records:
        by_start[record.start_layer].append(record)
    # The best chains from each layer to the end, filled from the end backwards.
    best: dict[int, list[Route]] = {records[0].key.num_layers: [Route((), 0.0)]}
    for start in sorted(by_start, reverse=True):
        chains = (
            Route((record, *rest.nodes), own + rest.cost)
            for record in by_start[start]
            for own in (cost(record),)
            for rest in best.get(record.end_layer, ())
            if len(rest.nodes) < MAX_CHAIN
        )
        best[start] = heapq.nsmallest(limit, chains, key=lambda route: (route.cost, len(route.nodes), route.node_ids))
    return best.get(0, [])


def missing_layers(records: Sequence[NodeRecord], num_layers: int) -> tuple[Layers, ...]:
    """The half-open ranges of layers that none of the nodes holds, in order."""
    gaps: list[Layers] = []
    reached = 0
    for start, end in sorted((record.start_layer, record.end_layer) for record in records):
        if start > reached:
            gaps.append((reached, start))
        reached = max(reached, end)
    if reached < num_layers:
        gaps.append((reached, num_layers))
    return tuple(gaps)


def why_no_route(records: Sequence[NodeRecord], key: ModelKey) -> tuple[str, tuple[Layers, ...]]:
    """A sentence a person can act on, and the missing layers, for a group that has no route."""
    missing = missing_layers(records, key.num_layers)
    if missing:
        return f"No node holds {name_layers(missing)} of {key.model} ({key.dtype}).", missing
    held = sorted({(record.start_layer, record.end_layer) for record in records})
    return (
        f"Every layer of {key.model} ({key.dtype}) is held, but the nodes' ranges do not meet: "
        f"they hold {name_layers(held[:20])}, and each range must start where another one ends.",
        (),
    )


def name_layers(ranges: Sequence[Layers]) -> str:
    """Half-open ranges as people read them: "layers 0–14 and 20–29"."""
    names = [str(start) if end - start == 1 else f"{start}–{end - 1}" for start, end in ranges]
    one = len(ranges) == 1 and ranges[0][1] - ranges[0][0] == 1
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{'layer' if one else 'layers'} {listed}"


def _check_one_group(records: Sequence[NodeRecord]) -> None:
    if any(record.key != records[0].key for record in records):
        raise ValueError("nodes of different models, revisions, dtypes or depths cannot share a route")
