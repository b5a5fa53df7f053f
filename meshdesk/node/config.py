"""What a node is told at its start."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

GIB = 1024**3


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeConfig:
    """One node's settings. Layers are half-open; both None means all of them.

    ``advertise`` is the base URL others may dial; None means the node can only be reached by relay.
    ``tracker_url`` and ``relay_url`` are base URLs (``http(s)://…``, ``ws(s)://…``).
    ``identity_secret`` proves to relay and tracker that a later registration is the same node's.
    """

    model_path: Path
    start_layer: int | None = None
    end_layer: int | None = None
    host: str = "127.0.0.1"
    port: int = 0
    advertise: str | None = None
    tracker_url: str | None = None
    relay_url: str | None = None
    dtype: Literal["auto", "bfloat16", "float32"] = "auto"
    threads: int | None = None
    kv_budget_bytes: int = GIB
    idle_seconds: float = 600.0
    model_id: str | None = None
    node_id: str | None = None
    display_name: str = ""
    """What people in the mesh see for this node; "" for its id."""
    max_bytes_per_s: int = 0
    """The most octets of activations in and out a second; 0 for no limit."""
    identity_secret: str | None = None
    accept_unproven_routes: bool = False
    """Follow any caller's route. For a mesh without a tracker, whose operator trusts every caller."""
    default_max_tokens: int = 1024
    max_chats: int = 8
    """Chats this head runs at once; further ones are told to come back."""
