"""What a tracker is told at its start."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackerConfig:
    """One tracker's settings. Times in seconds, sizes in octets.

    ``port`` 0 takes a free one. ``allow_loopback`` lets nodes register addresses of the tracker's own
    machine: right for a mesh on one computer, and an open door to that computer's services anywhere else.
    """

    host: str = "127.0.0.1"
    port: int = 0
    allow_loopback: bool = False
    heartbeat_s: float = 15.0
    expire_after_s: float = 45.0
    """Three heartbeats missed, and a node is out of every route."""
    max_nodes: int = 10_000
    max_nodes_per_address: int = 256
    """Nodes behind one public address; a CGNAT hides many homes, so this is generous."""
    remember_secrets: int = 10_000
    remember_secret_s: float = 3600.0
    """How long an id stays its owner's after the node went silent. One that takes its leave gives it up."""
    max_chats: int = 64
    max_chat_body: int = 4 * MIB
    client_body_s: float = 30.0
    """A client that takes longer to send its question is let go."""
    client_stall_s: float = 30.0
    """A client that takes nothing of its answer for this long has gone."""
    connect_s: float = 1.5
    relay_connect_s: float = 5.0
    """To a socket that stands, with TLS and handshake."""
    silence_s: float = 60.0
    """From one sign of life of a streaming head to the next. A head that computes says so every 10 s."""
    whole_answer_s: float = 600.0
    """How long a head may take for an answer that is not streamed, which is silent until it is complete."""
    avoid_node_s: float = 30.0
    avoid_endpoint_s: float = 60.0
    avoid_relay_s: float = 10.0
    """A relay is public and somebody watches it, so a dead one is asked again soon."""
    probe_every_s: float = 20.0
    """How long the answer to a node that asks whether it can be dialled is good."""
    shutdown_s: float = 2.0
