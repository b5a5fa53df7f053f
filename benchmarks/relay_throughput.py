"""How much a relay process passes on: 32 sessions at once with 16 KB bodies, ours against a bare relay.

    python -m benchmarks.relay_throughput [--rounds 5] [--seconds 3]

Both relays get the same JSON frames from this process, which plays the requesters and the peers. On few
cores this process is the bottleneck, so the processor time a relay spends on a request is shown too; it
is what one relay process could do with a core of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import statistics
import time
from collections.abc import AsyncIterator

import orjson
import psutil
from websockets.asyncio.client import ClientConnection, connect

from benchmarks.programs import bare_relay, our_relay
from benchmarks.table import print_table, spread
from meshdesk.protocol.envelopes import Body, Register, Request, emit_register, emit_request

SESSIONS = 32
BODY_BYTES = 16_000


class Contestant:
    """32 requester sockets, each with a peer that answers with the body it got."""

    def __init__(self, name: str, process: psutil.Process):
        self.name = name
        self.process = process
        self.requesters: list[ClientConnection] = []
        self.rates: list[float] = []
        self.costs: list[float] = []

    async def measure(self, seconds: float) -> tuple[float, float]:
        """Requests a second, and the relay's processor microseconds for each."""
        body = Body.of(os.urandom(BODY_BYTES))
        until = time.perf_counter() + seconds
        busy = _cpu_s(self.process)
        started = time.perf_counter()
        done = sum(await asyncio.gather(*(self._ask(requester, body, until) for requester in self.requesters)))
        took = time.perf_counter() - started
        return done / took, (_cpu_s(self.process) - busy) / done * 1e6

    async def _ask(self, requester: ClientConnection, body: Body, until: float) -> int:
        done = 0
        while time.perf_counter() < until:
            frame = emit_request(Request(f"r{done}", "POST", "/forward", {"X-Meshnet-Shape": "1,7,1142"}, body))
            await requester.send(frame, text=True)
            await requester.recv(decode=False)
            done += 1
        return done


async def answer(peer: ClientConnection) -> None:
    async for frame in peer:
        asked = orjson.loads(frame)
        reply = {"type": "relay-http-response", "request_id": asked["request_id"], "status": 200, "headers": {}}
        await peer.send(orjson.dumps(reply | {"body_base64": asked["body_base64"]}), text=True)


@contextlib.asynccontextmanager
async def contestant(name: str, url: str, process: psutil.Process, *, ours: bool) -> AsyncIterator[Contestant]:
    built = Contestant(name, process)
    async with contextlib.AsyncExitStack() as stack:
        answering = []

        async def dial(path: str) -> ClientConnection:
            return await stack.enter_async_context(connect(url + path, compression=None, max_size=None, proxy=None))

        for number in range(SESSIONS):
            peer = await dial("/ws" if ours else f"/ws/p{number}")
            if ours:
                await peer.send(emit_register(Register(f"p{number}", "a-secret-of-its-own")), text=True)
                await peer.recv()
            answering.append(asyncio.create_task(answer(peer)))
            built.requesters.append(await dial(f"/rpc/p{number}"))
        try:
            yield built
        finally:
            for task in answering:
                task.cancel()
            await asyncio.gather(*answering, return_exceptions=True)


async def run(rounds: int, seconds: float) -> None:
    async with contextlib.AsyncExitStack() as stack:
        both = []
        for name, relay in (("bare", bare_relay()), ("meshdesk", our_relay())):
            url, process = await stack.enter_async_context(relay)
            both.append(await stack.enter_async_context(contestant(name, url, process, ours=name == "meshdesk")))
        for number in range(rounds + 1):
            for each in both:
                rate, cost = await each.measure(seconds)
                if number:  # the first round warms everything up
                    each.rates.append(rate)
                    each.costs.append(cost)
        bare = both[0]
        rows = []
        for each in both:
            ratios = [rate / base for rate, base in zip(each.rates, bare.rates, strict=True)]
            costs = [base / cost for cost, base in zip(each.costs, bare.costs, strict=True)]
            rows.append(
                [
                    each.name,
                    spread(each.rates, "{:.0f}"),
                    spread(ratios, "{:.2f}"),
                    f"{statistics.median(each.costs):.0f}",
                    spread(costs, "{:.2f}"),
                ]
            )
        print(f"{SESSIONS} sessions at once, {BODY_BYTES} octets a body, {rounds} rounds of {seconds:g} s")
        print_table(
            ["relay", "requests/s", "ratio", "relay CPU µs a request", "ratio by relay CPU"],
            rows,
        )


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0)
    options = parser.parse_args()
    asyncio.run(run(options.rounds, options.seconds))


if __name__ == "__main__":
    main()
