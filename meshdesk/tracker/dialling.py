"""Looking up names so that none of them leads the tracker to an address that the rules refuse."""

from __future__ import annotations

import asyncio
import ipaddress
import socket

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver

from meshdesk.tracker.endpoint_rules import why_refused


class NoAllowedAddress(OSError):
    """The name resolves to nothing that may be dialled."""


class CheckedResolver(AbstractResolver):
    """The system's resolver, less the addresses that the rules refuse. For aiohttp's connector."""

    def __init__(self, *, allow_loopback: bool):
        self._allow_loopback = allow_loopback
        self._resolver = ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        found = await self._resolver.resolve(host, port, family)
        allowed = [each for each in found if why_refused(each["host"], allow_loopback=self._allow_loopback) is None]
        if not allowed:
            raise NoAllowedAddress(None, f"{host} leads to no address that may be dialled")
        return allowed

    async def close(self) -> None:
        await self._resolver.close()


async def allowed_address(host: str, port: int, *, allow_loopback: bool) -> str:
    """One IP address of ``host`` that may be dialled; NoAllowedAddress or socket.gaierror if there is none."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        candidates = [str(each[4][0]) for each in found]
    else:
        candidates = [host]
    for address in candidates:
        if why_refused(address, allow_loopback=allow_loopback) is None:
            return address
    raise NoAllowedAddress(None, f"{host} leads to no address that may be dialled")
