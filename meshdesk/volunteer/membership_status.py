"""The status put together from what a membership knows: nothing is remembered here, nothing decided."""

from __future__ import annotations

import time

from meshdesk.volunteer.membership_records import KeptRecords
from meshdesk.volunteer.mesh_view import likely_route, route_of_hops, short_id
from meshdesk.volunteer.network import ProbeResult, why_not_direct
from meshdesk.volunteer.node_run import NodeRun
from meshdesk.volunteer.practice_mesh import PracticeMesh
from meshdesk.volunteer.status import (
    DirectFacts,
    LinkFacts,
    LinkState,
    Pause,
    Phase,
    Problem,
    Progress,
    Reach,
    RouteStop,
    ShardFacts,
    Status,
)

HEADED_S = 60.0
"""How long the route of the last chat that this node headed is shown as the route."""


def describe(
    phase: Phase,
    since: float,
    run: NodeRun | None,
    problem: Problem | None,
    pause: Pause | None,
    records: KeptRecords,
    practice: PracticeMesh | None,
) -> Status:
    """This moment's status; ``run`` is None while there is no node, not even one that starts."""
    now = time.time()
    totals = records.totals
    facts = run.facts if run is not None else None
    relay, tracker = (facts.relay, facts.tracker) if facts is not None else (LinkFacts(), LinkFacts())
    direct = _direct(run)
    reach = _reach(relay, tracker, direct) if phase is Phase.SERVING else Reach.NOT_YET
    return Status(
        phase=phase,
        since=since,
        reach=reach,
        reconnecting_since=_reconnecting_since(phase, reach, relay, tracker),
        progress=_progress(run) if phase is Phase.STARTING else None,
        problem=problem,
        pause=pause if phase is not Phase.OFF else None,
        shard=_shard(run),
        relay=relay,
        tracker=tracker,
        direct=direct,
        route=_route(run, now) if run is not None else (),
        practice=practice is not None,
        joined_at=run.joined_at if run is not None else None,
        chats_now=totals.sessions_now(now),
        tokens_per_s=facts.tokens_per_s() if facts is not None else None,
        today=totals.today,
        in_all=totals.in_all,
    )


def _progress(run: NodeRun | None) -> Progress | None:
    if run is None:
        return None
    if run.facts is not None and run.node is not None and run.facts.progress is not None:
        return run.facts.progress if run.node.state == "starting" else None
    return run.progress


def _shard(run: NodeRun | None) -> ShardFacts | None:
    if run is None or run.plan is None:
        return None
    plan, stats = run.plan, run.stats
    info = run.node.info if run.node is not None and run.joined_at is not None else None
    return ShardFacts(
        model=plan.model,
        start_layer=plan.config.start_layer or 0,
        end_layer=plan.config.end_layer or plan.num_layers,
        num_layers=plan.num_layers,
        weight_bytes=info.weight_bytes if info else plan.weight_bytes,
        compute_dtype=info.compute_dtype if info else "",
        memory_bytes=stats.rss_bytes if stats else None,
        kv_bytes=stats.kv_bytes if stats else 0,
        chosen=plan.why,
    )


def _direct(run: NodeRun | None) -> DirectFacts:
    if run is None or run.plan is None or run.network is None or run.facts is None:
        return DirectFacts()
    probe = run.facts.probe
    endpoint = run.plan.config.advertise
    result = ProbeResult(probe.reachable, probe.reason) if probe is not None else None
    return why_not_direct(run.network, direct_hops=run.plan.direct_hops, endpoint=endpoint, tracker_probe=result)


def _reach(relay: LinkFacts, tracker: LinkFacts, direct: DirectFacts) -> Reach:
    """Peers go by relay wherever there is one, as the mesh's rule has it; else by the address that answers."""
    if relay.state is LinkState.CONNECTED:
        return Reach.RELAY
    if direct.reachable or (direct.endpoint and direct.reachable is None and tracker.state is LinkState.CONNECTED):
        return Reach.DIRECT
    return Reach.NOT_YET


def _reconnecting_since(phase: Phase, reach: Reach, relay: LinkFacts, tracker: LinkFacts) -> float | None:
    """Since when nobody new can come: no way to this node, or no tracker that tells of it."""
    if phase is not Phase.SERVING:
        return None
    down = [link.since for link in (tracker,) if link.state is not LinkState.CONNECTED and link.since is not None]
    if reach is Reach.NOT_YET and relay.since is not None and relay.state is not LinkState.NONE:
        down.append(relay.since)
    return min(down, default=None)


def _route(run: NodeRun, now: float) -> tuple[RouteStop, ...]:
    if run.plan is None or run.facts is None or run.node is None:
        return ()
    config = run.plan.config
    start, end = config.start_layer or 0, config.end_layer or run.plan.num_layers
    mine = (config.display_name or short_id(run.node.node_id), start, end)
    headed = run.facts.headed_at is not None and now - run.facts.headed_at < HEADED_S
    if headed or (start == 0 and run.facts.route):
        return run.facts.with_timings(route_of_hops(run.facts.route, run.mesh, mine))
    return likely_route(run.mesh, run.node.node_id, mine)
