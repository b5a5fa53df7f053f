"""In plain words: how peers reach this computer, why not directly, and what can be done about it."""

from __future__ import annotations

from meshdesk.volunteer.network import MIRRORED
from meshdesk.volunteer.status import DirectFacts, WhyNotDirect
from meshdesk.volunteer.wording import QT_TRANSLATE_NOOP, Words

NOTHING = Words("Connection", "")


def explain(direct: DirectFacts) -> tuple[Words, Words]:
    """A sentence and an advice; the advice is "" where nothing need be done."""
    match direct.why:
        case WhyNotDirect.REACHABLE:
            sentence = QT_TRANSLATE_NOOP("Connection", "Peers can dial this computer directly, at {endpoint}.")
            return sentence.format(endpoint=direct.endpoint), NOTHING
        case WhyNotDirect.SWITCHED_OFF:
            return (
                QT_TRANSLATE_NOOP(
                    "Connection",
                    "Direct hops are switched off. Peers reach you through the relay: slower, but working.",
                ),
                QT_TRANSLATE_NOOP("Connection", "To let peers dial you, switch on direct hops in Settings."),
            )
        case WhyNotDirect.LOOPBACK:
            return (
                QT_TRANSLATE_NOOP(
                    "Connection",
                    "This mesh is on this computer alone, so nobody else needs to reach it.",
                ),
                NOTHING,
            )
        case WhyNotDirect.WSL2_NAT:
            return (
                QT_TRANSLATE_NOOP(
                    "Connection",
                    "meshdesk runs in WSL2 in NAT mode, whose address means nothing outside this computer. "
                    "Peers reach you through the relay; that is normal, slower but working.",
                ),
                QT_TRANSLATE_NOOP(
                    "Connection",
                    "To be dialled directly, write networkingMode=mirrored under [wsl2] in .wslconfig, run "
                    "wsl --shutdown, and allow meshdesk's port in the Hyper-V firewall.",
                ),
            )
        case WhyNotDirect.CGNAT:
            return (
                QT_TRANSLATE_NOOP(
                    "Connection",
                    "Your provider shares one address among many customers (CGNAT), so nobody can dial yours. "
                    "Peers reach you through the relay; that is normal, slower but working.",
                ),
                QT_TRANSLATE_NOOP(
                    "Connection", "Only your provider can change that: ask for a public IPv4 address, or for IPv6."
                ),
            )
        case WhyNotDirect.PRIVATE:
            return (
                QT_TRANSLATE_NOOP(
                    "Connection",
                    "This computer has a home network's address, behind a router. Peers elsewhere reach you "
                    "through the relay; that is normal, slower but working.",
                ),
                QT_TRANSLATE_NOOP(
                    "Connection",
                    "To be dialled directly, set a fixed port in Settings, and forward it to this computer in your "
                    "router. Anybody can then try that port.",
                ),
            )
        case WhyNotDirect.NO_ADDRESS:
            return (
                QT_TRANSLATE_NOOP(
                    "Connection",
                    "This computer has no address that others could dial. Peers reach you through the relay; that is "
                    "normal, slower but working.",
                ),
                QT_TRANSLATE_NOOP("Connection", "If it should have one, look at its network connection."),
            )
        case WhyNotDirect.FIREWALL:
            return _firewall(direct)
    return (
        QT_TRANSLATE_NOOP("Connection", "Nobody has tried yet whether peers can dial this computer directly."),
        QT_TRANSLATE_NOOP("Connection", "The mesh tries it soon after you join."),
    )


def _firewall(direct: DirectFacts) -> tuple[Words, Words]:
    if direct.detail == MIRRORED:
        return (
            QT_TRANSLATE_NOOP(
                "Connection",
                "WSL2 is in mirrored mode, and the Hyper-V firewall lets nobody in at {endpoint}. Peers reach you "
                "through the relay; that is normal, slower but working.",
            ).format(endpoint=direct.endpoint),
            QT_TRANSLATE_NOOP(
                "Connection",
                "To be dialled directly, set a fixed port in Settings, and allow that one in the Hyper-V firewall.",
            ),
        )
    return (
        QT_TRANSLATE_NOOP(
            "Connection",
            "The tracker dialled {endpoint} and did not get through ({reason}). Peers reach you through the relay; "
            "that is normal, slower but working.",
        ).format(endpoint=direct.endpoint, reason=_REASONS.get(direct.detail, direct.detail or _NO_ANSWER)),
        QT_TRANSLATE_NOOP(
            "Connection",
            "To be dialled directly, allow meshdesk's port in this computer's firewall, and forward it in the router "
            "if there is one. Anybody can then try that port.",
        ),
    )


_NO_ANSWER = QT_TRANSLATE_NOOP("Connection", "no answer")
_REASONS = {
    "refused": QT_TRANSLATE_NOOP("Connection", "refused"),
    "timed-out": _NO_ANSWER,
    "unreachable": QT_TRANSLATE_NOOP("Connection", "no way there"),
    "not-this-node": QT_TRANSLATE_NOOP("Connection", "somebody else answered"),
}
