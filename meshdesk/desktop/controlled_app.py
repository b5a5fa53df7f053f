"""The running app as the commands of the same user control it: ``meshdesk status``, ``join``, ``logs`` and the rest."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

from meshdesk.desktop.actions import Actions, Window
from meshdesk.volunteer.control_feeds import hop_items, log_items
from meshdesk.volunteer.control_protocol import NotPossible
from meshdesk.volunteer.log_records import LogRing
from meshdesk.volunteer.membership import Membership
from meshdesk.volunteer.status import Phase

if TYPE_CHECKING:
    from meshdesk.volunteer.finding import Finding

STATUS_GAP_S = 0.2


class ControlledApp:
    """``findings`` are the doctor's, ``windows`` the open ones. ``join`` asks for a mesh where there is none."""

    def __init__(
        self,
        membership: Membership,
        ring: LogRing,
        actions: Actions,
        findings: Callable[[], AsyncIterator[Finding]],
        windows: Callable[[], list[Window]],
    ):
        self._windows = windows
        self._membership = membership
        self._ring = ring
        self._actions = actions
        self._findings = findings

    def status(self) -> dict[str, Any]:
        from meshdesk import __version__

        windows = [window.value for window in self._windows()]
        return {"role": "app", "version": __version__, "windows": windows, **self._membership.status.to_fields()}

    async def watch(self) -> AsyncIterator[dict[str, Any]]:
        changed = asyncio.Event()
        unlisten = self._membership.listen(changed.set)
        try:
            while True:
                yield self.status()
                await changed.wait()
                # A busy node changes with every token; nobody reads faster than this.
                await asyncio.sleep(STATUS_GAP_S)
                changed.clear()
        finally:
            unlisten()

    async def join(self) -> None:
        self._actions.join()
        if self._membership.tracker_url is None and not self._membership.status.practice:
            raise NotPossible("No mesh is chosen yet. Choose one in the window that is open now.")

    async def leave(self) -> None:
        self._membership.leave()

    async def pause(self, seconds: float | None) -> None:
        if self._membership.status.phase in (Phase.OFF, Phase.LEAVING):
            raise NotPossible("This computer is not in the mesh, so there is nothing to pause.")
        self._membership.pause(seconds)

    async def resume(self) -> None:
        self._membership.resume()

    async def quit(self) -> None:
        # After the answer is out: the end of the app closes this very connection.
        asyncio.get_running_loop().call_later(0.05, self._actions.quit)

    def logs(self, follow: bool) -> AsyncGenerator[dict[str, Any], None]:
        return log_items(self._ring, follow)

    def hops(self, follow: bool) -> AsyncGenerator[dict[str, Any], None]:
        return hop_items(self._membership.hops, follow)

    async def doctor(self) -> list[dict[str, Any]]:
        return [finding.to_fields() async for finding in self._findings()]

    def show(self, window: str) -> None:
        names = {each.value: each for each in Window}
        self._actions.show(names.get(window, Window.DASHBOARD))
