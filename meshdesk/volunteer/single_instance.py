"""One app for each user and profile: the first holds the lock, a second one asks it to show its window.

A profile is a data directory (MESHDESK_DATA). The lock goes with its process, so a crash leaves nothing to clear.
"""

from __future__ import annotations

import time
from types import TracebackType

from meshdesk.protocol.errors import MeshdeskError
from meshdesk.volunteer.control_client import ControlClient, NoAnswer, NotRunning
from meshdesk.volunteer.control_places import app_place
from meshdesk.volunteer.control_protocol import Command

ANSWER_S = 2.0
ASK_AGAIN_S = 0.05


class AlreadyRunning(MeshdeskError):
    """The app runs already, and does not answer."""

    code = "already_running"
    exit_code = 4


class SingleInstance:
    """Hold it with ``with`` for as long as the app runs; ``is_first`` says whether it may. Blocks shortly."""

    def __init__(self) -> None:
        from filelock import FileLock

        self.place = app_place()
        self._lock = FileLock(self.place.lock_path)
        self.is_first = False

    def __enter__(self) -> SingleInstance:
        """Raises MeshdeskError where nothing can be kept."""
        from filelock import Timeout

        try:
            self.place.lock_path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock.acquire(timeout=0)
            self.is_first = True
        except Timeout:
            self.is_first = False
        except OSError as error:
            raise MeshdeskError(
                f"{self.place.lock_path.parent} cannot be written to: {error.strerror or error}.",
                hint="Give meshdesk another directory with the environment variable MESHDESK_DATA.",
            ) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.is_first:
            self._lock.release()
            self.is_first = False

    def raise_the_other(self, window: str = "", within_s: float = ANSWER_S) -> None:
        """Ask the running app to show ``window``, or its main one. One that still starts is asked again for a while.

        Raises AlreadyRunning if it does not answer within ``within_s``.
        """
        deadline = time.monotonic() + within_s
        while True:
            left = deadline - time.monotonic()
            try:
                ControlClient(self.place, max(0.01, left)).ask(Command.SHOW, max(0.01, left), window=window)
                return
            except NotRunning:
                if left <= 0:
                    break
                time.sleep(min(ASK_AGAIN_S, max(0.0, left)))
            except NoAnswer:
                break
        raise AlreadyRunning(
            "meshdesk is already running, but does not answer.",
            hint="Wait a moment and try again, or end it in the list of running programs.",
        )
