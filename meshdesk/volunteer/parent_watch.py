"""``--exit-with-parent``: a role started by the demo ends with it, also when the demo is killed."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading

_PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """End this process when its parent is gone.

    The kernel does it on Linux, at once. Everywhere the end of standard input does it too, which the
    parent holds open and never writes to; that also covers a parent that died before this call.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    threading.Thread(target=_wait_for_end_of_input, name="parent watch", daemon=True).start()


def _wait_for_end_of_input() -> None:
    try:
        while os.read(0, 4096):
            pass
    except OSError:
        pass
    os._exit(1)
