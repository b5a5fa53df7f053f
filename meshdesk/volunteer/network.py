"""How this computer hangs in the network: its addresses and their kinds, WSL2, VPNs, proxies.

``gather_network`` looks, beside the loop; ``why_not_direct`` judges, and is pure. What a person reads
about it is made in ``direct_words``.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import urlsplit

from meshdesk.volunteer.proxies import find_proxies
from meshdesk.volunteer.status import DirectFacts, WhyNotDirect
from meshdesk.volunteer.urls import address_towards, is_loopback
from meshdesk.volunteer.wsl import WslMode, find_wsl

GATHER_S = 8.0
MAX_ADDRESSES = 64
MIRRORED = "WSL2 in mirrored mode"
"""The detail of a FIREWALL that is Hyper-V's."""
_CGNAT = ipaddress.ip_network("100.64.0.0/10")
_VPN = re.compile(r"^(tun|tap|wg|ppp|utun|ipsec|zt|tailscale|nordlynx|proton)|vpn|wireguard|tailscale|zerotier", re.I)
_VIRTUAL = re.compile(r"^(docker|br-|veth|virbr|vboxnet|vmnet|cni|flannel|lxc|lxd|podman)|virtualbox|vmware", re.I)


class AddressKind(StrEnum):
    """Who can dial an address."""

    LOOPBACK = "loopback"
    LINK_LOCAL = "link-local"
    PRIVATE = "private"
    """Of a home or office network; for IPv6 a unique local address."""
    CGNAT = "cgnat"
    """Shared by many customers of a provider (100.64/10)."""
    PUBLIC = "public"


@dataclass(frozen=True, slots=True)
class OwnAddress:
    """One address of one interface that is up."""

    interface: str
    address: str
    kind: AddressKind
    vpn: bool = False
    """The interface's name looks like a VPN's."""
    virtual: bool = False
    """The interface leads to containers or virtual machines of this computer only."""


@dataclass(frozen=True, slots=True)
class NetworkFacts:
    """What was found. ``towards_tracker`` is the own address on the way to the tracker, "" if there is no way."""

    addresses: tuple[OwnAddress, ...] = ()
    wsl: WslMode = WslMode.NOT_WSL
    towards_tracker: str = ""
    tracker_nearby: bool = False
    """The tracker's host is given by an address of this computer or of a private network."""
    proxies: Mapping[str, str] = field(default_factory=dict)

    def of(self, address: str) -> OwnAddress | None:
        """The own interface that has ``address``."""
        return next((own for own in self.addresses if own.address == address), None)


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What the tracker met when it dialled this node back; ``reachable`` None: it did not try.

    ``reason`` is the tracker's word: reachable, refused, timed-out, unreachable, not-this-node, no-endpoint, busy.
    """

    reachable: bool | None
    reason: str = ""


def kind_of(address: str) -> AddressKind:
    """The kind of an IP address, which may carry a scope. ValueError if it is none."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped
    if ip.is_loopback:
        return AddressKind.LOOPBACK
    if ip.is_link_local:
        return AddressKind.LINK_LOCAL
    if isinstance(ip, ipaddress.IPv4Address) and ip in _CGNAT:
        return AddressKind.CGNAT
    return AddressKind.PUBLIC if ip.is_global else AddressKind.PRIVATE


async def gather_network(tracker_url: str | None) -> NetworkFacts:
    """Look at this computer without holding up the loop; empty facts if that takes longer than GATHER_S."""
    try:
        async with asyncio.timeout(GATHER_S):
            return await asyncio.to_thread(look_at_network, tracker_url)
    except TimeoutError:
        return NetworkFacts()


def look_at_network(tracker_url: str | None) -> NetworkFacts:
    """Look at this computer; blocks, mostly for the tracker's name. Sends nothing but that question."""
    addresses = own_addresses()
    eth0 = next((own.address for own in addresses if own.interface == "eth0" and ":" not in own.address), None)
    towards = address_towards(tracker_url) if tracker_url else None
    return NetworkFacts(
        addresses=addresses,
        wsl=find_wsl(eth0),
        towards_tracker=towards or "",
        tracker_nearby=bool(tracker_url) and is_nearby(tracker_url or ""),
        proxies=find_proxies(),
    )


def own_addresses() -> tuple[OwnAddress, ...]:
    """The IP addresses of all interfaces that are up, in the system's order. Blocks shortly."""
    import socket

    import psutil

    states = psutil.net_if_stats()
    found = []
    for interface, entries in psutil.net_if_addrs().items():
        if interface in states and not states[interface].isup:
            continue
        vpn, virtual = bool(_VPN.search(interface)), is_virtual(interface)
        for entry in entries:
            if entry.family in (socket.AF_INET, socket.AF_INET6):
                address = entry.address.partition("%")[0]
                found.append(OwnAddress(interface, address, kind_of(address), vpn, virtual))
    return tuple(found[:MAX_ADDRESSES])


def is_virtual(interface: str) -> bool:
    """Whether an interface leads to containers or virtual machines of this computer only, by its name."""
    return bool(_VIRTUAL.search(interface))


def is_nearby(url: str) -> bool:
    """Whether the host of ``url`` is given as this computer or as an address that only a local network knows."""
    if is_loopback(url):
        return True
    host = urlsplit(url).hostname or ""
    try:
        return kind_of(host) is not AddressKind.PUBLIC
    except ValueError:
        return host.endswith(".local")


def why_not_direct(
    facts: NetworkFacts, *, direct_hops: bool, endpoint: str | None, tracker_probe: ProbeResult | None
) -> DirectFacts:
    """Whether peers can dial this node, and if not why, from its addresses and from what the tracker met.

    ``endpoint`` is the base URL that is told to others. The tracker's word goes before all guesses; only
    where it has not tried is the kind of the address judged alone, with ``reachable`` None.
    """
    if not direct_hops:
        return DirectFacts(False, WhyNotDirect.SWITCHED_OFF)
    if not endpoint:
        behind_nat = facts.wsl is WslMode.NAT
        return DirectFacts(False, WhyNotDirect.WSL2_NAT if behind_nat else WhyNotDirect.NO_ADDRESS)
    reachable = tracker_probe.reachable if tracker_probe is not None else None
    reason = tracker_probe.reason if tracker_probe is not None else ""
    if is_loopback(endpoint):
        return DirectFacts(reachable, WhyNotDirect.LOOPBACK, endpoint)
    if reachable:
        return DirectFacts(True, WhyNotDirect.REACHABLE, endpoint)
    why, detail = _suspect(facts, urlsplit(endpoint).hostname or "", reason if reachable is False else "")
    return DirectFacts(reachable, why, endpoint, detail)


def _suspect(facts: NetworkFacts, host: str, failed: str) -> tuple[WhyNotDirect, str]:
    """The likely cause, and a detail; ``failed`` is how the tracker's dial failed, "" before it has tried."""
    try:
        kind = kind_of(host)
    except ValueError:
        # A name that the person gave stands for an address that others see.
        return (WhyNotDirect.FIREWALL, failed) if failed else (WhyNotDirect.UNKNOWN, "")
    own = facts.of(host)
    if facts.wsl is WslMode.NAT and kind is AddressKind.PRIVATE:
        return WhyNotDirect.WSL2_NAT, host
    if kind is AddressKind.LINK_LOCAL:
        return WhyNotDirect.NO_ADDRESS, host
    if kind is AddressKind.CGNAT and not (own is not None and own.vpn):
        return WhyNotDirect.CGNAT, host
    if kind is AddressKind.PUBLIC or facts.tracker_nearby or (own is not None and own.vpn):
        if not failed:
            return WhyNotDirect.UNKNOWN, ""
        if failed in ("refused", "timed-out") or kind is AddressKind.PUBLIC:
            return WhyNotDirect.FIREWALL, MIRRORED if facts.wsl is WslMode.MIRRORED else failed
    return WhyNotDirect.PRIVATE, host
