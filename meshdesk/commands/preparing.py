"""Find the model while the person sees what is going on. On stderr, so that standard output stays the command's."""

from __future__ import annotations

import time
from pathlib import Path

from rich.console import Console

from meshdesk.shard.model_job import ModelProgress
from meshdesk.shard.model_source import find_model


def prepare_model(model: str | None) -> Path:
    """The model's directory as ``find_model`` gives it, with its progress shown; raises what that raises."""
    console = Console(stderr=True, highlight=False, emoji=False)
    started = time.monotonic()
    if console.is_terminal:
        with console.status("Looking for the model …") as status:
            path = find_model(model, lambda progress: status.update(_sentence(progress, started) + " …"))
    else:
        steps: list[str] = []

        def tell(progress: ModelProgress) -> None:
            # A line a step: a log has no use for a bar.
            if progress.step not in steps[-1:]:
                steps.append(progress.step)
                console.print(_sentence(progress, started), markup=False)

        path = find_model(model, tell)
    return path


def _sentence(progress: ModelProgress, started: float) -> str:
    amount = f" {progress.done / 1e6:.0f} of {progress.total / 1e6:.0f} MB" if progress.total else ""
    return f"Preparing the model (once): {progress.step}{amount}, {time.monotonic() - started:.0f} s"
