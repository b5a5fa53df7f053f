"""This computer's membership of a mesh: join, leave, pause, resume, and what they lead to.

One task brings what is (the node) to what is wanted (the person's word, their pause, the rules of their
settings). Calls only change what is wanted and return; ``status`` says how far it has come.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Protocol

from meshdesk.node.events import EventBus
from meshdesk.protocol.errors import MeshdeskError
from meshdesk.volunteer.membership_records import KeptRecords
from meshdesk.volunteer.membership_status import describe
from meshdesk.volunteer.node_plan import MeshAddress
from meshdesk.volunteer.node_run import NodeRun
from meshdesk.volunteer.practice_mesh import PracticeMesh
from meshdesk.volunteer.settings import Settings, info_of
from meshdesk.volunteer.status import Pause, Phase, Problem, Remedy, Status

log = logging.getLogger(__name__)

TICK_S = 1.0
"""How often pauses, rules and rates are looked at while something may change."""
RULES_S = 5.0
DRAIN_S = 30.0
SETTINGS_SETTLE_S = 0.8
"""A field that restarts the node is often one of several that are changed together."""

_SETTINGS_CODES = {"bad_usage", "no_mesh", "nothing_fits", "model_not_found", "model_unsupported", "port_in_use"}
"""Problems whose cure is a setting."""


class KeptSettings(Protocol):
    """What is needed of ``SettingsFile``."""

    @property
    def settings(self) -> Settings: ...

    def listen(self, changed: Callable[[frozenset[str]], None]) -> Callable[[], None]: ...


Rules = Callable[[Settings], Awaitable[Pause | None]]


class Membership:
    """Start with ``start``, end with ``close``; both once, on the loop. ``rules`` says why a node should not serve."""

    def __init__(self, kept: KeptSettings, records: KeptRecords, rules: Rules, bus: EventBus | None = None):
        self.bus = bus or EventBus()
        self.records = records
        self.hops = records.hops
        self.drain_s = DRAIN_S
        self._kept = kept
        self._rules = rules
        self._wanted = False
        self._practice: PracticeMesh | None = None
        self._rule_pause: Pause | None = None
        self._run: NodeRun | None = None
        self._phase = Phase.OFF
        self._since = time.time()
        self._problem: Problem | None = None
        self._listeners: list[Callable[[], None]] = []
        self._told = False
        self._wake = asyncio.Event()
        self._restart = False
        self._hasten = asyncio.Event()
        self._ended = asyncio.Event()
        """Set while no node runs."""
        self._tasks: list[asyncio.Task[None]] = []
        self._unlisten: Callable[[], None] = lambda: None

    @property
    def status(self) -> Status:
        """This moment. Cheap enough to be asked at every change."""
        return describe(self._phase, self._since, self._run, self._problem, self._pause(), self.records, self._practice)

    @property
    def tracker_url(self) -> str | None:
        """Where chats are asked; None before a mesh is chosen, and while a practice mesh still starts."""
        address = self._address()
        return address.tracker or None if address else None

    @property
    def relay_url(self) -> str | None:
        """The relay of the mesh; None where there is none."""
        address = self._address()
        return address.relay or None if address else None

    @property
    def port(self) -> int | None:
        """The port on which the node listens for direct hops; None while there is none."""
        plan = self._run.plan if self._run is not None else None
        return plan.config.port if plan is not None else None

    def listen(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Have ``changed`` called on the loop soon after each change of the status; the call to end that."""
        self._listeners.append(changed)
        return lambda: self._listeners.remove(changed)

    def start(self) -> None:
        """Begin to bring about what is wanted. A pause of an earlier run that has not ended goes on."""
        self._wanted = self.records.pause.current() is not None
        self._unlisten = self._kept.listen(self._settings_changed)
        self._tasks = [
            asyncio.create_task(self._keep(), name="membership"),
            asyncio.create_task(self._watch_rules(), name="membership rules"),
        ]

    async def close(self) -> None:
        """Leave without waiting for chats, keep the records, end every task."""
        self._unlisten()
        self._wanted = False
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._run is not None:
            await self._run.stop()
            self._run = None
        if self._practice is not None:
            await self._practice.stop()
        await self.records.save()

    def join(self) -> None:
        """Serve; lifts a person's own pause. Also what tries again after a problem."""
        self.records.pause.lift()
        self._wanted = True
        self._problem = None
        self._changed()

    def practise(self) -> None:
        """Join a mesh that is started on this computer for the purpose."""
        if self._practice is None:
            self._practice = PracticeMesh(self._practice_changed)
        self.join()

    def leave(self) -> None:
        """Stop serving once the chats under way are over, DRAIN_S at most; a second call does not wait."""
        if self._phase is Phase.LEAVING:
            self._hasten.set()
        self._wanted = False
        self._problem = None
        self.records.pause.lift()
        self._changed()

    async def leave_and_wait(self) -> None:
        """As ``leave``, for the end of the program: returns when the node is gone, and a pause stays a pause."""
        self._wanted = False
        self._changed()
        while self._run is not None:
            await self._ended.wait()

    def pause(self, seconds: float | None) -> None:
        """Stop serving for so long, or until ``resume``; outlives a restart."""
        self._wanted = True
        self.records.pause.begin(seconds)
        self._changed()

    def resume(self) -> None:
        """End a person's own pause. A rule's pause ends with its cause."""
        self.join()

    def hasten(self) -> None:
        """Do not wait for chats any longer."""
        self._hasten.set()

    def reconnect(self, reason: str) -> None:
        """Connect anew: the computer slept, or its address is another."""
        if self._run is not None:
            self._run.reconnect(reason)

    def _address(self) -> MeshAddress | None:
        if self._practice is not None:
            return self._practice.address
        settings = self._kept.settings
        return MeshAddress(settings.tracker, settings.relay)

    def _pause(self) -> Pause | None:
        """The person's own word first: it is what they remember."""
        return self.records.pause.current() or self._rule_pause

    def _changed(self) -> None:
        self._wake.set()
        self._tell()

    def _tell(self) -> None:
        """Call the listeners once in this turn of the loop, however many things changed in it."""
        if self._told:
            return
        self._told = True
        asyncio.get_running_loop().call_soon(self._tell_now)

    def _tell_now(self) -> None:
        self._told = False
        for listener in list(self._listeners):
            try:
                listener()
            except Exception:
                log.exception("a listener of the status failed")

    def _set_phase(self, phase: Phase) -> None:
        if phase is not self._phase:
            log.info("membership: %s", phase)
            self._phase, self._since = phase, time.time()
            self._tell()

    def _settings_changed(self, names: frozenset[str]) -> None:
        if any(info_of(name).restarts for name in names if name in Settings.model_fields):
            self._restart = True
            self._problem = None
        self._tasks.append(asyncio.create_task(self.watch_rules_now(), name="membership rules now"))
        self._changed()

    def _practice_changed(self) -> None:
        if self._practice is not None and self._practice.failure is not None:
            self._fail(self._practice.failure)
        self._tell()

    async def watch_rules_now(self) -> None:
        """Look at the rules for serving: the battery, the time of day and the like may have changed."""
        try:
            found = await self._rules(self._kept.settings)
        except Exception:
            log.exception("the rules for serving cannot be looked at")
            found = None
        if found != self._rule_pause:
            self._rule_pause = found
            self._changed()

    async def _watch_rules(self) -> None:
        while True:
            await self.watch_rules_now()
            await asyncio.sleep(RULES_S)

    async def _keep(self) -> None:
        """Bring the node to what is wanted, for ever."""
        while True:
            self._wake.clear()
            try:
                await self._step()
            except Exception as error:
                # Whatever is wrong with one start, the app must stay there to say so and to try again.
                log.exception("the membership has a fault")
                self._fail(MeshdeskError(f"This is a fault of meshdesk ({type(error).__name__}).", hint="See the log."))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(TICK_S if self._ticks() else None):
                    await self._wake.wait()
            if self._ticks():
                self._tell()

    def _ticks(self) -> bool:
        """Whether time alone changes something: a speed, a pause that ends. An app that is off sleeps."""
        return self._run is not None or self._pause() is not None

    async def _step(self) -> None:
        paused = self._pause() is not None
        serve = self._wanted and not paused and self._problem is None
        if self._run is not None and (not serve or self._restart or self._run.failure is not None):
            failure = self._run.failure
            await self._end_run(Phase.LEAVING if failure is None else Phase.ERROR)
            if failure is not None:
                self._fail(failure)
                return
        if serve and self._run is None:
            self._restart = False
            await self._begin_run()
        if self._run is None and self._problem is None:
            if not self._wanted and self._practice is not None:
                await self._practice.stop()
                self._practice = None
            self._set_phase(Phase.PAUSED if paused and self._wanted else Phase.OFF)

    async def _begin_run(self) -> None:
        """Start a node; a change of what is wanted in the meantime gives it up."""
        self._set_phase(Phase.STARTING)
        self._ended.clear()
        self._run = run = NodeRun(self.bus, self.records, self._tell)
        bringing_up = asyncio.create_task(
            run.start(self._kept.settings, self._practice, self._address), name="node start"
        )
        try:
            while not bringing_up.done():
                waking = asyncio.ensure_future(self._wake.wait())
                await asyncio.wait({bringing_up, waking}, timeout=TICK_S, return_when=asyncio.FIRST_COMPLETED)
                waking.cancel()
                if self._wake.is_set():
                    self._wake.clear()
                    if not self._wanted or self._pause() is not None or self._restart:
                        break
                self._tell()
        finally:
            if not bringing_up.done():
                bringing_up.cancel()
            await asyncio.wait({bringing_up})
        error = None if bringing_up.cancelled() else bringing_up.exception()
        if bringing_up.cancelled() or error is not None:
            await run.stop()
            self._gone()
            if isinstance(error, MeshdeskError):
                self._fail(error)
            elif error is not None:
                raise error
            else:
                self._wake.set()
            return
        self._set_phase(Phase.SERVING)
        run.failed.add_done_callback(lambda _: self._changed())

    async def _end_run(self, phase: Phase) -> None:
        run = self._run
        assert run is not None
        if phase is Phase.LEAVING:
            self._set_phase(Phase.LEAVING)
            self._hasten.clear()
            await run.drain(self.drain_s, self._hasten)
        await run.stop()
        self._gone()
        await self.records.save()

    def _gone(self) -> None:
        self._run = None
        self._ended.set()

    def _fail(self, error: MeshdeskError) -> None:
        remedy = Remedy.SETTINGS if error.code in _SETTINGS_CODES else Remedy.RETRY
        self._problem = Problem(error.message, error.hint or "", error.code, remedy)
        log.error("%s %s", error.message, error.hint or "")
        self._set_phase(Phase.ERROR)
        self._changed()
