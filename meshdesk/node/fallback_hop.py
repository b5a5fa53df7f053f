"""One seam as the head uses it: by relay where there is one, the same request direct when that fails."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import Protocol

from meshdesk.node.direct_hop import DirectHop
from meshdesk.node.events import HopFailed, HopWayChanged, Way
from meshdesk.node.hop import HopAnswer, HopRequest, HopUnavailable
from meshdesk.node.relay_hop import RelayHop
from meshdesk.node.way_policy import WayPolicy

log = logging.getLogger(__name__)


class ReportFailure(Protocol):
    def __call__(self, way: Way, reason: str, *, fallback: bool) -> None: ...


Publish = Callable[[HopFailed | HopWayChanged], None]


class FallbackHop:
    """The ways to one node for one Route Session, chosen anew for each request by WayPolicy.

    A request may be sent again by another way even if the first way delivered it: session and position
    make a forward safe to send twice.
    """

    def __init__(
        self,
        *,
        session: str,
        index: int,
        name: str,
        relay: RelayHop | None,
        direct: DirectHop | None,
        publish: Publish,
    ):
        self._session = session
        self._index = index
        self._name = name
        self._relay = relay
        self._direct = direct
        self._publish = publish
        self._policy = WayPolicy(has_relay=relay is not None, has_direct=direct is not None)
        self._redial: asyncio.Task[None] | None = None
        self._way: Way | None = None
        self.warnings: list[str] = []
        """One sentence for each outage of the relay so far."""

    async def request(self, request: HopRequest) -> tuple[Way, HopAnswer]:
        """The node's answer and the way it came; HopUnavailable, naming each way's reason, if none works."""
        return await self._request(request, self._failed)

    async def say_goodbye(self, request: HopRequest) -> None:
        """Send a last request whose failure concerns nobody any more, so it is not reported."""
        await self._request(request, lambda way, reason, *, fallback: None)

    async def _request(self, request: HopRequest, failed: ReportFailure) -> tuple[Way, HopAnswer]:
        reasons: list[str] = []
        delivered: bool | None = False
        ways = self._ways_now()
        for number, way in enumerate(ways):
            hop = self._relay if way is Way.RELAY else self._direct
            assert hop is not None, "the policy only names ways that exist"
            try:
                answer = await hop.request(request)
            except HopUnavailable as error:
                reasons.append(error.message)
                delivered = delivered if error.delivered is False else None
                failed(way, error.message, fallback=number + 1 < len(ways))
                continue
            self._worked(way)
            return way, answer
        raise HopUnavailable(" ".join(reasons), delivered=delivered)

    async def close(self) -> None:
        """Close the Route Session's relay socket and end the redial, if one is under way."""
        if self._redial is not None:
            self._redial.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._redial
        if self._relay is not None:
            await self._relay.close()

    def _ways_now(self) -> tuple[Way, ...]:
        ways = self._policy.ways()
        if (
            ways[0] is Way.RELAY
            and self._policy.relay_failure is not None
            and len(ways) > 1
            and self._relay is not None
            and not self._relay.connected
        ):
            # The relay's turn has come again, but a token must not wait for a dial that may time out:
            # dial beside it, and go by relay once the socket stands.
            if self._redial is None or self._redial.done():
                self._redial = asyncio.create_task(self._dial_again(self._relay), name=f"redial {self._name}")
            return ways[1:]
        return ways

    async def _dial_again(self, relay: RelayHop) -> None:
        try:
            await relay.connect()
        except HopUnavailable as error:
            self._policy.relay_failed(error.message)

    def _failed(self, way: Way, reason: str, *, fallback: bool) -> None:
        self._publish(HopFailed(session=self._session, hop=self._index, way=way, reason=reason, fallback=fallback))
        if way is Way.RELAY and self._policy.relay_failed(reason) and fallback:
            warning = f"The relay to {self._name} failed, so its activations go direct: {reason}"
            self.warnings.append(warning)
            log.warning("%s", warning)

    def _worked(self, way: Way) -> None:
        back = way is Way.RELAY and self._policy.relay_worked()
        if way is self._way:
            return
        if back:
            reason = "the relay works again"
        elif way is Way.DIRECT_AFTER_RELAY:
            reason = self._policy.relay_failure or "the relay failed"
        else:
            reason = "first choice"
        self._way = way
        self._publish(HopWayChanged(session=self._session, hop=self._index, way=way, reason=reason))
