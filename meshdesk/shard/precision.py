"""Which dtype a shard computes in and carries over its seams. Child process only.

bfloat16 without hardware for it can be tens of times slower than float32, so ``auto`` measures once,
on shapes of a decode step and of a short prefill, and then computes in float32 with bfloat16 on the wire.
"""

from __future__ import annotations

import time

import torch

from meshdesk.shard.spec import ComputeChoice

SLOW_RATIO = 2.0
_ROWS = (1, 64)
_INNER, _OUTER = 1024, 2048
_REPEATS = 8

DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}


def choose_dtypes(choice: ComputeChoice) -> tuple[torch.dtype, torch.dtype]:
    """Compute dtype and wire dtype. float32 keeps float32 on the wire too, so that a seam never rounds."""
    if choice == "float32":
        return torch.float32, torch.float32
    if choice == "bfloat16" or bfloat16_ratio() <= SLOW_RATIO:
        return torch.bfloat16, torch.bfloat16
    return torch.float32, torch.bfloat16


def dtype_name(dtype: torch.dtype) -> str:
    """``bfloat16`` for ``torch.bfloat16``, as the wire names it."""
    return str(dtype).removeprefix("torch.")


def bfloat16_ratio() -> float:
    """Time of bfloat16 matrix products over that of the same in float32, best of several, worst shape."""
    weight = torch.ones(_OUTER, _INNER)
    halved = weight.bfloat16()
    ratios = []
    for rows in _ROWS:
        inputs = torch.ones(rows, _INNER)
        ratios.append(_fastest(inputs.bfloat16(), halved) / _fastest(inputs, weight))
    return max(ratios)


def _fastest(inputs: torch.Tensor, weight: torch.Tensor) -> float:
    best = float("inf")
    for _ in range(_REPEATS):
        begun = time.perf_counter()
        torch.nn.functional.linear(inputs, weight)
        best = min(best, time.perf_counter() - begun)
    return best
