"""Where a running meshdesk is reached by commands of the same user: one place for the app, one for each headless node.

A place is a Unix socket that only this user can open, in the data directory, so each profile has its own.
On Windows it is a file with a loopback port and a token.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from meshdesk.protocol.errors import MeshdeskError
from meshdesk.volunteer.identity import data_root

APP = "control"
MAX_NODES = 64
MAX_PATH_BYTES = 100
"""A Unix socket's path may have 103 octets on macOS, 107 on Linux."""


class NoPlace(MeshdeskError):
    """There is nowhere to listen for commands."""

    code = "no_control_place"


@dataclass(frozen=True, slots=True)
class Place:
    """``name`` is ``control`` for the app and ``node-3`` for a headless node; ``path`` need not exist."""

    name: str
    path: Path
    unix: bool

    @property
    def is_app(self) -> bool:
        return self.name == APP

    @property
    def lock_path(self) -> Path:
        """Whoever holds it owns the place. Always in the data directory, so that nobody else can take it."""
        return data_root() / f"{self.name}.lock"


def app_place() -> Place:
    return place_named(APP)


def node_places() -> Iterator[Place]:
    """The places that headless nodes take, the lowest free one first."""
    return (node_place(number) for number in range(1, MAX_NODES + 1))


def node_place(number: int) -> Place:
    return place_named(f"node-{number}")


def place_named(name: str) -> Place:
    """The place of that name in the present data directory. Looks at no disk."""
    if sys.platform == "win32":
        return Place(name, data_root() / f"{name}.json", unix=False)
    path = data_root() / f"{name}.sock"
    if len(os.fsencode(path.absolute())) > MAX_PATH_BYTES:
        digest = hashlib.sha256(os.fsencode(data_root().absolute())).hexdigest()[:16]
        short = Path(f"meshdesk-{digest}") / f"{name}.sock"
        path = Path(tempfile.gettempdir()) / short
        if len(os.fsencode(path)) > MAX_PATH_BYTES:
            path = Path("/tmp") / short
    return Place(name, path, unix=True)


def own_directory(place: Place) -> None:
    """Have the place's directory there, and this user's alone where it is shared. Raises NoPlace, OSError; blocks."""
    directory = place.path.parent
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    if sys.platform == "win32" or directory == data_root():
        return
    # In a directory that all users share, somebody else may have been there first.
    found = directory.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise NoPlace(f"{directory} is not this user's alone, so no commands are taken.", hint="Remove it.")


@contextmanager
def free_node_place() -> Iterator[Place | None]:
    """A headless node's own place while the block runs; None where all are taken or nothing can be kept. Blocks."""
    from filelock import FileLock, Timeout

    for place in node_places():
        lock = FileLock(place.lock_path)
        try:
            place.lock_path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock.acquire(timeout=0)
        except Timeout:
            continue
        except OSError:
            break
        try:
            yield place
        finally:
            lock.release()
        return
    yield None
