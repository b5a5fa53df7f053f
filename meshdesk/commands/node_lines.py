"""What a running node tells: its ready line, and its events as JSON lines or as sentences."""

from __future__ import annotations

from typing import Any

from meshdesk.commands.output import Output
from meshdesk.node.events import (
    ChatFinished,
    ChatStarted,
    Event,
    HopFailed,
    HopWayChanged,
    NodeState,
    NodeStateChanged,
    RelayConnected,
    RelayLost,
    ShardLoadProgressed,
    ShardProgressed,
    Subscription,
    TokenSkipped,
    TrackerLost,
    TrackerRegistered,
    to_json,
)
from meshdesk.node.node import Node
from meshdesk.volunteer.layers import show_layers

STEP = 0.1


def ready_fields(node: Node) -> dict[str, Any]:
    """What the ready line says beside event, role and pid. Layers are half-open."""
    info = node.info
    return {
        "url": node.url,
        "node_id": node.node_id,
        "relay_addr": node.relay_addr,
        "advertise": node.config.advertise,
        "model": info.model_id,
        "model_path": str(node.config.model_path),
        "revision": info.revision,
        "start_layer": info.start_layer,
        "end_layer": info.end_layer,
        "num_layers": info.num_layers,
        "dtype": info.wire_dtype,
        "compute_dtype": info.compute_dtype,
    }


def ready_sentence(node: Node) -> str:
    info = node.info
    return (
        f"Serving layers {show_layers(info.start_layer, info.end_layer)} of {info.num_layers} of {info.model_id} "
        f"at {node.url} ({info.weight_bytes / 1e6:.0f} MB, computed in {info.compute_dtype})"
    )


async def show_events(events: Subscription, output: Output) -> None:
    """Pass events on until cancelled, the last ones included."""
    loading = _LoadingSteps()
    try:
        async for event in events:
            _show(event, output, loading)
    finally:
        for event in events.take():
            _show(event, output, loading)


class _LoadingSteps:
    """Lets a loading shard's events through at each new phase and each STEP of its octets, not at every tensor."""

    def __init__(self) -> None:
        self._phase = ""
        self._shown = 0.0

    def lets_through(self, event: ShardLoadProgressed) -> bool:
        part = event.bytes_done / event.bytes_total if event.bytes_total else 0.0
        if event.phase == self._phase and part - self._shown < STEP:
            return False
        self._phase, self._shown = event.phase, part
        return True


def _show(event: Event, output: Output, loading: _LoadingSteps) -> None:
    if isinstance(event, ShardLoadProgressed) and not loading.lets_through(event):
        return
    output.event(to_json(event))
    sentence = _sentence(event)
    if sentence is not None:
        output.say(sentence)


def _sentence(event: Event) -> str | None:
    """An event in words; None for one that comes too often, or that a person need not know."""
    match event:
        case NodeStateChanged(state=NodeState.STOPPING):
            return "Stopping …"
        case ShardProgressed(state="restarting" | "failed", reason=reason):
            return f"The model's process failed: {reason}."
        case ShardProgressed(state="ready"):
            return "The model is loaded."
        case RelayConnected(relay=relay):
            return f"Reachable by the relay {relay}."
        case RelayLost(relay=relay, reason=reason):
            return f"Lost the relay {relay}: {reason}"
        case TrackerRegistered(tracker=tracker):
            return f"Registered with the tracker {tracker}."
        case TrackerLost(reason=reason):
            return reason
        case ChatStarted(session=session, prompt_tokens=tokens, hops=hops):
            return f"Chat {session[:8]} began: {tokens} tokens over {hops} hops."
        case ChatFinished(session=session, tokens=tokens, seconds=seconds, finish_reason=how, error=error):
            return f"Chat {session[:8]} ended ({how}): {tokens} tokens in {seconds:.1f} s. {error}".rstrip()
        case HopFailed(hop=hop, way=way, reason=reason):
            return f"Hop {hop} failed by {way}: {reason}"
        case HopWayChanged(hop=hop, way=way, reason=reason):
            return f"Hop {hop} now goes {way}: {reason}"
        case TokenSkipped(attempt=attempt, error=error):
            return f"A token was skipped at try {attempt}: {error}"
    return None
