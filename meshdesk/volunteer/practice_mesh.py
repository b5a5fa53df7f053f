"""A mesh to try things out, all on this computer: a relay, a tracker and a small second node as child processes."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from pathlib import Path

from meshdesk.protocol.errors import MeshdeskError
from meshdesk.shard.child_setup import compute_threads
from meshdesk.shard.model_repo import read_model_repo
from meshdesk.volunteer.child_role import Fields
from meshdesk.volunteer.demo_mesh import DemoMesh, MeshPlan, demo_mesh
from meshdesk.volunteer.layers import split_evenly
from meshdesk.volunteer.node_plan import MeshAddress

log = logging.getLogger(__name__)

NODES = 2


class PracticeMesh:
    """Started with the model at hand, for its second node holds the second half; ended with ``stop``.

    ``changed`` is called when it has started, and when it broke.
    """

    def __init__(self, changed: Callable[[], None]):
        self._changed = changed
        self._task: asyncio.Task[None] | None = None
        self._ending = asyncio.Event()
        self._ready: asyncio.Future[MeshAddress] | None = None
        self.threads = 1
        """How many threads each of its nodes computes with, this app's own included; known once it has started."""
        self.step = ""
        self.address: MeshAddress | None = None
        self.failure: MeshdeskError | None = None
        """Why it broke down; what starts it anew clears it."""

    async def start(self, model_path: Path) -> MeshAddress:
        """Start it if it does not run; where it is. Raises RoleFailed, or ModelDamaged."""
        if self._task is not None and not self._task.done() and self._ready is not None:
            return await asyncio.shield(self._ready)
        layers = split_evenly((await asyncio.to_thread(read_model_repo, model_path)).num_layers, NODES)
        self.threads = await asyncio.to_thread(lambda: max(1, compute_threads(None) // NODES))
        plan = MeshPlan(
            model_path=model_path, layers=layers[1:], by_relay=True, dtype="auto", threads=self.threads, tracker_port=0
        )
        self.failure = None
        self._ending.clear()
        self._ready = asyncio.get_running_loop().create_future()
        # Whoever started it may have gone before it is answered.
        self._ready.add_done_callback(lambda ready: ready.cancelled() or ready.exception())
        self._task = asyncio.create_task(self._run(plan, self._ready), name="practice mesh")
        return await asyncio.shield(self._ready)

    async def stop(self) -> None:
        """End its programs; harmless if it does not run."""
        self._ending.set()
        task, self._task = self._task, None
        if task is None:
            return
        if self.address is None:
            # It is still starting; the programs it has started are stopped by its own clean-up.
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        self.address = None

    async def _run(self, plan: MeshPlan, ready: asyncio.Future[MeshAddress]) -> None:
        try:
            async with demo_mesh(plan, _ignore, self._tell) as mesh:
                self.address = MeshAddress(mesh.tracker_url, mesh.relay_url or "")
                ready.set_result(self.address)
                self._tell("")
                await self._until_it_breaks(mesh)
        except MeshdeskError as error:
            self._broke(error, ready)
        except asyncio.CancelledError:
            ready.cancel()
            raise
        finally:
            self.address = None

    async def _until_it_breaks(self, mesh: DemoMesh) -> None:
        ending = asyncio.ensure_future(self._ending.wait())
        breaking = asyncio.ensure_future(mesh.failure())
        try:
            await asyncio.wait({ending, breaking}, return_when=asyncio.FIRST_COMPLETED)
            if not ending.done():
                raise breaking.result()
        finally:
            for each in (ending, breaking):
                each.cancel()
            await asyncio.gather(ending, breaking, return_exceptions=True)

    def _broke(self, error: MeshdeskError, ready: asyncio.Future[MeshAddress]) -> None:
        if not ready.done():
            # Whoever starts it is told, and nobody else.
            ready.set_exception(error)
            return
        log.error("the practice mesh broke: %s", error.message)
        self.failure = error
        self._changed()

    def _tell(self, step: str) -> None:
        self.step = step
        self._changed()


def _ignore(_: Fields) -> None:
    """The second node's events are its own; this app shows what its own node sees."""
