"""Which addresses a node may have handed out to others. Nothing here touches the network.

A registration comes from a stranger, and whatever address it names is dialled by the tracker and by
heads in other people's homes. So addresses that mean something else to whoever dials them (loopback,
link-local, a cloud's metadata service …) are refused. Private networks (10.x, 172.29.x …) are allowed:
two nodes at one home reach each other there, and elsewhere the dial costs one short timeout.

Host names are judged by their spelling at registration, and by what they resolve to when the tracker
dials them (``dialling.py``); a name that is good today can point elsewhere tomorrow.
"""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import SplitResult, urlsplit

from meshdesk.tracker.tracker_errors import EndpointRefused

MAX_URL_CHARS = 512
_IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
_LABEL = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0[xX][0-9a-fA-F]*")
_RPC_PATH = re.compile(r"(/[A-Za-z0-9._~-]{1,64}){0,8}/rpc/[A-Za-z0-9_-]{1,64}")
_LOOPBACK_NAMES = ("localhost", "ip6-localhost", "ip6-loopback", "localhost.localdomain")
_METADATA_NAMES = ("metadata", "metadata.google.internal", "instance-data", "instance-data.ec2.internal")
# The clouds' metadata services that are not link-local already.
_METADATA = frozenset(
    ipaddress.ip_address(each)
    for each in ("100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254")
)
# IPv6 ranges that carry an IPv4 address, and where in them it sits: bits from the right.
_CARRIES_IPV4 = (
    (ipaddress.IPv6Network("::ffff:0:0/96"), 0),
    (ipaddress.IPv6Network("::ffff:0:0:0/96"), 0),
    (ipaddress.IPv6Network("64:ff9b::/96"), 0),
    (ipaddress.IPv6Network("64:ff9b:1::/48"), 0),
    (ipaddress.IPv6Network("2002::/16"), 80),
)


def check_endpoint(endpoint: str, *, allow_loopback: bool) -> str:
    """A node's HTTP base URL without a trailing slash; EndpointRefused with the reason if it may not be used."""
    parts = _split("endpoint", endpoint, ("http", "https"))
    if parts.path not in ("", "/"):
        raise EndpointRefused("The endpoint must be a base URL such as http://203.0.113.5:7002, without a path.")
    _check_host("endpoint", parts.hostname or "", allow_loopback)
    return endpoint.rstrip("/")


def check_relay_addr(relay_addr: str, *, allow_loopback: bool) -> str:
    """A ``ws(s)://RELAY/rpc/PEER`` address as it was given; EndpointRefused if it may not be used."""
    parts = _split("relay_addr", relay_addr, ("ws", "wss"))
    if not _RPC_PATH.fullmatch(parts.path):
        raise EndpointRefused("The relay_addr must be of the form wss://RELAY/rpc/PEER.")
    _check_host("relay_addr", parts.hostname or "", allow_loopback)
    return relay_addr


def why_refused(address: str, *, allow_loopback: bool) -> str | None:
    """What is wrong with an IP address that is about to be dialled, or None if it may be."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return "is no IP address"
    return _why_refused(parsed, allow_loopback)


def _split(name: str, url: str, schemes: tuple[str, ...]) -> SplitResult:
    if len(url) > MAX_URL_CHARS or not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        raise EndpointRefused(f"The {name} is too long or holds characters no URL has.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise EndpointRefused(f"The {name} is not a URL.") from None
    if parts.scheme not in schemes:
        raise EndpointRefused(f"The {name} must start with {' or '.join(each + '://' for each in schemes)}.")
    if port == 0:
        raise EndpointRefused(f"The {name} has port 0, which nobody can dial.")
    if "@" in parts.netloc or "?" in url or "#" in url:
        raise EndpointRefused(f"The {name} must hold no user name, query or fragment.")
    return parts


def _check_host(name: str, host: str, allow_loopback: bool) -> None:
    if not host:
        raise EndpointRefused(f"The {name} names no host.")
    if "%" in host:
        raise EndpointRefused(f"The {name} has a zone, which means nothing on another computer.")
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        reason = _why_name_refused(host, allow_loopback)
    else:
        reason = _why_refused(address, allow_loopback)
    if reason is not None:
        raise EndpointRefused(
            f"The {name} {host} {reason}, so it is not handed out to others.",
            hint="Start the node with an --advertise address that others can dial, or with none and a --relay; "
            "for a mesh on one computer, start the tracker with --allow-loopback.",
        )


def _why_name_refused(host: str, allow_loopback: bool) -> str | None:
    name = host.lower().removesuffix(".")
    labels = name.split(".")
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        return "is no host name"
    if _NUMBER.fullmatch(labels[-1]):
        # 127.1, 2130706433 and 0x7f.1 are addresses to the resolver, so they are no names to us.
        return "is an IP address in a spelling that is not accepted"
    if name in _METADATA_NAMES:
        return "is a cloud's metadata service"
    if not allow_loopback and (name in _LOOPBACK_NAMES or labels[-1] == "localhost"):
        return "is the computer of whoever dials it"
    return None


def _why_refused(address: _IPAddress, allow_loopback: bool) -> str | None:
    if isinstance(address, ipaddress.IPv6Address):
        for network, shift in _CARRIES_IPV4:
            if address in network:
                return _why_refused(ipaddress.IPv4Address(int(address) >> shift & 0xFFFFFFFF), allow_loopback)
    if address.is_loopback:
        return None if allow_loopback else "is the computer of whoever dials it (loopback)"
    if address in _METADATA:
        return "is a cloud's metadata service"
    if address.is_link_local:
        return "is link-local"
    if address.is_multicast:
        return "is a multicast address"
    if address.is_unspecified:
        return "is the unspecified address"
    if address.is_reserved or int(address) < 1 << 24:
        # 0.x.x.x means this computer to some systems; ::x are IPv4-compatible relics.
        return "is reserved"
    return None
