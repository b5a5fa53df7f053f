"""Which route the next chat takes: load spread over replicas, failed nodes left alone for a while. Pure."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from meshdesk.tracker.avoidance import Avoided
from meshdesk.tracker.config import TrackerConfig
from meshdesk.tracker.registration import ModelKey, NodeRecord
from meshdesk.tracker.registry import Registered, Registry
from meshdesk.tracker.routing import Route, group, missing_layers, routes, why_no_route
from meshdesk.tracker.tracker_errors import NoRoute, UnknownModel

HOP_COST = 1.0
AVOIDED_COST = 1000.0
"""So much that an avoided node is taken only where no chain without it exists."""
BLAMED_COST = 100.0
"""In one chat, for nodes of a route that failed without saying where: prefer others, but not at any price."""
RECENT_COST = 0.01
"""At most this for the node chosen last, so that equals take turns."""


@dataclass(slots=True)
class Tried:
    """What one chat has learnt from its failed tries."""

    heads: set[str] = field(default_factory=set)
    """Heads that could not be reached at all; not asked again."""
    blamed: set[str] = field(default_factory=set)
    routes: set[tuple[str, ...]] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class ModelState:
    """One model of the mesh as ``/v1/models`` shows it. ``missing`` is empty if a route exists."""

    name: str
    ready: bool
    nodes: int
    since_s: float
    keys: tuple[ModelKey, ...]
    missing: tuple[tuple[int, int], ...]


class RouteChooser:
    """Chooses from the registry's live nodes, and keeps what choosing needs to know."""

    def __init__(
        self, registry: Registry, config: TrackerConfig | None = None, *, clock: Callable[[], float] = time.monotonic
    ):
        self._registry = registry
        self.avoided = Avoided((config or TrackerConfig()).avoid_node_s, clock)
        """Nodes that failed a chat lately."""
        self._chats: Counter[str] = Counter()
        self._choices = 0
        self._chosen_at: dict[str, int] = {}

    def choose(self, model: str | None, tried: Tried | None = None) -> Route:
        """The best route for ``model`` (``id`` or ``id@revision``; None: the mesh's main model) not yet tried.

        UnknownModel if no node has it, NoRoute naming the missing layers if no chain holds all of it.
        """
        tried = tried or Tried()
        live = {node.record.node_id: node for node in self._registry.live()}
        groups = group(node.record for node in live.values())
        wanted = {key: groups[key] for key in self._wanted(model, groups)}
        found: list[Route] = []
        for records in wanted.values():
            usable = [each for each in records if each.node_id not in tried.heads or each.start_layer > 0]
            found += routes(usable, lambda each: self._cost(live[each.node_id], tried), len(tried.routes) + 1)
        fresh = [route for route in found if route.node_ids not in tried.routes]
        if not fresh:
            raise self._no_route(wanted)
        route = min(fresh, key=lambda each: (each.cost, len(each.nodes), each.node_ids))
        self._choices += 1
        for node_id in route.node_ids:
            self._chosen_at[node_id] = self._choices
        if len(self._chosen_at) > 2 * len(live) + 100:
            self._chosen_at = {node_id: at for node_id, at in self._chosen_at.items() if node_id in live}
        return route

    @contextmanager
    def hold(self, route: Route) -> Iterator[None]:
        """Count a chat on every node of ``route`` while the block runs."""
        self._chats.update(route.node_ids)
        try:
            yield
        finally:
            self._chats.subtract(route.node_ids)
            for node_id in route.node_ids:
                if self._chats[node_id] <= 0:
                    del self._chats[node_id]

    def chats(self, node_id: str) -> int:
        """Chats of this tracker that run through the node now."""
        return self._chats[node_id]

    def models(self) -> list[ModelState]:
        """Every model that some node holds a part of, by name; revisions and dtypes together."""
        live = {node.record.node_id: node for node in self._registry.live()}
        by_name: dict[str, list[tuple[ModelKey, list[NodeRecord]]]] = {}
        for key, records in group(node.record for node in live.values()).items():
            by_name.setdefault(key.model, []).append((key, records))
        states = []
        for name, listed in sorted(by_name.items()):
            ready = [(key, records) for key, records in listed if routes(records, lambda _: HOP_COST, 1)]
            shown_key, shown = max(ready or listed, key=_completeness)
            nodes = [live[record.node_id] for _, records in listed for record in records]
            states.append(
                ModelState(
                    name=name,
                    ready=bool(ready),
                    nodes=len(nodes),
                    since_s=max(self._registry.age_s(node) for node in nodes),
                    keys=tuple(sorted(key for key, _ in listed)),
                    missing=missing_layers(shown, shown_key.num_layers),
                )
            )
        return states

    def _wanted(self, model: str | None, groups: dict[ModelKey, list[NodeRecord]]) -> list[ModelKey]:
        if model is None:
            if not groups:
                raise NoRoute("No node has joined this mesh yet.", hint="Start one with: meshdesk node")
            complete = {key: records for key, records in groups.items() if routes(records, lambda _: HOP_COST, 1)}
            model = max((complete or groups).items(), key=_completeness)[0].model
        wanted = [key for key in groups if model in (key.model, key.model_at_revision)]
        if not wanted:
            known = ", ".join(sorted({key.model for key in groups})[:10])
            raise UnknownModel(
                f"The model {model!r} is not in this mesh.",
                hint=f"It has: {known}." if known else "No node has joined it yet.",
            )
        return wanted

    def _no_route(self, wanted: dict[ModelKey, list[NodeRecord]]) -> NoRoute:
        key, records = max(wanted.items(), key=_completeness)
        sentence, missing = why_no_route(records, key)
        return NoRoute(sentence, missing, hint="The chat can go on as soon as a node with these layers joins.")

    def _cost(self, node: Registered, tried: Tried) -> float:
        node_id = node.record.node_id
        # What a node reports counts other trackers' chats too, but is one heartbeat old.
        cost = HOP_COST + max(node.load, self._chats[node_id])
        cost += RECENT_COST * self._chosen_at.get(node_id, 0) / (self._choices + 1)
        if node_id in tried.blamed:
            cost += BLAMED_COST
        if self.avoided.why(node_id) is not None:
            cost += AVOIDED_COST
        return cost


def _completeness(group_of_nodes: tuple[ModelKey, list[NodeRecord]]) -> tuple[int, int, ModelKey]:
    """Fewest missing layers first, then most nodes; the key makes it certain."""
    key, records = group_of_nodes
    missing = sum(end - start for start, end in missing_layers(records, key.num_layers))
    return (-missing, len(records), key)
