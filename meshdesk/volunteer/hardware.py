"""What this computer has to lend: cores, memory and graphics cards by name, and how much of it to propose.

Nothing here loads torch, and nothing runs longer than a few seconds; ``look`` blocks, ``find_hardware``
does it beside the event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ASK_S = 4.0
"""How long the graphics driver's own program may take; a sleeping card needs a second or two."""
NVIDIA_PROC = Path("/proc/driver/nvidia/gpus")
MAX_GPUS = 16
MAX_NAME = 80

SPARED_MB = 2000
"""What a proposal leaves for everything else on this computer."""
LEAST_MB = 600
"""The least that serves: a few layers of a small model, and the program around them."""
STEP_MB = 100


@dataclass(frozen=True, slots=True)
class Hardware:
    """Sizes in octets. ``cores`` are those this process may use; ``gpus`` are names, empty if none was found."""

    cores: int
    memory_total: int
    memory_available: int
    gpus: tuple[str, ...] = ()
    processor: str = ""


def look() -> Hardware:
    """Look at this computer; blocks for ASK_S at worst."""
    import psutil

    memory = psutil.virtual_memory()
    return Hardware(_cores(), memory.total, memory.available, find_gpus(), _processor())


async def find_hardware() -> Hardware:
    """As ``look``, without holding up the loop."""
    return await asyncio.to_thread(look)


def proposed_memory_limit_mb(memory_available: int) -> int:
    """Half of what is free, or less so that SPARED_MB stay free, in whole hundreds of MB (10^6 octets).

    Never less than LEAST_MB: below that a node could not serve at all.
    """
    free_mb = memory_available // 1_000_000
    proposed = min(free_mb // 2, free_mb - SPARED_MB)
    return max(LEAST_MB, proposed // STEP_MB * STEP_MB)


def proposed_threads(cores: int) -> int:
    """All cores of a small computer; on a larger one, one is left to whoever sits before it."""
    return cores - 1 if cores > 2 else max(1, cores)


def find_gpus() -> tuple[str, ...]:
    """The graphics cards that could compute one day, by name; none where that cannot be told cheaply."""
    found = _asked_of_nvidia() or _read_from_proc(NVIDIA_PROC)
    if not found and sys.platform == "win32":
        found = _read_from_registry()
    if not found and sys.platform == "darwin" and platform.machine() == "arm64":
        found = [_said(["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]).strip()]
    names = (" ".join(name.split())[:MAX_NAME] for name in found)
    return tuple(name for name in names if name)[:MAX_GPUS]


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _processor() -> str:
    """The processor's name as the system has it; "" where only the kind of machine is known."""
    with contextlib.suppress(OSError):
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(errors="replace"), re.MULTILINE)
        if found:
            return " ".join(found[1].split())[:MAX_NAME]
    if sys.platform == "darwin":
        return _said(["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]).strip()[:MAX_NAME]
    return ""


def _asked_of_nvidia() -> list[str]:
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    return _said([program, "--query-gpu=name", "--format=csv,noheader"]).splitlines()


def _read_from_proc(root: Path) -> list[str]:
    """The driver's own list on Linux; there also where its programs are not installed."""
    names = []
    with contextlib.suppress(OSError):
        for card in sorted(root.iterdir())[:MAX_GPUS]:
            found = re.search(r"^Model:\s*(.+)$", (card / "information").read_text(errors="replace"), re.MULTILINE)
            if found:
                names.append(found[1])
    return names


def _read_from_registry() -> list[str]:
    """The display adapters of Windows."""
    if sys.platform != "win32":
        return []
    import winreg

    adapters = r"SYSTEM\CurrentControlSet\Control\Class\{4d36e968-e325-11ce-bfc1-08002be10318}"
    names = []
    for number in range(MAX_GPUS):
        with (
            contextlib.suppress(OSError),
            winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, rf"{adapters}\{number:04}") as key,
        ):
            names.append(str(winreg.QueryValueEx(key, "DriverDesc")[0]))
    return names


def _said(command: list[str]) -> str:
    """What a program writes; "" if it fails, is not there, or takes too long."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=ASK_S,
            stdin=subprocess.DEVNULL,
            check=True,
            # No console window may flash up under a program without one.
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout
