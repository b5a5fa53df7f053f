"""How this computer is connected: its relay, its tracker, and whether peers can dial it, and if not, why."""

from __future__ import annotations

from urllib.parse import urlsplit

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QLabel

from meshdesk.desktop.actions import Actions, Window
from meshdesk.desktop.amounts import UNKNOWN, ago_text, minutes_text, moment_text, ms_text
from meshdesk.desktop.dashboard.card import Card, set_text, show_text
from meshdesk.desktop.plurals import plurals
from meshdesk.desktop.spoken_words import spoken
from meshdesk.volunteer.direct_words import explain
from meshdesk.volunteer.status import DirectFacts, LinkFacts, LinkState, Phase, Status, WhyNotDirect

translate = QCoreApplication.translate


class ConnectionCard(Card):
    """A relay is a normal state and shown as one; why peers need it is behind "Why?"."""

    def __init__(self, actions: Actions):
        super().__init__(translate("ConnectionCard", "Connection"))
        self._relay = self.add_line(translate("ConnectionCard", "Relay"))
        self._tracker = self.add_line(translate("ConnectionCard", "Tracker"))
        self._direct = self.add_line(translate("ConnectionCard", "Direct"))
        self.why = self.add_link(translate("ConnectionCard", "Why?"))
        self.why.setCheckable(True)
        self.why.toggled.connect(self._unfold)
        self._reason = self.add_text("")
        self._advice = self.add_text("muted")
        self._about_relay = self.add_text("muted")
        check = self.add_link(translate("ConnectionCard", "Check"))
        check.setAccessibleName(translate("ConnectionCard", "Check my connection"))
        check.clicked.connect(lambda: actions.show(Window.CONNECTION))
        self.end()
        self._explained = DirectFacts()

    def show_status(self, status: Status, now: float) -> None:
        """Say what is true now."""
        _show_link(self._relay, status.relay, now)
        _show_link(self._tracker, status.tracker, now, brief=True)
        known = status.phase is Phase.SERVING
        set_text(self._direct, direct_text(status.direct) if known else UNKNOWN)
        self.why.setVisible(known)
        if not known:
            self.why.setChecked(False)
        self._explained = status.direct
        self._unfold(self.why.isChecked())

    def _unfold(self, unfolded: bool) -> None:
        sentence, advice = explain(self._explained) if unfolded else ("", "")
        show_text(self._reason, spoken(sentence))
        show_text(self._advice, spoken(advice))
        about = translate(
            "ConnectionCard",
            "A relay passes data on between computers that cannot dial each other. It is slower than a direct way, "
            "and works behind every router.",
        )
        show_text(self._about_relay, about if unfolded else "")


def direct_text(direct: DirectFacts) -> str:
    """Whether peers can dial this computer, and in a word or two why not."""
    if direct.reachable:
        if direct.why is WhyNotDirect.LOOPBACK:
            return translate("ConnectionCard", "on this computer only")
        return translate("ConnectionCard", "reachable")
    short = {
        WhyNotDirect.SWITCHED_OFF: translate("ConnectionCard", "switched off"),
        WhyNotDirect.LOOPBACK: translate("ConnectionCard", "on this computer only"),
        WhyNotDirect.WSL2_NAT: translate("ConnectionCard", "WSL2 NAT"),
        WhyNotDirect.CGNAT: translate("ConnectionCard", "shared address (CGNAT)"),
        WhyNotDirect.PRIVATE: translate("ConnectionCard", "private address"),
        WhyNotDirect.NO_ADDRESS: translate("ConnectionCard", "no public address"),
        WhyNotDirect.FIREWALL: translate("ConnectionCard", "firewall"),
    }.get(direct.why, "")
    if direct.reachable is None:
        return translate("ConnectionCard", "not known yet") + (f" · {short}" if short else "")
    said = translate("ConnectionCard", "not reachable")
    return f"{said} · {short}" if short else said


def host_of(address: str) -> str:
    """The host and port of an address, which is what people know it by."""
    return urlsplit(address).netloc or address


def _show_link(label: QLabel, link: LinkFacts, now: float, *, brief: bool = False) -> None:
    """``brief``: since when is left to the tooltip; activations do not pass the tracker, so it matters less."""
    text, tooltip = _link_text(link, now, brief)
    set_text(label, text, tooltip)


def _link_text(link: LinkFacts, now: float, brief: bool) -> tuple[str, str]:
    if link.state is LinkState.NONE:
        return UNKNOWN, ""
    facts = [host_of(link.address)]
    if link.state is LinkState.CONNECTED:
        if link.latency_ms is not None:
            facts.append(ms_text(link.latency_ms))
        if link.since is not None and not brief:
            facts.append(translate("ConnectionCard", "for {time}").format(time=minutes_text(now - link.since)))
        if link.reconnects:
            facts.append(plurals().reconnects(link.reconnects))
        return " · ".join(facts), moment_text(link.since)
    if link.state is LinkState.LOST:
        facts.append(translate("ConnectionCard", "lost {time}").format(time=ago_text(link.since, now)))
    else:
        facts.append(translate("ConnectionCard", "connecting"))
    if link.reason:
        facts.append(link.reason)
    return " · ".join(facts), moment_text(link.since)
