"""The models on this computer's disk, and how much room each takes. Nothing here changes anything."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from meshdesk.shard.model_source import cache_root

MAX_FILES = 200_000
"""Where a link leads to a whole disk, the look ends here."""


@dataclass(frozen=True, slots=True)
class KeptModel:
    """``size`` in octets on the disk; a file with several names counts once."""

    name: str
    directory: Path
    size: int
    downloaded: bool = False
    """It came from the Hub and lies in the Hub library's own cache, which other programs use too."""


def kept_models(root: Path | None = None, hub: Path | None = None) -> list[KeptModel]:
    """Every model of meshdesk's cache and of the Hub library's, the largest first. Blocks."""
    root, hub = root or cache_root(), hub or hub_cache()
    found = [
        KeptModel(f"{owner.name}/{model.name}", model, _size(model))
        for owner in _directories(root / "models")
        for model in _directories(owner)
    ]
    for model in _directories(hub):
        kind, *name = model.name.split("--")
        if kind == "models" and name:
            found.append(KeptModel("/".join(name), model, _size(model), downloaded=True))
    return sorted(found, key=lambda each: (-each.size, each.name))


def hub_cache(environment: Mapping[str, str] = os.environ) -> Path:
    """Where the Hub library keeps what it downloads, by the variables it knows; asked without loading it."""
    for name, below in (("HF_HUB_CACHE", ""), ("HF_HOME", "hub"), ("XDG_CACHE_HOME", "huggingface/hub")):
        if environment.get(name):
            return Path(environment[name]).expanduser() / below
    return Path.home() / ".cache" / "huggingface" / "hub"


def _directories(path: Path) -> Iterator[Path]:
    with contextlib.suppress(OSError):
        yield from sorted(each for each in path.iterdir() if each.is_dir() and not each.name.startswith("."))


def _size(directory: Path) -> int:
    """What lies below ``directory``; links are not followed, and hard links count once."""
    seen: set[tuple[int, int]] = set()
    total = files = 0
    for parent, _, names in os.walk(directory):
        for name in names:
            files += 1
            if files > MAX_FILES:
                return total
            with contextlib.suppress(OSError):
                status = (Path(parent) / name).lstat()
                if stat.S_ISREG(status.st_mode) and (status.st_dev, status.st_ino) not in seen:
                    seen.add((status.st_dev, status.st_ino))
                    total += status.st_size
    return total
