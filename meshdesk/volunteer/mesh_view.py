"""What the tracker says of the mesh: its nodes and their layers, and the way a chat takes through them."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from meshdesk.node.events import Way
from meshdesk.protocol.routes import Hop
from meshdesk.volunteer.status import RouteStop

log = logging.getLogger(__name__)

ASK_S = 5.0
MAX_ANSWER_BYTES = 8 << 20
NAME_CHARS = 32


@dataclass(frozen=True, slots=True)
class MeshNode:
    """One node as the tracker shows it. ``name`` is its owner's word, or the end of its id."""

    node_id: str
    name: str
    model: str
    revision: str
    start_layer: int
    end_layer: int
    num_layers: int
    endpoint: str | None
    relay_addr: str | None


async def ask_nodes(tracker_url: str, client: aiohttp.ClientSession) -> list[MeshNode] | None:
    """The live nodes; None if the tracker does not answer as one."""
    timeout = aiohttp.ClientTimeout(total=ASK_S)
    try:
        async with client.get(tracker_url + "/v1/nodes", timeout=timeout, allow_redirects=False) as response:
            if response.status != 200:
                return None
            fields = await response.json(content_type=None)
    except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as error:
        log.debug("the tracker at %s does not say who is there: %s", tracker_url, error)
        return None
    nodes = fields.get("nodes") if isinstance(fields, dict) else None
    if not isinstance(nodes, list):
        return None
    return [node for each in nodes if (node := _read(each)) is not None]


def _read(fields: Any) -> MeshNode | None:
    """A node of the answer; None where it makes no sense, for a tracker is a stranger's computer too."""
    try:
        start, end, layers = (int(fields[name]) for name in ("start_layer", "end_layer", "num_layers"))
        node_id, endpoint, relay_addr = str(fields["node_id"]), fields["endpoint"], fields["relay_addr"]
        name = "".join(each for each in str(fields.get("name") or "") if each.isprintable())[:NAME_CHARS].strip()
        if not 0 <= start < end <= layers:
            return None
        return MeshNode(
            node_id=node_id,
            name=name or short_id(node_id),
            model=str(fields["model"]),
            revision=str(fields["revision"]),
            start_layer=start,
            end_layer=end,
            num_layers=layers,
            endpoint=None if endpoint is None else str(endpoint),
            relay_addr=None if relay_addr is None else str(relay_addr),
        )
    except (KeyError, TypeError, ValueError):
        return None


def short_id(node_id: str) -> str:
    """What a node without a name is called: enough of its id to tell it from others."""
    return node_id[:6]


def relay_host(relay_addr: str | None) -> str:
    """The relay's host and port as people read it; "" where there is none."""
    return "" if relay_addr is None else urlsplit(relay_addr).netloc


def mesh_model(nodes: Iterable[MeshNode]) -> tuple[str, str] | None:
    """The model and revision that most nodes serve; None in an empty mesh."""
    counts: dict[tuple[str, str], int] = {}
    for node in nodes:
        counts[(node.model, node.revision)] = counts.get((node.model, node.revision), 0) + 1
    return max(counts, key=lambda key: (counts[key], key)) if counts else None


def route_of_hops(hops: Sequence[Hop], nodes: Iterable[MeshNode], mine: tuple[str, int, int]) -> tuple[RouteStop, ...]:
    """The route of a chat that this node heads: itself (name and layers), then the hops by their mesh names."""
    name, start, end = mine
    by_way = {way: node for node in nodes for way in (node.relay_addr, node.endpoint) if way is not None}
    stops = [RouteStop(name, start, end, mine=True)]
    for hop in hops:
        node = by_way.get(hop.relay_addr or "") or by_way.get(hop.endpoint or "")
        stops.append(
            RouteStop(
                node.name if node else "?",
                hop.start_layer,
                hop.end_layer,
                way=Way.RELAY if hop.relay_addr else Way.DIRECT,
                via=relay_host(hop.relay_addr),
            )
        )
    return tuple(stops)


def likely_route(nodes: Sequence[MeshNode], own_id: str, mine: tuple[str, int, int]) -> tuple[RouteStop, ...]:
    """A way through the layers that passes this node, as the tracker could choose it, as far as the mesh has nodes."""
    name, start, end = mine
    own = next((node for node in nodes if node.node_id == own_id), None)
    others = [node for node in nodes if node.node_id != own_id]
    if own is not None:
        others = [node for node in others if (node.model, node.revision) == (own.model, own.revision)]
    before: list[MeshNode] = []
    at = start
    while at > 0 and (found := next((node for node in others if node.end_layer == at), None)) is not None:
        before.insert(0, found)
        at = found.start_layer
    after: list[MeshNode] = []
    at = end
    while (found := next((node for node in others if node.start_layer == at), None)) is not None:
        after.append(found)
        at = found.end_layer
    via = relay_host(own.relay_addr) if own else ""
    mine_stop = RouteStop(name, start, end, mine=True, way=Way.RELAY if before and via else None, via=via)
    stops = [_stop(node, first=not index) for index, node in enumerate(before)]
    return (*stops, mine_stop, *(_stop(node, first=False) for node in after))


def _stop(node: MeshNode, *, first: bool) -> RouteStop:
    way = None if first else Way.RELAY if node.relay_addr else Way.DIRECT
    via = "" if first else relay_host(node.relay_addr)
    return RouteStop(node.name, node.start_layer, node.end_layer, way=way, via=via)
