"""One seam's way to the next node: what goes in, what comes out, and how it can fail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from meshdesk.node.events import Way
from meshdesk.protocol.errors import MeshdeskError

CONNECT_TIMEOUT_S = 2.0
BASE_DEADLINE_S = 60.0
DEADLINE_PER_TOKEN_S = 0.25


class HopUnavailable(MeshdeskError):
    """This way to the node does not work now; another way, or a later try, may."""

    code = "hop_unavailable"
    status = 502


@dataclass(frozen=True, slots=True)
class HopRequest:
    """One HTTP request for the next node, with the seconds it may take."""

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    deadline_s: float = BASE_DEADLINE_S


@dataclass(frozen=True, slots=True)
class HopAnswer:
    """The node's own answer, whatever its status; header names are lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Hop(Protocol):
    """A way to one node for one Route Session, used for one request at a time."""

    way: Way

    async def request(self, request: HopRequest) -> HopAnswer:
        """Send it and wait for the node's answer; HopUnavailable if this way fails."""

    async def close(self) -> None:
        """Give up what is held for the Route Session."""


def forward_deadline(tokens: int) -> float:
    """Seconds a forward of ``tokens`` tokens may take: a long prompt on a slow machine is no fault."""
    return BASE_DEADLINE_S + DEADLINE_PER_TOKEN_S * tokens
