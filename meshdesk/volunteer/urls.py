"""Addresses as people type them, checked and put into the one form the rest expects."""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit

from meshdesk.protocol.errors import UsageError

_HTTP = {"http": "http", "https": "https"}
_WEBSOCKET = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}


def http_url(text: str, option: str) -> str:
    """``http(s)://HOST[:PORT]`` without a trailing slash; UsageError if ``text`` is none. http:// may be left out."""
    return _url(text, option, _HTTP, "http")


def websocket_url(text: str, option: str) -> str:
    """``ws(s)://HOST[:PORT]`` without a trailing slash; UsageError if ``text`` is none. ws:// may be left out."""
    return _url(text, option, _WEBSOCKET, "ws")


def is_loopback(url: str) -> bool:
    """Whether ``url`` names this computer to whoever dials it."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def address_towards(url: str) -> str | None:
    """This computer's address on the network that leads to ``url``; None if none does. Sends nothing."""
    parts = urlsplit(url)
    try:
        found = socket.getaddrinfo(parts.hostname, parts.port or 80, type=socket.SOCK_DGRAM)
        with socket.socket(found[0][0], socket.SOCK_DGRAM) as probe:
            probe.connect(found[0][4])
            return str(probe.getsockname()[0])
    except OSError:
        return None


def _url(text: str, option: str, schemes: dict[str, str], default: str) -> str:
    full = text if "://" in text else f"{default}://{text}"
    hint = f"Write it like {default}://203.0.113.5:7000."
    try:
        parts = urlsplit(full)
        port = parts.port
    except ValueError:
        raise UsageError(f"{option} {text!r} is not an address.", hint=hint) from None
    if parts.scheme not in schemes or not parts.hostname or port == 0 or "@" in parts.netloc:
        raise UsageError(f"{option} {text!r} is not an address of the kind {default}://HOST:PORT.", hint=hint)
    return f"{schemes[parts.scheme]}://{parts.netloc}{parts.path.rstrip('/')}"
