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
_TRIES = 3
"""A busy machine may spoil a measurement, but not in favour of bfloat16 three times in a row."""

DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}


def choose_dtypes(choice: ComputeChoice) -> tuple[torch.dtype, torch.dtype]:
    """Compute dtype and wire dtype. float32 keeps float32 on the wire too, so that a seam never rounds."""
    if choice == "float32":
        return torch.float32, torch.float32
    if choice == "bfloat16" or any(bfloat16_ratio() <= SLOW_RATIO for _ in range(_TRIES)):
        return torch.bfloat16, torch.bfloat16
    return torch.float32, torch.bfloat16


def dtype_name(dtype: torch.dtype) -> str:
    """``bfloat16`` for ``torch.bfloat16``, as the wire names it."""
    return str(dtype).removeprefix("torch.")


def bfloat16_ratio() -> float:
    """Time of bfloat16 matrix products over that of the same in float32, best of several, worst shape.

    One thread: several that wait for each other on a busy machine take a hundred times as long now and then.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return max(_ratio(rows) for rows in _ROWS)
    finally:
        torch.set_num_threads(threads)


def _ratio(rows: int) -> float:
    weight = torch.ones(_OUTER, _INNER)
    inputs = torch.ones(rows, _INNER)
    halved, halved_inputs = weight.bfloat16(), inputs.bfloat16()
    # In turns, so that whatever else the machine does touches both.
    times = [(_seconds(halved_inputs, halved), _seconds(inputs, weight)) for _ in range(_REPEATS)]
    return min(half for half, _ in times) / min(whole for _, whole in times)


def _seconds(inputs: torch.Tensor, weight: torch.Tensor) -> float:
    begun = time.perf_counter()
    torch.nn.functional.linear(inputs, weight)
    return time.perf_counter() - begun
