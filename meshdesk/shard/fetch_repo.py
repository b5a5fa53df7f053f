"""Fetch a model repo from the Hub: ``python -m meshdesk.shard.fetch_repo ORG/NAME REVISION``.

A child process of ``model_source``, so that a stuck download can be ended. Only safetensors weights and
the small files beside them are fetched, into the Hub library's own cache.
"""

from __future__ import annotations

import sys
import threading
import time
from typing import Any

from meshdesk.shard.model_job import JobFailed, Report, serve_job

PATTERNS = ["*.json", "*.safetensors", "*.jinja", "*.model", "merges.txt", "vocab.txt"]
REPORT_S = 0.1


def fetch(repo: str, revision: str | None, report: Report) -> str:
    """The local snapshot directory of ``repo``, after all of it is there."""
    try:
        import huggingface_hub
        from huggingface_hub import errors
    except ImportError as error:
        raise JobFailed(f"{error.name} is not installed.", "Install meshdesk again.") from error
    at = f"{repo}@{revision}" if revision else repo
    report(f"asking the Hub for {at}", 0, 0)
    try:
        return huggingface_hub.snapshot_download(
            repo, revision=revision, allow_patterns=PATTERNS, tqdm_class=_bars(report)
        )
    except errors.GatedRepoError:
        raise JobFailed(f"{repo} is gated.", "Accept its terms on the Hub, then set HF_TOKEN.") from None
    except errors.RepositoryNotFoundError:
        raise JobFailed(
            f"the Hub has no public repo {repo}.", "Check the name; a private one needs HF_TOKEN."
        ) from None
    except errors.RevisionNotFoundError:
        raise JobFailed(f"{repo} has no revision {revision}.") from None
    except errors.LocalEntryNotFoundError:
        raise JobFailed("the Hub cannot be reached.", "Check the network, or give a directory with --model.") from None


def _bars(report: Report) -> type[Any]:
    """A progress bar class that reports octets instead of drawing.

    The Hub library counts octets received in one bar and octets written in another; the further one tells.
    """
    from tqdm.auto import tqdm

    tqdm.monitor_interval = 0
    lock = threading.Lock()
    octets: list[Any] = []
    reported_at = 0.0

    class Reporting(tqdm):  # type: ignore[type-arg, misc, unused-ignore]
        def __init__(self, *arguments: Any, **options: Any):
            super().__init__(*arguments, **options)
            if self.unit == "B":
                octets.append(self)

        def display(self, *_: Any, **__: Any) -> None:
            """Nothing is drawn."""

        def update(self, n: float | None = 1) -> bool | None:
            nonlocal reported_at
            moved: bool | None = super().update(n)
            with lock:
                if octets and time.monotonic() - reported_at >= REPORT_S:
                    reported_at = time.monotonic()
                    report("downloading", int(max(bar.n for bar in octets)), int(max(bar.total or 0 for bar in octets)))
            return moved

    return Reporting


if __name__ == "__main__":
    serve_job(lambda report: fetch(sys.argv[1], sys.argv[2] or None, report))
