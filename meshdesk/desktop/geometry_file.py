"""Where windows were, kept in a small file. Nothing here is worth a question if it is lost."""

from __future__ import annotations

import contextlib
import json
import logging
from pathlib import Path

log = logging.getLogger(__name__)

MAX_FILE_BYTES = 64 * 1024


class GeometryFile:
    """Places by window name. ``load`` and ``save`` touch the disk and belong off the loop."""

    def __init__(self, path: Path):
        self._path = path
        self._places: dict[str, str] = {}
        self._changed = False

    def load(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            if self._path.stat().st_size > MAX_FILE_BYTES:
                return
            found = json.loads(self._path.read_text(encoding="utf-8"))
            if isinstance(found, dict):
                self._places = {str(name): value for name, value in found.items() if isinstance(value, str)}

    def get(self, name: str) -> str | None:
        return self._places.get(name)

    def put(self, name: str, place: str) -> None:
        if self._places.get(name) != place:
            self._places[name] = place
            self._changed = True

    def save(self) -> None:
        """Write what has changed, in one step. A disk that does not take it is logged."""
        if not self._changed:
            return
        self._changed = False
        partial = self._path.with_suffix(".partial")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            partial.write_text(json.dumps(self._places), encoding="utf-8")
            partial.replace(self._path)
        except OSError as error:
            log.info("the places of windows cannot be kept: %s", error.strerror or error)
