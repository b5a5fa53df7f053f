"""What a child process does to itself before any work: its pipes, its signals, its parent's death. No torch."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import signal
import sys
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_F_SETPIPE_SZ = 1031
_PIPE_BYTES = 1 << 20
_OOM_SCORE = "500"
"""As if half of the machine's memory were held on top of what is."""


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
            # A prefill then takes a few wake-ups instead of dozens; over the user's limit it is slower, not wrong.
            with contextlib.suppress(OSError):
                fcntl.fcntl(descriptor, _F_SETPIPE_SZ, _PIPE_BYTES)
    return orders, answers


def die_with_parent() -> None:
    """On Linux let the kernel end this process with its parent; elsewhere the end of the orders does it."""
    # Ctrl-C in a terminal goes to every process of the group; when to stop is the parent's decision.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def offer_to_the_oom_killer() -> None:
    """When the whole machine runs out of memory, Linux shall end this process before the user's own programs."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text(_OOM_SCORE)


def give_memory_back() -> None:
    """Return what was freed to the system; glibc keeps it otherwise, tens of megabytes after a tokenizer is read."""
    gc.collect()
    if sys.platform == "linux":
        # Other C libraries than GNU's lack it.
        with contextlib.suppress(AttributeError):
            ctypes.CDLL(None).malloc_trim(0)


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
