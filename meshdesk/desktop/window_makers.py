"""How each window is made from the app's parts; a window's code is imported when it is first opened."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from meshdesk.desktop.actions import Window
from meshdesk.desktop.window import DeskWindow

if TYPE_CHECKING:
    from meshdesk.desktop.parts import Parts


def window_makers(parts: Parts) -> Mapping[Window, Callable[[], DeskWindow]]:
    """A maker for every window there is."""

    def dashboard() -> DeskWindow:
        from meshdesk.desktop.dashboard.dashboard_window import DashboardWindow

        membership = parts.membership
        window = DashboardWindow(
            lambda: membership.status, membership.hops, membership.listen, parts.actions, parts.background
        )
        window.stays_reachable = True
        return window

    def chat() -> DeskWindow:
        from meshdesk.desktop.chat.chat_window import ChatWindow

        membership = parts.membership
        return ChatWindow(
            lambda: membership.tracker_url,
            parts.background,
            parts.actions,
            lambda: membership.status,
            membership.listen,
        )

    def logs() -> DeskWindow:
        from meshdesk.desktop.logs.log_window import LogWindow

        return LogWindow(parts.logs.ring, parts.logs.path.parent, parts.actions, parts.background)

    def settings() -> DeskWindow:
        from meshdesk.desktop.settings.settings_window import SettingsWindow

        return SettingsWindow(parts.settings, parts.background, parts.actions)

    def connection() -> DeskWindow:
        from meshdesk.desktop.connection_window import ConnectionWindow

        return ConnectionWindow(parts.findings, lambda: parts.membership.status, parts.background, parts.actions)

    def diagnostics() -> DeskWindow:
        from meshdesk.desktop.diagnostics_window import DiagnosticsWindow

        return DiagnosticsWindow(parts.collect_diagnostics, parts.actions, parts.background)

    def about() -> DeskWindow:
        from meshdesk.desktop.about_window import AboutWindow

        return AboutWindow()

    def first_run() -> DeskWindow:
        from meshdesk.desktop.first_run.first_run_window import FirstRunWindow

        return FirstRunWindow(
            parts.onboarding, parts.settings, parts.background, parts.first_run_finished, parts.first_steps
        )

    return {
        Window.DASHBOARD: dashboard,
        Window.CHAT: chat,
        Window.LOGS: logs,
        Window.SETTINGS: settings,
        Window.CONNECTION: connection,
        Window.DIAGNOSTICS: diagnostics,
        Window.ABOUT: about,
        Window.FIRST_RUN: first_run,
    }
