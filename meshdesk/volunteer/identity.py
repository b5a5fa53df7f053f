"""Who a node is, kept between runs: its id, and the secret that proves it to relay and tracker.

The secret lies in a file only this user can read. It never stands on a command line, where every
program of the computer could read it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import orjson
from filelock import FileLock, Timeout
from platformdirs import user_data_path

from meshdesk.node.identity import service_secret
from meshdesk.volunteer.log_redaction import keep_secret

log = logging.getLogger(__name__)

DATA_VARIABLE = "MESHDESK_DATA"
MAX_NODES = 64
_NODE_ID = re.compile(r"n[0-9a-f]{16}")
_SECRET = re.compile(r"[A-Za-z0-9_-]{32,128}")


@dataclass(frozen=True, slots=True)
class Identity:
    """A node's id and its secret; the secret is not shown where the record is printed."""

    node_id: str
    secret: str = field(repr=False)

    def __post_init__(self) -> None:
        keep_secret(self.secret)

    def keep_service_secrets(self, tracker_url: str, relay_url: str | None) -> None:
        """Take what is made of the secret for these services out of every log, as the secret itself is."""
        for service in (f"tracker {tracker_url}", *([f"relay {relay_url}"] if relay_url else [])):
            keep_secret(service_secret(self.secret, service))


def new_identity() -> Identity:
    return Identity("n" + secrets.token_hex(8), secrets.token_urlsafe(32))


def data_root() -> Path:
    """Where meshdesk keeps what it cannot make again; the environment variable MESHDESK_DATA overrides it."""
    override = os.environ.get(DATA_VARIABLE)
    return Path(override).expanduser() if override else user_data_path("meshdesk", appauthor=False)


@contextlib.contextmanager
def kept_identity() -> Iterator[Identity]:
    """The first identity of this user that no other running node has; made if there is none.

    Where nothing can be kept, a new one each time, with a warning: the node then works all the same.
    """
    directory = data_root() / "nodes"
    with contextlib.ExitStack() as stack:
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            identity = _first_free(directory, stack)
        except OSError as error:
            log.warning("the node's identity cannot be kept in %s: %s", directory, error.strerror or error)
            identity = new_identity()
        yield identity


def _first_free(directory: Path, stack: contextlib.ExitStack) -> Identity:
    for number in range(1, MAX_NODES + 1):
        lock = FileLock(directory / f"node-{number}.lock", thread_local=False)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            continue
        stack.callback(lock.release)
        return _read_or_make(directory / f"node-{number}.json")
    return new_identity()


def _read_or_make(path: Path) -> Identity:
    with contextlib.suppress(FileNotFoundError, orjson.JSONDecodeError, KeyError, TypeError):
        fields = orjson.loads(path.read_bytes())
        node_id, secret = fields["node_id"], fields["secret"]
        if _NODE_ID.fullmatch(node_id) and _SECRET.fullmatch(secret):
            return Identity(node_id, secret)
    identity = new_identity()
    partial = path.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(orjson.dumps({"node_id": identity.node_id, "secret": identity.secret}))
    partial.replace(path)
    return identity
