"""A mesh of real processes on loopback, started by the same commands a person types."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

READY_S = 90.0
STOP_S = 15.0


class Role:
    """One meshdesk process. Its JSON lines are kept, and can be waited for."""

    def __init__(self, name: str, arguments: Sequence[str]):
        self.name = name
        self._arguments = arguments
        self._process: asyncio.subprocess.Process | None = None
        self._readers: list[asyncio.Task[None]] = []
        self.events: list[dict[str, Any]] = []
        self.log: deque[str] = deque(maxlen=2000)
        self._changed = asyncio.Condition()
        self.ready: dict[str, Any] = {}

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def url(self) -> str:
        return str(self.ready["url"])

    @property
    def returncode(self) -> int | None:
        assert self._process is not None
        return self._process.returncode

    async def start(self) -> Role:
        self._process = process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "meshdesk",
            *self._arguments,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=2**20,
            env={**os.environ, "PYTHONWARNINGS": "error::ResourceWarning"},
        )
        assert process.stdout is not None and process.stderr is not None
        self._readers = [
            asyncio.create_task(self._read_events(process.stdout)),
            asyncio.create_task(self._read_log(process.stderr)),
        ]
        self.ready = await self.wait_for(lambda event: event.get("event") == "ready", READY_S)
        return self

    async def wait_for(
        self, matches: Callable[[dict[str, Any]], bool], timeout_s: float = 30.0, *, since: int = 0
    ) -> dict[str, Any]:
        """The first JSON line from number ``since`` on that matches, whether it has come or is still to come."""
        seen = since
        async with asyncio.timeout(timeout_s), self._changed:
            while True:
                while seen < len(self.events):
                    event = self.events[seen]
                    seen += 1
                    if matches(event):
                        return event
                if self._readers and self._readers[0].done():
                    raise AssertionError(f"{self.name} ended with {self.returncode}:\n" + "\n".join(self.log))
                await self._changed.wait()

    async def stop(self) -> int:
        """SIGTERM, as a service would be stopped; the exit code."""
        assert self._process is not None
        if self._process.returncode is None:
            self._process.terminate()
        return await self._ended()

    async def kill(self) -> None:
        """kill -9."""
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        await self._ended()

    async def _ended(self) -> int:
        assert self._process is not None
        try:
            async with asyncio.timeout(STOP_S):
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()
            raise AssertionError(f"{self.name} did not stop:\n" + "\n".join(self.log)) from None
        finally:
            async with asyncio.timeout(STOP_S):
                await asyncio.gather(*self._readers)
        assert self._process.returncode is not None
        return self._process.returncode

    async def _read_events(self, stream: asyncio.StreamReader) -> None:
        async for line in stream:
            async with self._changed:
                self.events.append(json.loads(line))
                self._changed.notify_all()
        async with self._changed:
            self._changed.notify_all()

    async def _read_log(self, stream: asyncio.StreamReader) -> None:
        async for line in stream:
            self.log.append(line.decode(errors="replace").rstrip())


@dataclass
class Mesh:
    """A tracker, perhaps a relay, and nodes; stop what you like in between."""

    model: Path
    dtype: str
    tracker: Role
    relay: Role | None
    nodes: list[Role] = field(default_factory=list)

    async def add_node(self, layers: str, *options: str, relay_url: str | None = None, direct: bool = True) -> Role:
        """Start a node for ``layers`` ("0-14"); it joins by relay if there is one, and direct if asked."""
        role = await self.node(layers, *options, relay_url=relay_url, direct=direct).start()
        self.nodes.append(role)
        return role

    def node(
        self, layers: str, *options: str, relay: bool = True, relay_url: str | None = None, direct: bool = True
    ) -> Role:
        """A node for ``layers``, not started: by the mesh's relay or ``relay_url``, unless ``relay`` is False."""
        arguments = ["node", "--json", "--forget", "--model", str(self.model)]
        arguments += ["--layers", layers, "--dtype", self.dtype]
        arguments += ["--tracker", self.tracker.url, "--threads", "1", *options]
        if relay_url is None and self.relay is not None:
            relay_url = self.relay.url
        if relay_url and relay:
            arguments += ["--relay", relay_url]
        if not direct:
            arguments += ["--advertise", "none"]
        return Role(f"node {layers}", arguments)

    async def stop(self) -> None:
        """Stop everything that still runs; each must end cleanly."""
        running = [*self.nodes, *([self.relay] if self.relay else []), self.tracker]
        codes = {role.name: await role.stop() for role in running if role.returncode is None}
        assert not any(codes.values()), codes


@contextlib.asynccontextmanager
async def mesh(
    model: Path,
    *layers: str,
    relay: bool = True,
    direct: bool = True,
    dtype: str = "bfloat16",
    options: Sequence[str] = (),
    tracker_options: Sequence[str] = (),
) -> AsyncIterator[Mesh]:
    """A mesh whose nodes hold ``layers``; everything is stopped at the end, also after a failure."""
    started: list[Role] = []
    built: Mesh | None = None
    try:
        tracker = Role("tracker", ["tracker", "--json", "--port", "0", "--allow-loopback", *tracker_options])
        started.append(tracker)
        await tracker.start()
        hub = None
        if relay:
            hub = Role("relay", ["relay", "--json", "--port", "0"])
            started.append(hub)
            await hub.start()
        built = Mesh(model, dtype, tracker, hub)
        roles = [built.node(each, *options, direct=direct) for each in layers]
        started.extend(roles)
        await asyncio.gather(*(role.start() for role in roles))
        built.nodes.extend(roles)
        yield built
        await built.stop()
    finally:
        # A test may have put others in, or new ones in their place.
        added = [] if built is None else [*built.nodes, *([built.relay] if built.relay else [])]
        for role in dict.fromkeys([*started, *added]):
            if role._process is not None:
                await role.kill()


@dataclass
class Answer:
    """What a client of the OpenAI API got."""

    status: int
    text: str
    token_ids: list[int]
    hops: list[dict[str, Any]]
    warnings: list[str]
    finish_reason: str | None
    error: dict[str, Any] | None


async def ask(tracker: Role, prompt: str | list[dict[str, str]], *, stream: bool = True, **fields: Any) -> Answer:
    """One chat through the tracker, greedy unless told otherwise, with the hops' timings."""
    async with aiohttp.ClientSession() as client, open_chat(client, tracker, prompt, stream, **fields) as response:
        if response.status != 200:
            body = await response.json()
            return Answer(response.status, "", [], [], [], None, body["error"])
        if not stream:
            return collect(response.status, [await response.json()])
        return collect(response.status, [chunk async for chunk in chunks(response)])


@contextlib.asynccontextmanager
async def open_chat(
    client: aiohttp.ClientSession,
    tracker: Role,
    prompt: str | list[dict[str, str]],
    stream: bool = True,
    **fields: Any,
) -> AsyncIterator[aiohttp.ClientResponse]:
    messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
    body = {"messages": messages, "stream": stream, "temperature": 0, "meshdesk": {"hops": True}, **fields}
    timeout = aiohttp.ClientTimeout(total=120)
    async with client.post(tracker.url + "/v1/chat/completions", json=body, timeout=timeout) as response:
        yield response


async def chunks(response: aiohttp.ClientResponse) -> AsyncIterator[dict[str, Any]]:
    """The server-sent events of a streamed answer, as JSON; fails if the stream does not end with [DONE]."""
    async for line in response.content:
        data = line.removeprefix(b"data: ").strip()
        if data == b"[DONE]":
            return
        if line.startswith(b"data: "):
            yield json.loads(data)
    raise AssertionError("the stream ended without [DONE]")


def collect(status: int, parts: list[dict[str, Any]]) -> Answer:
    answer = Answer(status, "", [], [], [], None, None)
    for part in parts:
        if "error" in part:
            answer.error = part["error"]
            continue
        for choice in part["choices"]:
            answer.text += (choice.get("delta") or choice.get("message") or {}).get("content", "") or ""
            answer.finish_reason = choice["finish_reason"] or answer.finish_reason
        extension = part.get("meshdesk", {})
        answer.token_ids += extension.get("token_ids", [])
        answer.hops += extension.get("hops", [])
        answer.warnings += extension.get("warnings", [])
    return answer
