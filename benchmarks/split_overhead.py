"""What splitting costs: decode tokens/s of a two-node mesh against one process, in turns, in one run.

    python -m benchmarks.split_overhead [--rounds 5] [--tokens 64] [--threads 1] [--ways direct,relay]

The baseline is ``transformers.generate`` in a process of its own with as many threads as each node has.
Each round measures every contestant once; the ratio is taken round by round, so a drift of the machine
touches both sides alike. Only decoding is timed: from the first token to the last.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import statistics
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp

from benchmarks.table import print_table, spread
from meshdesk.shard.model_source import find_model
from tests.e2e.mesh import Mesh, chunks, mesh, open_chat

PROMPT = "Explain step by step how a letter travels from one city to another, with all the people who touch it."

BASELINE = """
import sys, time, json, torch
from transformers import AutoModelForCausalLM, AutoTokenizer
path, dtype, threads = sys.argv[1:4]
torch.set_num_threads(int(threads))
tokenizer = AutoTokenizer.from_pretrained(path)
model = AutoModelForCausalLM.from_pretrained(path, dtype=getattr(torch, dtype)).eval()
class Clock:
    def put(self, value): self.times.append(time.perf_counter())
    def end(self): pass
print("ready", flush=True)
for line in sys.stdin:
    job = json.loads(line)
    ids = tokenizer.apply_chat_template([{"role": "user", "content": job["prompt"]}], add_generation_prompt=True,
                                        return_tensors="pt", return_dict=True)
    clock = Clock(); clock.times = []
    with torch.inference_mode():
        out = model.generate(**ids, max_new_tokens=job["tokens"], do_sample=False, streamer=clock)
    new = out[0, ids["input_ids"].shape[1]:].tolist()
    decode = clock.times[1:]  # the first put is the prompt
    print(json.dumps({"ids": new, "tokens_per_s": (len(decode) - 1) / (decode[-1] - decode[0])}), flush=True)
"""


class Baseline:
    """``transformers.generate`` in a process of its own."""

    def __init__(self, process: asyncio.subprocess.Process):
        self._process = process

    async def measure(self, tokens: int) -> tuple[float, list[int]]:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps({"prompt": PROMPT, "tokens": tokens}).encode() + b"\n")
        answer = json.loads(await self._process.stdout.readline())
        return answer["tokens_per_s"], answer["ids"]


@contextlib.asynccontextmanager
async def baseline(model: Path, dtype: str, threads: int) -> AsyncIterator[Baseline]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        BASELINE,
        str(model),
        dtype,
        str(threads),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={**os.environ, "OMP_NUM_THREADS": str(threads), "HF_HUB_OFFLINE": "1"},
    )
    assert process.stdout is not None
    try:
        await process.stdout.readline()
        yield Baseline(process)
    finally:
        process.kill()
        await process.wait()


async def measure_mesh(built: Mesh, tokens: int) -> tuple[float, list[int]]:
    """Decode tokens/s as a client of the tracker sees it, and the tokens."""
    ids: list[int] = []
    times: list[float] = []
    async with (
        aiohttp.ClientSession() as client,
        open_chat(client, built.tracker, PROMPT, max_tokens=tokens) as response,
    ):
        async for chunk in chunks(response):
            new = chunk.get("meshdesk", {}).get("token_ids", [])
            ids += new
            times += [time.perf_counter()] * len(new)
    return (len(times) - 1) / (times[-1] - times[0]), ids


async def run(rounds: int, tokens: int, threads: int, ways: list[str], dtype: str) -> None:
    model = find_model(None)
    async with contextlib.AsyncExitStack() as stack:
        single = await stack.enter_async_context(baseline(model, dtype, threads))
        meshes = {}
        for way in ways:
            built = mesh(model, "0-14", "15-29", relay=way == "relay", dtype=dtype, options=["--threads", str(threads)])
            meshes[way] = await stack.enter_async_context(built)
        rates: dict[str, list[float]] = {"one process": [], **{way: [] for way in ways}}
        for round_number in range(rounds + 1):
            rate, expected = await single.measure(tokens)
            measured = {"one process": rate}
            for way, built in meshes.items():
                measured[way], ids = await measure_mesh(built, tokens)
                assert ids == expected, f"{way} answered other tokens than one process"
            if round_number:  # the first round warms everything up
                for name, value in measured.items():
                    rates[name].append(value)
        rows = []
        for name, values in rates.items():
            ratios = [value / base for value, base in zip(values, rates["one process"], strict=True)]
            rows.append([name, spread(values, "{:.1f}"), f"{statistics.median(ratios):.3f}", spread(ratios, "{:.3f}")])
        print(f"decode, {tokens} tokens, {rounds} rounds, {dtype}, {threads} thread(s) a process, tokens identical")
        print_table(["contestant", "tokens/s median (min–max)", "ratio", "ratio median (min–max)"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--ways", default="direct,relay")
    parser.add_argument("--dtype", default="bfloat16")
    options = parser.parse_args()
    asyncio.run(run(options.rounds, options.tokens, options.threads, options.ways.split(","), options.dtype))


if __name__ == "__main__":
    main()
