"""Where this computer stands in the mesh, as one frozen record: what tray, windows and command line show.

Everything a person is shown comes from ``Status``; nothing else may be asked. So no icon, sentence or
menu can lag behind another. Times are Unix seconds, layers half-open, sizes octets.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from meshdesk.node.events import Way


class Phase(StrEnum):
    """What the membership is doing."""

    OFF = "off"
    STARTING = "starting"
    """From Join until others can reach this node: finding the model, loading it, connecting."""
    SERVING = "serving"
    LEAVING = "leaving"
    PAUSED = "paused"
    ERROR = "error"


class Reach(StrEnum):
    """How others reach this node just now."""

    NOT_YET = "not-yet"
    """Connecting, or reconnecting after an outage."""
    RELAY = "relay"
    DIRECT = "direct"


class LinkState(StrEnum):
    """An outbound connection of the node, to its relay or its tracker."""

    NONE = "none"
    """There is no such thing in this mesh."""
    CONNECTING = "connecting"
    CONNECTED = "connected"
    LOST = "lost"


class Remedy(StrEnum):
    """The one thing a person can do about a problem; a window makes a button of it."""

    RETRY = "retry"
    SETTINGS = "settings"
    LOGS = "logs"


class PauseCause(StrEnum):
    """Why a paused node does not serve. All but the first name a setting."""

    PERSON = "person"
    BATTERY = "battery"
    SCHEDULE = "schedule"
    BUSY = "busy"
    QUOTA = "quota"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a start is. ``total`` 0: nobody knows; speed and time left None: not known yet."""

    step: str
    """``finding``, ``downloading``, ``preparing``, ``loading``, ``warming`` or ``connecting``."""
    detail: str = ""
    done: int = 0
    total: int = 0
    bytes_per_s: float | None = None
    seconds_left: float | None = None

    @property
    def fraction(self) -> float | None:
        """0.0 to 1.0, or None while nobody knows."""
        return min(1.0, self.done / self.total) if self.total > 0 else None


@dataclass(frozen=True, slots=True)
class Problem:
    """Why the node cannot serve: what happened, and the one thing to do."""

    message: str
    hint: str = ""
    code: str = ""
    remedy: Remedy = Remedy.RETRY


@dataclass(frozen=True, slots=True)
class Pause:
    """``until`` None: until the person resumes, or until the named setting's condition passes.

    ``setting`` is the name of the field of Settings that, if changed, lifts the pause; "" for a person's own pause.
    """

    cause: PauseCause
    until: float | None = None
    setting: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ShardFacts:
    """The shard that is, or is about to be, served."""

    model: str
    start_layer: int
    end_layer: int
    num_layers: int
    weight_bytes: int = 0
    compute_dtype: str = ""
    device: str = "CPU"
    memory_bytes: int | None = None
    """Resident memory of the shard's child process; None while there is none."""
    kv_bytes: int = 0
    chosen: str = ""
    """Why these layers, in a sentence; "" where the person fixed them."""


@dataclass(frozen=True, slots=True)
class LinkFacts:
    """The connection to a relay or a tracker. ``since`` is when it reached its present state."""

    address: str = ""
    state: LinkState = LinkState.NONE
    since: float | None = None
    reconnects: int = 0
    latency_ms: float | None = None
    reason: str = ""
    """Why it was lost, or why it is not connected yet."""


class WhyNotDirect(StrEnum):
    """Why peers cannot dial this node; the window has a sentence and an advice for each."""

    UNKNOWN = "unknown"
    REACHABLE = "reachable"
    SWITCHED_OFF = "switched-off"
    LOOPBACK = "loopback"
    """Only programs of this computer can, which is all there are in a practice mesh."""
    WSL2_NAT = "wsl2-nat"
    CGNAT = "cgnat"
    PRIVATE = "private-address"
    NO_ADDRESS = "no-address"
    FIREWALL = "firewall"
    """The address is a public one, and the tracker's dial was refused or not answered."""


@dataclass(frozen=True, slots=True)
class DirectFacts:
    """Whether peers can dial this node without a relay. ``reachable`` None: nobody has tried yet."""

    reachable: bool | None = None
    why: WhyNotDirect = WhyNotDirect.UNKNOWN
    endpoint: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RouteStop:
    """One node of a route through the mesh, in the order of the layers."""

    name: str
    start_layer: int
    end_layer: int
    mine: bool = False
    way: Way | None = None
    """How activations come to it: of the seam before it. None for the head, and where this node cannot know."""
    via: str = ""
    """The relay's host for a relayed seam."""
    latency_ms: float | None = None
    """The seam's last round trip without compute and queue; None while there is none."""
    compute_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """What this computer has done for others over some time."""

    chats: int = 0
    tokens: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    seconds: float = 0.0

    def __add__(self, other: Given) -> Given:
        return Given(*(getattr(self, each.name) + getattr(other, each.name) for each in dataclasses.fields(Given)))


@dataclass(frozen=True, slots=True)
class Status:
    """One moment of this computer's membership."""

    phase: Phase = Phase.OFF
    since: float = 0.0
    """When the present phase began."""
    reach: Reach = Reach.NOT_YET
    reconnecting_since: float | None = None
    """Set while a serving node has lost the only way by which others reach it."""
    progress: Progress | None = None
    problem: Problem | None = None
    pause: Pause | None = None
    shard: ShardFacts | None = None
    relay: LinkFacts = field(default_factory=LinkFacts)
    tracker: LinkFacts = field(default_factory=LinkFacts)
    direct: DirectFacts = field(default_factory=DirectFacts)
    route: tuple[RouteStop, ...] = ()
    practice: bool = False
    """The mesh is one that this app started on this computer to try things out."""
    joined_at: float | None = None
    """When this node began to serve; kept over outages."""
    chats_now: int = 0
    """Route Sessions that run through this node now."""
    tokens_per_s: float | None = None
    """Of the last seconds; None while nothing is computed."""
    today: Given = field(default_factory=Given)
    in_all: Given = field(default_factory=Given)

    def to_fields(self) -> dict[str, Any]:
        """The status as JSON fields, for ``meshdesk status --json``."""
        return dataclasses.asdict(self)
