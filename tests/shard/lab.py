"""A process in which torch is loaded, so that the tests themselves stay free of it: calls in, plain values out.

Run as ``python -m tests.shard.lab`` it answers one JSON line for each it reads: ``[module, function, arguments]``.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import traceback
from collections.abc import Callable
from typing import Any


class LabFailed(AssertionError):
    """The function in the lab raised; the message is its traceback."""


class Lab:
    """The tests' side: ``lab(function, **arguments)`` runs a function of a ``tests.shard`` module in the lab."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.shard.lab"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __call__(self, function: Callable[..., Any] | str, **arguments: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([function, arguments], default=str) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the lab has ended"
        ok, answer = json.loads(line)
        if not ok:
            raise LabFailed(answer)
        return answer

    def close(self) -> None:
        self._process.communicate(timeout=30)


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # What libraries print must not get between the answers.
    import torch

    torch.set_num_threads(1)
    for line in sys.stdin:
        name, arguments = json.loads(line)
        module, _, function = name.rpartition(".")
        try:
            answer = [True, getattr(importlib.import_module(f"tests.shard.{module}"), function)(**arguments)]
        except Exception:
            answer = [False, traceback.format_exc()]
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
