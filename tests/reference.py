"""What ``transformers.generate`` says, worked out in a process of its own so that the tests stay free of torch."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

GENERATE_S = 600.0


def reference_tokens(
    model: Path, prompts: Sequence[str | Sequence[int]], dtype: str, max_new_tokens: int
) -> list[list[int]]:
    """The greedy tokens after each prompt, the end token included where it comes; asked for once a session.

    A prompt that is text is one user's message in the model's chat template, one of numbers is token ids as they are.
    """
    asked = tuple(prompt if isinstance(prompt, str) else tuple(prompt) for prompt in prompts)
    return [list(tokens) for tokens in _generated(model, asked, dtype, max_new_tokens)]


@lru_cache
def _generated(
    model: Path, prompts: tuple[str | tuple[int, ...], ...], dtype: str, max_new_tokens: int
) -> list[list[int]]:
    request = {"model": str(model), "prompts": prompts, "dtype": dtype, "max_new_tokens": max_new_tokens}
    done = subprocess.run(
        [sys.executable, "-m", "tests.reference_generate"],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        timeout=GENERATE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    tokens: list[list[int]] = json.loads(done.stdout.splitlines()[-1])
    return tokens
