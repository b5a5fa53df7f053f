"""The relay's numbers, in one place: what the hub enforces, what /health shows."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from meshdesk.protocol.envelopes import MAX_BODY_BYTES, MAX_FRAME_BYTES, MAX_HEADER_BYTES, MAX_HEADERS


@dataclass(frozen=True, slots=True)
class RelayLimits:
    """Sizes in octets, times in seconds."""

    body_bytes: int = MAX_BODY_BYTES
    frame_bytes: int = MAX_FRAME_BYTES
    headers: int = MAX_HEADERS
    header_bytes: int = MAX_HEADER_BYTES
    in_flight_per_peer: int = 32
    in_flight_per_requester: int = 8
    login_s: float = 10.0
    first_answer_s: float = 300.0
    """From the request to its answer, and again from each frame of a streamed answer to the next."""
    queue_bytes: int = 4 * 1024 * 1024
    """What may wait for one socket before another frame is refused."""
    stall_s: float = 10.0
    """A socket with something waiting that takes nothing for this long is cut."""
    bad_frames: int = 8
    """Frames that are no protocol before a socket is closed."""
    peers: int = 5000
    sockets_per_address: int = 256
    secrets: int = 20_000
    """Peers whose secret is remembered after they left, the latest of them."""
    idle_requester_s: float = 900.0

    def shown(self) -> dict[str, float]:
        return asdict(self)
