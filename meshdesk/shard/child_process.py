"""A hold on a child process that can end it and never takes its exit code from whoever waits for that.

``asyncio`` waits for a child in a thread of its own. ``Transport.kill`` first polls the process, which
reaps one that has just ended; the thread then finds nobody and reports the code 255 with a warning.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys


class ChildProcess:
    """The child ``pid``, which must not have been waited for yet. Close it when the exit code is known."""

    def __init__(self, pid: int) -> None:
        self._pid: int | None = pid
        self._descriptor: int | None = None
        if sys.platform == "linux":
            try:
                self._descriptor = os.pidfd_open(pid)
            except ProcessLookupError:
                self._pid = None  # It has ended and been waited for already.
            except OSError:
                self._descriptor = None  # No pidfds in this kernel or sandbox: the number has to do.

    def kill(self) -> None:
        """End the process at once; harmless if it has ended."""
        if self._pid is None:
            return
        # It may have ended; Windows says so with a refusal.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if sys.platform == "linux" and self._descriptor is not None:
                signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)
            else:
                os.kill(self._pid, getattr(signal, "SIGKILL", signal.SIGTERM))

    def close(self) -> None:
        """Let go of the process, whose number may soon belong to another."""
        descriptor, self._descriptor, self._pid = self._descriptor, None, None
        if descriptor is not None:
            os.close(descriptor)
