"""Peak memory of loading half of a model: the child's high-water mark against one that only imports the libraries.

    python -m benchmarks.shard_memory [--rounds 3] [--gigabytes 1.7] [--dtype bfloat16]

The real SmolLM2 and a synthetic Llama checkpoint, in one file and in several, each cut in the middle. A shard may
need its own tensors and 150 MB besides; the exit code is 1 if one needs more. Linux, where /proc tells the peak.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import random
import struct
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import orjson

from benchmarks.table import print_table, spread
from meshdesk.shard.child_environment import compute_environment
from meshdesk.shard.model_repo import INDEX_NAME
from meshdesk.shard.model_source import find_model
from meshdesk.shard.process import ShardProcess
from meshdesk.shard.spec import ComputeChoice, ShardSpec

MB = 1_000_000
ALLOWED_BYTES = 150 * MB
HIDDEN, INNER, KEYS, VOCABULARY = 2048, 5632, 256, 32000
FILES = 4
_BLOCK_BYTES = 1 << 20
_WAIT_S = 60.0


@dataclass(frozen=True)
class Case:
    """A half of a model: ``[start_layer, end_layer)`` of the repo at ``path``."""

    name: str
    path: Path
    start_layer: int
    end_layer: int


def peak_bytes(pid: int) -> int:
    """The most memory a process ever held in RAM, in octets."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise SystemExit("This system does not tell the peak memory of a process.")


async def imports_only(environment: dict[str, str]) -> int:
    """Peak of a process that imports torch and transformers and does nothing, in octets."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "import torch, transformers; print(flush=True); input()",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=environment,
    )
    assert process.stdout is not None
    try:
        await asyncio.wait_for(process.stdout.readline(), _WAIT_S)
        return peak_bytes(process.pid)
    finally:
        await process.communicate(b"\n")


async def loaded(case: Case, dtype: ComputeChoice) -> tuple[int, int]:
    """Octets of a shard's tensors in memory, and the peak of the child that loaded them and ran one token."""
    shard = ShardProcess(ShardSpec(case.path, case.start_layer, case.end_layer, dtype))
    info = await shard.start()
    try:
        assert shard.pid is not None
        return info.weight_bytes, peak_bytes(shard.pid)
    finally:
        await shard.stop()


def layer_shapes(layer: int) -> dict[str, tuple[int, int] | tuple[int]]:
    name = f"model.layers.{layer}."
    return {
        name + "self_attn.q_proj.weight": (HIDDEN, HIDDEN),
        name + "self_attn.k_proj.weight": (KEYS, HIDDEN),
        name + "self_attn.v_proj.weight": (KEYS, HIDDEN),
        name + "self_attn.o_proj.weight": (HIDDEN, HIDDEN),
        name + "mlp.gate_proj.weight": (INNER, HIDDEN),
        name + "mlp.up_proj.weight": (INNER, HIDDEN),
        name + "mlp.down_proj.weight": (HIDDEN, INNER),
        name + "input_layernorm.weight": (HIDDEN,),
        name + "post_attention_layernorm.weight": (HIDDEN,),
    }


def write_checkpoint(path: Path, layers: int, files: int) -> None:
    """A Llama checkpoint of small bfloat16 numbers at ``path``, in as many files."""
    config = {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "hidden_size": HIDDEN,
        "intermediate_size": INNER,
        "num_hidden_layers": layers,
        "num_attention_heads": 32,
        "num_key_value_heads": KEYS // 64,
        "vocab_size": VOCABULARY,
        "max_position_embeddings": 4096,
        "tie_word_embeddings": False,
        "dtype": "bfloat16",
    }
    (path / "config.json").write_bytes(orjson.dumps(config))
    shapes: dict[str, tuple[int, ...]] = {"model.embed_tokens.weight": (VOCABULARY, HIDDEN)}
    for layer in range(layers):
        shapes |= layer_shapes(layer)
    shapes |= {"model.norm.weight": (HIDDEN,), "lm_head.weight": (VOCABULARY, HIDDEN)}
    names = list(shapes)
    where: dict[str, str] = {}
    for number in range(files):
        part = names[len(names) * number // files : len(names) * (number + 1) // files]
        file = "model.safetensors" if files == 1 else f"model-{number + 1:05}-of-{files:05}.safetensors"
        where |= dict.fromkeys(part, file)
        _write_file(path / file, {name: shapes[name] for name in part})
    if files > 1:
        (path / INDEX_NAME).write_bytes(orjson.dumps({"metadata": {}, "weight_map": where}))


def _write_file(file: Path, shapes: dict[str, tuple[int, ...]]) -> None:
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, shape in shapes.items():
        begin, end = end, end + 2 * math.prod(shape)
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [begin, end]}
    head = orjson.dumps(header)
    with file.open("wb") as stream:
        stream.write(struct.pack("<Q", len(head)) + head)
        for block in _blocks(end):
            stream.write(block)


def _blocks(total: int) -> Iterator[bytes]:
    """Octets of bfloat16 numbers of about 0.01, either sign."""
    noise = random.Random(0)
    block = bytearray(noise.randbytes(_BLOCK_BYTES))
    block[1::2] = bytes(noise.choices((0x3C, 0xBC), k=_BLOCK_BYTES // 2))
    for begin in range(0, total, _BLOCK_BYTES):
        yield bytes(block[: min(_BLOCK_BYTES, total - begin)])


async def measure(cases: list[Case], rounds: int, dtype: ComputeChoice) -> list[list[str]]:
    """One row a case; the baseline is measured anew in every round."""
    environment = compute_environment({})
    over: dict[str, list[int]] = {case.name: [] for case in cases}
    peaks: dict[str, list[int]] = {case.name: [] for case in cases}
    tensors: dict[str, int] = {}
    bases: list[int] = []
    for _ in range(rounds):
        bases.append(await imports_only(environment))
        for case in cases:
            tensors[case.name], peak = await loaded(case, dtype)
            peaks[case.name].append(peak)
            over[case.name].append(peak - bases[-1] - tensors[case.name])
    return [
        [
            case.name,
            f"{case.start_layer}–{case.end_layer - 1}",
            f"{tensors[case.name] / MB:.0f}",
            spread([base / MB for base in bases], "{:.0f}"),
            spread([peak / MB for peak in peaks[case.name]], "{:.0f}"),
            spread([octets / MB for octets in over[case.name]], "{:.0f}"),
            "yes" if max(over[case.name]) <= ALLOWED_BYTES else "NO",
        ]
        for case in cases
    ]


def halves(name: str, path: Path, layers: int) -> list[Case]:
    middle = layers // 2
    return [Case(f"{name}, first half", path, 0, middle), Case(f"{name}, second half", path, middle, layers)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--gigabytes", type=float, default=1.7, help="size of the synthetic checkpoint")
    parser.add_argument("--dtype", choices=get_args(ComputeChoice), default="bfloat16")
    options = parser.parse_args()
    a_layer = 2 * sum(math.prod(shape) for shape in layer_shapes(0).values())
    layers = max(2, round((options.gigabytes * 1000 * MB - 4 * VOCABULARY * HIDDEN) / a_layer))
    model = find_model(None)
    with tempfile.TemporaryDirectory(prefix="meshdesk-benchmark-") as scratch:
        cases = halves("SmolLM2-135M", model, 30)
        for name, files in (("synthetic, one file", 1), (f"synthetic, {FILES} files", FILES)):
            path = Path(scratch) / f"{files}"
            path.mkdir()
            write_checkpoint(path, layers, files)
            cases += halves(name, path, layers)
        rows = asyncio.run(measure(cases, options.rounds, options.dtype))
    print(f"peak memory of loading a half and running one token, MB, {options.dtype}, {options.rounds} rounds")
    heads = ["shard", "layers", "tensors", "imports alone", "peak", "peak - imports - tensors", "at most 150"]
    print_table(heads, rows)
    if any(row[-1] == "NO" for row in rows):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
