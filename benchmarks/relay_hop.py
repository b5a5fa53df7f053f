"""What a relay hop costs beside the computing: head, relay, bridge, the node's HTTP server and back.

    python -m benchmarks.relay_hop [--rounds 10] [--hops 200]

Our side is the real one: RelayHop in this process, the relay and a node (one middle layer of the real
model) in processes of their own; what the node says it spent computing and queueing is taken out. The
yardstick is a bare ``websockets`` relay with an echoing peer, three processes too. One token's activation
goes as the same JSON text over both. A 1 MiB prefill body goes as JSON over ours and as a binary frame
over the bare one. Both take turns in every round, and the ratio is taken round by round.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import secrets
import statistics
import time
from collections.abc import Awaitable, Callable

from websockets.asyncio.client import connect

from benchmarks.programs import bare_relay, echo_peer, our_relay, program
from benchmarks.table import print_table, spread
from meshdesk.node.hop import HopRequest
from meshdesk.node.reachability import UnreachableAddresses
from meshdesk.node.relay_hop import RelayHop
from meshdesk.protocol.envelopes import Body, Request, emit_request
from meshdesk.protocol.headers import COMPUTE_MS, QUEUE_MS, ForwardHeaders, parse_milliseconds
from meshdesk.protocol.tensors import TensorSpec
from meshdesk.shard.model_source import find_model

LAYER = 14
WIDTH = 576
PREFILL_TOKENS = 910
"""Just under 1 MiB in bfloat16."""

Measure = Callable[[], Awaitable[float]]


class OurHop:
    """Forwards through the relay to a node that holds one middle layer."""

    def __init__(self, hop: RelayHop, model: str):
        self._hop = hop
        self._model = model

    async def forward(self, tokens: int) -> float:
        """Milliseconds of one hop, computing and queueing taken out."""
        spec = TensorSpec((1, tokens, WIDTH), "bfloat16")
        session = secrets.token_hex(8)
        headers = ForwardHeaders(session, spec, LAYER, 0, self._model).to_headers()
        request = HopRequest("POST", "/forward", headers, b"\x80\x3f" * (tokens * WIDTH))
        started = time.perf_counter()
        answer = await self._hop.request(request)
        total = (time.perf_counter() - started) * 1000
        assert answer.status == 200, answer.body
        assert len(answer.body) == spec.nbytes
        spent = [parse_milliseconds(answer.headers, name) for name in (COMPUTE_MS, QUEUE_MS)]
        await self._hop.request(HopRequest("DELETE", f"/sessions/{session}"))
        return total - sum(each or 0.0 for each in spent)


async def run(rounds: int, hops: int) -> None:
    model = await asyncio.to_thread(find_model, None)
    node_options = ["node", "--json", "--model", str(model), "--layers", f"{LAYER}-{LAYER}", "--dtype", "bfloat16"]
    async with contextlib.AsyncExitStack() as stack:
        relay_url, _ = await stack.enter_async_context(our_relay())
        options = [*node_options, "--threads", "1", "--relay", relay_url]
        ready, _ = await stack.enter_async_context(program("-m", "meshdesk", *options))
        health, relay_addr = await _look_at(ready)
        ours = OurHop(RelayHop(relay_addr, UnreachableAddresses()), f"{health['model']}@{health['revision']}")
        stack.push_async_callback(ours._hop.close)
        bare_url, _ = await stack.enter_async_context(bare_relay())
        await stack.enter_async_context(echo_peer(bare_url + "/ws/a"))
        socket = await stack.enter_async_context(
            connect(bare_url + "/rpc/a", compression=None, max_size=None, proxy=None)
        )

        async def bare(payload: str | bytes) -> float:
            started = time.perf_counter()
            await socket.send(payload)
            await socket.recv()
            return (time.perf_counter() - started) * 1000

        body = b"\x80\x3f" * WIDTH
        one = emit_request(Request("a" * 32, "POST", "/forward", {}, Body.of(body))).decode()
        large = bytes(PREFILL_TOKENS * WIDTH * 2)
        rows = [
            await _compare("1 token", rounds, hops, lambda: ours.forward(1), lambda: bare(one)),
            await _compare(
                "1 MiB prefill", rounds, max(3, hops // 20), lambda: ours.forward(PREFILL_TOKENS), lambda: bare(large)
            ),
        ]
    print(f"{rounds} rounds of {hops} hops; JSON through our relay, the same text (1 MiB: binary) through the bare one")
    print_table(["body", "ours ms", "bare ms", "ratio of medians", "ratio of p99"], rows)


async def _compare(name: str, rounds: int, hops: int, ours: Measure, bare: Measure) -> list[str]:
    medians: list[float] = []
    tails: list[float] = []
    taken: dict[str, list[float]] = {"ours": [], "bare": []}
    for number in range(rounds + 1):
        hop = [await ours() for _ in range(hops)]
        echo = [await bare() for _ in range(hops)]
        if not number:  # the first round warms everything up
            continue
        taken["ours"] += hop
        taken["bare"] += echo
        medians.append(statistics.median(hop) / statistics.median(echo))
        tails.append(_p99(hop) / _p99(echo))
    return [
        name,
        f"{statistics.median(taken['ours']):.2f}, p99 {_p99(taken['ours']):.2f}",
        f"{statistics.median(taken['bare']):.2f}, p99 {_p99(taken['bare']):.2f}",
        spread(medians, "{:.2f}"),
        spread(tails, "{:.2f}"),
    ]


def _p99(values: list[float]) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * 0.99))]


async def _look_at(ready_line: str) -> tuple[dict[str, str], str]:
    """The node's health and its relay address, from its ready line."""
    import json

    import aiohttp

    url = json.loads(ready_line)["url"]
    async with aiohttp.ClientSession() as client, client.get(url + "/health") as response:
        health = await response.json()
    assert health["relay"]["connected"], "the node's bridge is not registered"
    return health, health["relay"]["addr"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--hops", type=int, default=200)
    options = parser.parse_args()
    asyncio.run(run(options.rounds, options.hops))


if __name__ == "__main__":
    main()
