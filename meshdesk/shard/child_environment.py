"""The environment variables that child processes start with. Pure: nothing of the parent's own is changed."""

from __future__ import annotations

import os
from pathlib import Path

import meshdesk

# The parent may have found meshdesk by a path the child would not look at. Asked at import: a look at the disk blocks.
_HOME = str(Path(meshdesk.__file__).resolve().parent.parent)


def child_environment(environment: dict[str, str]) -> dict[str, str]:
    """The environment of a child: no network for the libraries, no tokens, and this meshdesk to import."""
    for secret in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HUGGINGFACE_HUB_TOKEN"):
        environment.pop(secret, None)
    paths = [_HOME, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    return {
        **environment,
        "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths)),
        "PYTHONUNBUFFERED": "1",
        "PYTHONIOENCODING": "utf-8",
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }


def compute_environment(environment: dict[str, str]) -> dict[str, str]:
    """``child_environment`` for a child that computes: its idle OpenMP threads soon leave their core to others.

    By default they spin for milliseconds. Two shards on one machine, or a browser beside one, then wait
    for cores that do nothing. What the user has set stays.
    """
    child = child_environment(environment)
    # GNU's, on Linux: counted in pauses of the processor, here some 0.2 ms, which covers the gap between two matrix
    # products of a token. Waiting passively would cost a single shard a quarter of its speed.
    if "OMP_WAIT_POLICY" not in child:
        child.setdefault("GOMP_SPINCOUNT", "10000")
    # LLVM's and Intel's, on macOS and Windows: in milliseconds, 200 unless set.
    child.setdefault("KMP_BLOCKTIME", "1")
    # Weights in huge pages where the system leaves that to programs, as Debian and Ubuntu do: fewer pages to look
    # up, some 3 % of a decode step here. Other systems do not read this.
    child.setdefault("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1")
    # Transformers else reads four tensors at once, each with buffers of its own, and is no quicker for it.
    child["HF_DEACTIVATE_ASYNC_LOAD"] = "1"
    return child
