"""The parts of the running app, put together: settings, records, membership, control, watches and windows.

Made once the icon stands, for what is imported here takes a moment. ``open`` in order, then the ``close_``
calls and ``save`` in the order of the shutdown.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from PySide6.QtCore import qVersion

from meshdesk.desktop.actions import Actions, Window
from meshdesk.desktop.background import Background
from meshdesk.desktop.controlled_app import ControlledApp
from meshdesk.desktop.fault_notice import FaultNotices
from meshdesk.desktop.geometry_file import GeometryFile
from meshdesk.desktop.language import install_language
from meshdesk.desktop.notifications import Notifier
from meshdesk.desktop.start import StartOptions
from meshdesk.desktop.theme import theme
from meshdesk.desktop.tray import Tray
from meshdesk.desktop.window import DeskWindow
from meshdesk.desktop.window_makers import window_makers
from meshdesk.desktop.windows import Windows
from meshdesk.volunteer.address_watch import AddressWatch, Change
from meshdesk.volunteer.autostart import Autostart
from meshdesk.volunteer.control_places import app_place
from meshdesk.volunteer.control_server import ControlServer
from meshdesk.volunteer.diagnostics import LOG_LINES, Diagnostics, collect
from meshdesk.volunteer.identity import data_root
from meshdesk.volunteer.log_setup import LogStream
from meshdesk.volunteer.membership import Membership
from meshdesk.volunteer.membership_records import KeptRecords
from meshdesk.volunteer.model_place import use_folder
from meshdesk.volunteer.network import gather_network
from meshdesk.volunteer.onboarding import Onboarding, Step
from meshdesk.volunteer.pause_rules import why_paused
from meshdesk.volunteer.personal_pause import PersonalPause
from meshdesk.volunteer.power import PowerWatch
from meshdesk.volunteer.settings import Settings
from meshdesk.volunteer.settings_file import SettingsFile
from meshdesk.volunteer.status import Pause, Phase

if TYPE_CHECKING:
    from meshdesk.desktop.first_run.first_run_choice import FirstRunChoice
    from meshdesk.volunteer.finding import Finding

log = logging.getLogger(__name__)

LATE_TRAY_S = 10.0
"""How long an app that starts hidden waits for the desktop's tray before it shows itself in the task bar."""


class Parts:
    """Everything behind the icon. The attributes are there after ``open``."""

    settings: SettingsFile
    membership: Membership
    windows: Windows
    onboarding: Onboarding
    first_steps: tuple[Step, ...]
    """What the first run has not asked yet; all of it at the very first start, later what is new."""

    def __init__(self, actions: Actions, background: Background, tray: Tray, logs: LogStream):
        self.actions = actions
        self.background = background
        self.tray = tray
        self.logs = logs
        self._geometries = GeometryFile(data_root() / "windows.json")
        self._power = PowerWatch()
        self._control: ControlServer | None = None
        self._watch: AddressWatch | None = None
        self._notifier: Notifier | None = None
        self._faults: FaultNotices | None = None

    async def open(self, options: StartOptions) -> None:
        """Read what is kept, start what runs, show what is to be shown."""
        self.logs.attach_loop(asyncio.get_running_loop())
        self.settings = await asyncio.to_thread(SettingsFile, data_root() / "settings.json")
        await asyncio.to_thread(self._geometries.load)
        self.onboarding = await asyncio.to_thread(Onboarding)
        self.first_steps = await asyncio.to_thread(self.onboarding.remaining)
        self._pause = await asyncio.to_thread(PersonalPause)
        records = KeptRecords(data_root(), self._pause)
        await records.load()
        # Before the membership listens: a node that starts anew must find the new folder.
        self.settings.listen(self._settings_changed)
        self._apply(self.settings.settings)
        self.membership = Membership(self.settings, records, self._why_paused)
        self.membership.start()
        self.windows = Windows(window_makers(self))
        self._prepare_windows()
        self._control = ControlServer(
            ControlledApp(self.membership, self.logs.ring, self.actions, self.findings, self.windows.visible),
            app_place(),
        )
        try:
            await self._control.start()
        except Exception as error:
            # The app works without its command-line twin; a second start could then not raise its window.
            log.error("commands cannot be taken: %s", error)
        self._watch = AddressWatch(self._network_changed)
        self._watch.start()
        self._notifier = Notifier(
            lambda: self.membership.status,
            self.membership.listen,
            self.tray,
            lambda: self.settings.settings.notifications,
        )
        self._faults = FaultNotices(self.logs.listen_to_faults, self.actions)
        self._begin(options)

    def join(self) -> None:
        """Join the mesh of the settings; the first-run window where none is chosen yet."""
        if not self.settings.settings.tracker and not self.membership.status.practice:
            self.windows.show(Window.FIRST_RUN)
        else:
            self.membership.join()

    def first_run_finished(self, choice: FirstRunChoice) -> None:
        """Take over what the first run chose, and join."""
        self.settings.change(**choice.settings)
        if choice.autostart:
            self.background.start(asyncio.to_thread(Autostart().set, True), "autostart")
        self.windows.show(Window.DASHBOARD)
        # Not in this call, which comes from the window itself.
        asyncio.get_running_loop().call_soon(self.windows.forget, Window.FIRST_RUN)
        if choice.join and choice.practice:
            self.membership.practise()
        elif choice.join:
            self.membership.join()

    async def findings(self) -> AsyncIterator[Finding]:
        """The doctor's findings with the present settings, one by one as they come."""
        from meshdesk.volunteer.checks import check_everything

        port, status = self.membership.port, self.membership.status
        found = check_everything(
            self.membership.tracker_url,
            self.membership.relay_url,
            port=port or self.settings.settings.port,
            port_is_ours=port is not None,
            direct=status.direct if status.phase is Phase.SERVING else None,
            connection_first=True,
        )
        async with contextlib.aclosing(found) as findings:
            async for finding in findings:
                yield finding

    async def collect_diagnostics(self) -> Diagnostics:
        """What an export of diagnostics would hold, the doctor's findings of this moment included."""
        findings = [finding async for finding in self.findings()]
        network = await gather_network(self.membership.tracker_url)
        return await asyncio.to_thread(
            collect,
            settings=self.settings.settings.model_dump(mode="json"),
            status=self.membership.status.to_fields(),
            lines=self.logs.ring.newest(LOG_LINES),
            findings=findings,
            network=repr(network),
            qt_version=qVersion(),
        )

    async def close_doors(self) -> None:
        """No commands, no news from the network, no notifications."""
        if self._control is not None:
            await self._control.close()
        if self._watch is not None:
            await self._watch.close()
        if self._notifier is not None:
            self._notifier.close()
        if self._faults is not None:
            self._faults.close()

    async def close_engine(self) -> None:
        if hasattr(self, "membership"):
            await self.membership.close()

    async def save(self) -> None:
        """What is only written now and then."""
        if hasattr(self, "settings"):
            await self.settings.saved()
        if hasattr(self, "membership"):
            await self._pause.saved()
        await asyncio.to_thread(self._geometries.save)

    def close_windows(self) -> None:
        if hasattr(self, "windows"):
            self.windows.close()

    def _begin(self, options: StartOptions) -> None:
        settings = self.settings.settings
        if options.practice:
            self.membership.practise()
        elif settings.start_joined and settings.tracker and self._pause.current() is None:
            # A pause of the last run goes on; joining would lift it.
            self.membership.join()
        first = bool(self.first_steps) and not options.practice
        if first and not options.background:
            self.windows.show(Window.FIRST_RUN)
        elif not options.background:
            self.windows.show(Window.DASHBOARD)
        elif not self.tray.available:
            # Started hidden where no icon shows: the window is the only way to the app. An icon may come later.
            asyncio.get_running_loop().call_later(LATE_TRAY_S, self._show_if_no_tray)

    def _show_if_no_tray(self) -> None:
        if not self.tray.available and not self.windows.visible():
            self.windows.get(Window.DASHBOARD).showMinimized()

    def _prepare_windows(self) -> None:
        DeskWindow.geometries = self._geometries
        DeskWindow.may_hide = staticmethod(lambda: self.tray.available)
        DeskWindow.closed_to_tray = staticmethod(self._closed_to_tray)

    def _closed_to_tray(self) -> None:
        if self._notifier is not None and self.tray.available:
            self._notifier.still_running()

    def _settings_changed(self, names: frozenset[str]) -> None:
        settings = self.settings.settings
        if "models_folder" in names:
            use_folder(settings.models_folder)
        if "theme" in names:
            theme().choose(settings.theme)
        if "log_level" in names:
            self.logs.set_level(settings.log_level)
        if "language" in names:
            self._change_language(settings.language)

    def _apply(self, settings: Settings) -> None:
        use_folder(settings.models_folder)
        theme().choose(settings.theme)
        self.logs.set_level(settings.log_level)

    def _change_language(self, choice: str) -> None:
        """Windows that are open are made anew in the new language, where they were."""
        install_language(choice)
        # Not in this call: the window that changed the setting is among them.
        asyncio.get_running_loop().call_soon(self._remake_windows)

    def _remake_windows(self) -> None:
        # The settings last, at the language: that is where the person was.
        visible = sorted(self.windows.visible(), key=lambda window: window is Window.SETTINGS)
        self.windows.close()
        for window in visible:
            self.windows.show(window, "language" if window is Window.SETTINGS else "")
        self.tray.refresh()

    def _network_changed(self, change: Change) -> None:
        log.info("the network or the clock changed: %s", change)
        self.membership.reconnect(change.value)

    async def _why_paused(self, settings: Settings) -> Pause | None:
        used = self.membership.records.totals.this_month
        facts = await self._power.facts(used.bytes_in + used.bytes_out, processor=settings.pause_when_busy_percent > 0)
        return why_paused(settings, facts, time.time())
