"""``meshdesk demo``: a whole mesh on this computer answers a question, and shows every token's hop."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import time
from enum import StrEnum
from typing import Annotated, Any

import orjson
import typer

from meshdesk.commands.demo_view import View, choose_view
from meshdesk.commands.options import Compute, Dtype, Model, program
from meshdesk.commands.preparing import prepare_model
from meshdesk.commands.running import run_until_stopped
from meshdesk.volunteer.chat_client import Piece, Question, ask
from meshdesk.volunteer.demo_mesh import DemoMesh, MeshPlan, demo_mesh
from meshdesk.volunteer.layers import split_evenly

PROMPT = "Explain in three short sentences why the sky is blue."
EXIT_TERMINATED = 143


class Way(StrEnum):
    """How the demo's activations travel."""

    RELAY = "relay"
    DIRECT = "direct"


def demo(
    nodes: Annotated[int, typer.Option(min=1, help="How many nodes share the model's layers.")] = 2,
    way: Annotated[Way, typer.Option(help="How activations travel between them.")] = Way.RELAY,
    prompt: Annotated[str, typer.Option(help="What to ask.")] = PROMPT,
    max_tokens: Annotated[int, typer.Option(min=1, help="How long the answer may be.")] = 128,
    dtype: Compute = Dtype.AUTO,
    model: Model = None,
    serve: Annotated[bool, typer.Option("--serve", help="Keep the mesh up for other clients; Ctrl-C ends it.")] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The tracker's port; 0 takes a free one.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object about the answer.")] = False,
) -> None:
    """Start a relay, a tracker and nodes on this computer and stream an answer through them."""
    from meshdesk.shard.child_setup import compute_threads
    from meshdesk.shard.model_repo import read_model_repo

    path = prepare_model(model)
    plan = MeshPlan(
        model_path=path,
        layers=split_evenly(read_model_repo(path).num_layers, nodes),
        by_relay=way is Way.RELAY,
        dtype=dtype.value,
        # Each node computes in threads of its own; more of them than cores would only get in each other's way.
        threads=max(1, compute_threads(None) // nodes),
        tracker_port=port,
    )
    question = Question(
        messages=[{"role": "user", "content": prompt}], max_tokens=max_tokens, temperature=0.0, hops=True
    )
    view = choose_view(json)
    work = _serve(plan, view, json) if serve else _answer_once(plan, question, view, json)
    try:
        stopped_by = asyncio.run(run_until_stopped(work))
    finally:
        view.close()
    if stopped_by is not None and not serve:
        if stopped_by is signal.SIGINT:
            raise KeyboardInterrupt
        sys.exit(EXIT_TERMINATED)


async def _serve(plan: MeshPlan, view: View, json: bool) -> None:
    async with demo_mesh(plan, lambda _: None, view.step) as mesh:
        view.close()
        if json:
            _print_object({"event": "ready", "role": "demo", **_described(plan, mesh)})
        else:
            view.summary(f"The mesh is up. Its tracker: {mesh.tracker_url}")
            view.summary(f"Chat with it:       {program()} chat --tracker {mesh.tracker_url}")
            view.summary(f"Any OpenAI client:  base URL {mesh.tracker_url}/v1, any key")
            view.summary("Ctrl-C ends it.")
        raise await mesh.failure()


async def _answer_once(plan: MeshPlan, question: Question, view: View, json: bool) -> None:
    def take(event: dict[str, Any]) -> None:
        if event.get("event") == "HopTimed":
            view.hop(event)

    async with demo_mesh(plan, take, view.step) as mesh:
        view.step("Asking")
        answer = Answer()
        with view.answering(question.messages[0]["content"]):
            await _while_mesh_runs(mesh, answer.receive(mesh.tracker_url, question, view))
        described = _described(plan, mesh)
        view.step("Stopping the mesh")
    view.close()
    if json:
        _print_object({**described, **answer.to_fields()})
    view.summary(answer.sentence())


async def _while_mesh_runs(mesh: DemoMesh, work: Any) -> None:
    """Do ``work``, but raise RoleFailed as soon as a program of the mesh ends."""
    answering, failing = asyncio.create_task(work, name="answer"), asyncio.create_task(mesh.failure(), name="watch")
    try:
        await asyncio.wait({answering, failing}, return_when=asyncio.FIRST_COMPLETED)
        if not answering.done():
            raise failing.result()
        await answering
    finally:
        for task in (answering, failing):
            task.cancel()
        await asyncio.gather(answering, failing, return_exceptions=True)


class Answer:
    """One answer with when its tokens came. Times in seconds."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._token_ids: list[int] = []
        self._came_at: list[float] = []
        self._hops: list[dict[str, Any]] = []
        self._warnings: list[str] = []
        self._finish_reason: str | None = None
        self._asked_at = 0.0

    async def receive(self, tracker_url: str, question: Question, view: View) -> None:
        """Ask, and take every piece as it comes."""
        self._asked_at = time.perf_counter()
        async with contextlib.aclosing(ask(tracker_url, question)) as pieces:
            async for piece in pieces:
                self._take(piece)
                if piece.text:
                    view.text(piece.text)
                for warning in piece.warnings:
                    view.warn(warning)

    def _take(self, piece: Piece) -> None:
        self._text.append(piece.text)
        self._token_ids += piece.token_ids
        self._came_at += [time.perf_counter()] * len(piece.token_ids)
        self._hops += piece.hops
        self._warnings += piece.warnings
        self._finish_reason = piece.finish_reason or self._finish_reason

    @property
    def tokens_per_s(self) -> float:
        """Tokens a second from the first token to the last; of a single token, from the question to it."""
        if not self._came_at:
            return 0.0
        if len(self._came_at) == 1:
            return 1 / max(1e-9, self._came_at[0] - self._asked_at)
        return (len(self._came_at) - 1) / max(1e-9, self._came_at[-1] - self._came_at[0])

    @property
    def first_token_s(self) -> float:
        return self._came_at[0] - self._asked_at if self._came_at else 0.0

    def sentence(self) -> str:
        count = len(self._token_ids)
        return f"{count} tokens, {self.tokens_per_s:.1f} tokens/s, the first after {self.first_token_s:.2f} s"

    def to_fields(self) -> dict[str, Any]:
        """What ``--json`` says of the answer; hops are one entry a token and hop."""
        return {
            "text": "".join(self._text),
            "token_ids": self._token_ids,
            "finish_reason": self._finish_reason,
            "tokens_per_s": round(self.tokens_per_s, 3),
            "first_token_s": round(self.first_token_s, 3),
            "hops": [_hop_fields(hop) for hop in self._hops],
            "warnings": self._warnings,
        }


def _hop_fields(hop: dict[str, Any]) -> dict[str, Any]:
    """One hop in the demo's form: the token's index, and the layers as ``--layers`` takes them."""
    layers = f"{hop['start_layer']}-{hop['end_layer'] - 1}"
    return {"token": hop["token_index"], "hop": hop["hop"], "layers": layers, **hop}


def _described(plan: MeshPlan, mesh: DemoMesh) -> dict[str, Any]:
    nodes = [
        {"layers": f"{node['start_layer']}-{node['end_layer'] - 1}", **{name: node[name] for name in _NODE_FIELDS}}
        for node in mesh.nodes
    ]
    return {
        "model_path": str(plan.model_path),
        "model": mesh.nodes[0]["model"],
        "url": mesh.tracker_url,
        "relay_url": mesh.relay_url,
        "threads": plan.threads,
        "nodes": nodes,
    }


_NODE_FIELDS = ("url", "relay_addr", "node_id", "dtype", "compute_dtype", "pid")


def _print_object(fields: dict[str, Any]) -> None:
    sys.stdout.write(orjson.dumps(fields).decode() + "\n")
    sys.stdout.flush()
