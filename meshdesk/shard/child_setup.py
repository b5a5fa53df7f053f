"""What a child process does to itself before any work: its pipes, its signals, its parent's death. No torch."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
_F_SETPIPE_SZ = 1031
_PIPE_BYTES = 1 << 20


def take_pipes() -> tuple[int, int]:
    """Descriptors to read orders from and write answers to.

    Standard input and output are then turned away from them, so that a library that prints cannot
    corrupt the stream: what it prints goes to standard error.
    """
    orders, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    if sys.platform == "win32":
        import msvcrt

        for descriptor in (orders, answers):
            msvcrt.setmode(descriptor, os.O_BINARY)
    elif sys.platform == "linux":
        import fcntl

        for descriptor in (orders, answers):
            try:
                # A prefill then takes a few wake-ups instead of dozens.
                fcntl.fcntl(descriptor, _F_SETPIPE_SZ, _PIPE_BYTES)
            except OSError:
                pass  # Over the user's limit for pipes: slower, not wrong.
    return orders, answers


def die_with_parent() -> None:
    """On Linux let the kernel end this process with its parent; elsewhere the end of the orders does it."""
    # Ctrl-C in a terminal goes to every process of the group; when to stop is the parent's decision.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def resident_bytes() -> int:
    """Memory this process holds in RAM, in octets; 0 where the system does not tell."""
    import psutil

    try:
        return int(psutil.Process().memory_info().rss)
    except psutil.Error:
        return 0


def compute_threads(wanted: int | None) -> int:
    """How many threads compute: as asked, else the physical cores this process may use."""
    if wanted is not None:
        return max(1, wanted)
    import psutil

    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(psutil.cpu_count(logical=False) or allowed, allowed))
