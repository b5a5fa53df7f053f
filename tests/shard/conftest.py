"""The lab, small random models it makes, and shards in child processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.shard.lab import Lab

Tiny = Callable[..., Path]


@pytest.fixture(scope="session")
def lab() -> Iterator[Lab]:
    """A process with torch to ask; it starts once."""
    lab = Lab()
    yield lab
    lab.close()


@pytest.fixture(scope="session")
def tiny(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    """``tiny(family, **variant)``: a small random model of a family as a safetensors repo, each made once."""
    made: dict[str, Path] = {}

    def make(family: str = "llama", **variant: Any) -> Path:
        key = f"{family} {sorted(variant.items())}"
        if key not in made:
            path = tmp_path_factory.mktemp(family)
            lab("lab_models.make", path=path, family=family, **variant)
            made[key] = path
        return made[key]

    return make
