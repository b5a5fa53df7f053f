"""Which dtype ``auto`` takes, asked in a process of its own, as the tests stay free of torch."""

from __future__ import annotations

import json
import subprocess
import sys

PROBE = """
import json
import torch
from meshdesk.shard import precision

def chosen(choice, ratios):
    left = iter(ratios)
    precision.bfloat16_ratio = lambda: next(left)
    return [precision.dtype_name(dtype) for dtype in precision.choose_dtypes(choice)]

measure = precision.bfloat16_ratio
torch.set_num_threads(2)
found = measure()
print(json.dumps({
    "quick": chosen("auto", [1.0]),
    "disturbed twice": chosen("auto", [90.0, 60.0, 1.0]),
    "slow": chosen("auto", [9.0, 9.0, 9.0]),
    "asked for": [chosen("bfloat16", []), chosen("float32", [])],
    "ratio": found,
    "threads": torch.get_num_threads(),
}))
"""


def test_a_busy_machine_is_not_taken_for_a_slow_one() -> None:
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, timeout=50, check=False)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["quick"] == answer["disturbed twice"] == ["bfloat16", "bfloat16"]
    assert answer["slow"] == ["float32", "bfloat16"]
    assert answer["asked for"] == [["bfloat16", "bfloat16"], ["float32", "float32"]]
    assert answer["ratio"] > 0
    assert answer["threads"] == 2
