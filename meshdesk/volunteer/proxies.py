"""Which proxies this computer's environment and system name, without the passwords that often stand in them.

The mesh itself is dialled past any proxy; only models are fetched through one.
"""

from __future__ import annotations

import urllib.request
from collections.abc import Mapping
from urllib.parse import urlsplit

_KINDS = ("http", "https", "socks", "all")


def find_proxies() -> dict[str, str]:
    """Kind of address to proxy, as ``scheme://host:port``. On Windows and macOS the system's too."""
    return shown_proxies(urllib.request.getproxies())


def shown_proxies(proxies: Mapping[str, str]) -> dict[str, str]:
    """``proxies`` by kind, free of user names, passwords and whatever else is no address."""
    return {kind: without_credentials(proxies[kind]) for kind in _KINDS if proxies.get(kind)}


def without_credentials(address: str) -> str:
    """``scheme://host:port`` of an address; what cannot be read as one is not shown at all."""
    try:
        parts = urlsplit(address if "://" in address else f"http://{address}")
        host, port = parts.hostname, parts.port
    except ValueError:
        return "an address that cannot be read"
    if not host:
        return "an address that cannot be read"
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}" + (f":{port}" if port else "")
