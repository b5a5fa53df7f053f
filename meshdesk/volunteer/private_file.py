"""Writing a small file that only this user can read: wholly, or not at all."""

from __future__ import annotations

import os
import secrets
import time
from pathlib import Path

REPLACE_TRIES = 5
REPLACE_PAUSE_S = 0.05


def write_private(path: Path, data: bytes) -> None:
    """Put ``data`` in the place of what ``path`` held; its directory is made where needed. Blocks; raises OSError.

    Whoever reads meanwhile, and whoever comes after a power cut, finds the old or the new content, never a part.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
    try:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        _replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def _replace(partial: Path, path: Path) -> None:
    for left in range(REPLACE_TRIES - 1, -1, -1):
        try:
            partial.replace(path)
            return
        except PermissionError:
            # On Windows, while another program has the file open for a moment.
            if not left:
                raise
            time.sleep(REPLACE_PAUSE_S)
