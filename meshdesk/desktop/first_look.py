"""Theme and language before anything is drawn, read without the settings' own machinery, which takes longer to load."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from pathlib import Path

MAX_FILE_BYTES = 1 << 20
_THEMES = ("system", "light", "dark")


@dataclass(frozen=True, slots=True)
class FirstLook:
    """What the settings file says of the look; the defaults where it says nothing of use."""

    theme: str = "system"
    language: str = "system"


def read_first_look(settings_path: Path) -> FirstLook:
    """Never fails: what is wrong with the file is said later, by who reads all of it."""
    with contextlib.suppress(OSError, ValueError):
        if settings_path.stat().st_size <= MAX_FILE_BYTES:
            found = json.loads(settings_path.read_bytes())
            if isinstance(found, dict):
                theme, language = found.get("theme"), found.get("language")
                return FirstLook(
                    theme if theme in _THEMES else "system", language if isinstance(language, str) else "system"
                )
    return FirstLook()
