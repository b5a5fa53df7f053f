"""A parent to be killed: ``python -m tests.shard.orphan MODEL starting|computing`` prints its child's id."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from meshdesk.shard.process import ShardProcess
from meshdesk.shard.shard_events import ShardEvent, ShardLoading
from meshdesk.shard.spec import ForwardWork, ShardSpec


async def main(model: Path, when: str) -> None:
    def on_event(event: ShardEvent) -> None:
        if when == "starting" and isinstance(event, ShardLoading) and event.phase == "importing":
            print(shard.pid, flush=True)

    shard = ShardProcess(ShardSpec(model, 0, 3, "bfloat16", 1), on_event)
    await shard.start()
    prompt = tuple(range(3, 90)) * 2
    works = [asyncio.create_task(shard.forward(ForwardWork(f"s{n}", 0, token_ids=prompt))) for n in range(100)]
    await asyncio.wait(works, return_when=asyncio.FIRST_COMPLETED)
    if when == "computing":
        print(shard.pid, flush=True)
    await asyncio.gather(*works)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
