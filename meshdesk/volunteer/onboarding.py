"""Which questions of the first run a person has answered, so that a later version asks its new ones and no more.

Kept in ``onboarding.json`` as ``{"version": 1, "done": ["mesh", …]}``. Reading and writing block; the file is tiny.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path

import orjson

from meshdesk.volunteer.identity import data_root

log = logging.getLogger(__name__)

VERSION = 1
"""Raised with every new step."""
MAX_BYTES = 64 * 1024


class Step(StrEnum):
    """One page of the first run, in the order in which they are asked. A new one is added, never renamed."""

    MESH = "mesh"
    SHARING = "sharing"
    HARDWARE = "hardware"
    MODEL = "model"
    APP = "app"


class Onboarding:
    """The record in ``path``. A file that cannot be read counts as no answers: being asked again does no harm."""

    def __init__(self, path: Path | None = None):
        self._path = path or data_root() / "onboarding.json"

    def remaining(self) -> tuple[Step, ...]:
        """The steps still to be asked, in their order; empty once all is answered."""
        done = set(self._done())
        return tuple(step for step in Step if step not in done)

    def finish(self, steps: Iterable[Step]) -> None:
        """Keep that ``steps`` are answered. What a newer version has written is kept. Raises OSError."""
        done = self._done()
        done += [step.value for step in steps if step.value not in done]
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        partial = self._path.with_name(f".{self._path.name}.{secrets.token_hex(4)}.partial")
        try:
            partial.write_bytes(orjson.dumps({"version": max(VERSION, self._version()), "done": done}))
            partial.replace(self._path)
        finally:
            partial.unlink(missing_ok=True)

    def forget(self) -> None:
        """Ask everything again at the next start. Raises OSError."""
        self._path.unlink(missing_ok=True)

    def _done(self) -> list[str]:
        done = self._read().get("done")
        return [each for each in done if isinstance(each, str)] if isinstance(done, list) else []

    def _version(self) -> int:
        version = self._read().get("version")
        return version if isinstance(version, int) and not isinstance(version, bool) else 0

    def _read(self) -> dict[str, object]:
        try:
            with self._path.open("rb") as stream:
                fields = orjson.loads(stream.read(MAX_BYTES))
        except FileNotFoundError:
            return {}
        except (OSError, orjson.JSONDecodeError) as error:
            log.warning("the answers of the first run cannot be read, so they are asked again: %s", error)
            return {}
        return fields if isinstance(fields, dict) else {}
