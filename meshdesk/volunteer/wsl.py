"""Whether this is Linux within Windows (WSL), and how its network hangs together with the outside.

In NAT mode nobody outside this one computer can dial in; in mirrored mode they can, if the Hyper-V
firewall lets them. The rules are pure; ``find_wsl`` gathers what they need, and blocks.
"""

from __future__ import annotations

import configparser
import contextlib
import ipaddress
import platform
import re
import shutil
import struct
import subprocess
import sys
from enum import StrEnum
from pathlib import Path

ASK_S = 2.0
"""How long ``wslinfo`` may take: it talks to Windows, and may hang with it."""
MAX_CONFIG_BYTES = 64 * 1024
MAX_PROFILES = 64
_NAT_RANGE = ipaddress.ip_network("172.16.0.0/12")
PROFILES = Path("/mnt/c/Users")
ROUTES = Path("/proc/net/route")


class WslMode(StrEnum):
    """How a WSL's network reaches the outside. ``unknown``: it is WSL2, and nothing tells its mode."""

    NOT_WSL = "none"
    WSL1 = "wsl1"
    NAT = "nat"
    MIRRORED = "mirrored"
    OTHER = "other"
    """Bridged, a virtio proxy, or no network at all."""
    UNKNOWN = "unknown"

    @property
    def is_wsl2(self) -> bool:
        return self not in (WslMode.NOT_WSL, WslMode.WSL1)


def find_wsl(eth0: str | None) -> WslMode:
    """Look at this computer; ``eth0`` is the IPv4 address of that interface. Blocks for ASK_S at worst."""
    if sys.platform != "linux":
        return WslMode.NOT_WSL
    generation = wsl_generation(platform.release())
    if generation != 2:
        return WslMode.WSL1 if generation == 1 else WslMode.NOT_WSL
    said = mode_said(_ask_wslinfo())
    if said is not None:
        return said
    guessed = mode_by_addresses(eth0, default_gateway(_read(ROUTES)))
    return guessed or mode_configured(_only_config()) or WslMode.UNKNOWN


def wsl_generation(release: str) -> int:
    """1 or 2 by the kernel's release, 0 where it is not WSL: Microsoft builds WSL2's with a small m."""
    if "microsoft" not in release.lower():
        return 0
    return 1 if re.search(r"-\d+-Microsoft$", release) else 2


def mode_said(answer: str) -> WslMode | None:
    """The mode as ``wslinfo --networking-mode`` names it; None where it says nothing of use."""
    word = answer.strip().lower()
    if word in ("nat", "mirrored"):
        return WslMode(word)
    return WslMode.OTHER if word in ("none", "virtioproxy", "bridged") else None


def mode_by_addresses(eth0: str | None, gateway: str | None) -> WslMode | None:
    """NAT gives the virtual machine an address of 172.16/12, and Windows the first one of the same small network.

    An address outside of that range is one of Windows' own, which only mirroring passes on.
    """
    if not eth0 or not gateway:
        return None
    if ipaddress.ip_address(eth0) not in _NAT_RANGE:
        return WslMode.MIRRORED
    network = ipaddress.ip_network(f"{eth0}/20", strict=False)
    return WslMode.NAT if ipaddress.ip_address(gateway) == network[1] else None


def mode_configured(config: str) -> WslMode | None:
    """What ``.wslconfig`` asks for; without a word in it, NAT is what Windows takes."""
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    try:
        parser.read_string(config)
    except configparser.Error:
        return None
    for section in ("wsl2", "experimental"):
        with contextlib.suppress(configparser.Error):
            return mode_said(parser.get(section, "networkingmode"))
    return WslMode.NAT if config.strip() else None


def default_gateway(routes: str) -> str | None:
    """The IPv4 gateway of ``/proc/net/route``; None where there is none."""
    for line in routes.splitlines()[1:]:
        fields = line.split()
        if len(fields) > 3 and fields[1] == "00000000" and int(fields[3], 16) & 2:
            return str(ipaddress.IPv4Address(struct.pack("<I", int(fields[2], 16))))
    return None


def _only_config() -> str:
    """The one ``.wslconfig`` of this Windows; "" where there is none, or several and no saying which counts."""
    found: list[Path] = []
    with contextlib.suppress(OSError):
        for number, profile in enumerate(PROFILES.iterdir()):
            if number >= MAX_PROFILES:
                break
            with contextlib.suppress(OSError):
                if (profile / ".wslconfig").is_file():
                    found.append(profile / ".wslconfig")
    return _read(found[0]) if len(found) == 1 else ""


def _read(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return stream.read(MAX_CONFIG_BYTES).decode("utf-8-sig", "replace")
    except OSError:
        return ""


def _ask_wslinfo() -> str:
    program = shutil.which("wslinfo")
    if program is None:
        return ""
    try:
        done = subprocess.run(
            [program, "--networking-mode"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=ASK_S,
            stdin=subprocess.DEVNULL,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout
