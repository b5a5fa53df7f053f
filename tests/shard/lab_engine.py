"""In the lab: a shard's engine without its process, for what needs a look inside."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch

from meshdesk.protocol.errors import MeshdeskError
from meshdesk.protocol.sampling import GREEDY
from meshdesk.protocol.tensors import TensorSpec
from meshdesk.shard import engine as engine_module
from meshdesk.shard.engine import ShardEngine, octets
from meshdesk.shard.kv_sessions import SESSION_FLOOR_BYTES
from meshdesk.shard.shard_events import ShardLoading
from meshdesk.shard.spec import ForwardWork, HiddenResult, ShardSpec

Step = tuple[int, list[int]]


def load(path: str, start: int, end: int, dtype: Any) -> dict[str, Any]:
    """What a shard says of itself, and the reports of its loading."""
    reports: list[ShardLoading] = []
    info = ShardEngine.load(ShardSpec(Path(path), start, end, dtype), reports.append).info
    fields = {name: getattr(info, name) for name in info.__slots__ if name != "tokenizer_json"}
    return {**fields, "reports": [[report.phase, report.bytes_done, report.bytes_total] for report in reports]}


def run(path: str, start: int, end: int, dtype: Any, steps: list[tuple[int, list[int]]]) -> list[Any]:
    """What a first shard answers to each (position, token ids) of one session: a digest, a token or an error."""
    engine = ShardEngine.load(ShardSpec(Path(path), start, end, dtype))
    return [_answer(engine, "s", position, ids) for position, ids in steps]


def _answer(engine: ShardEngine, session: str, position: int, ids: list[int]) -> Any:
    sampling = GREEDY if engine.info.is_last else None
    try:
        result = engine.forward(ForwardWork(session, position, token_ids=tuple(ids), sampling=sampling))
    except MeshdeskError as error:
        return {"code": error.code, **error.details()}
    if isinstance(result, HiddenResult):
        return hashlib.sha256(result.data).hexdigest()[:16]
    return result.token_id


def octets_round_trip(values: list[int]) -> list[int]:
    """16-bit patterns into a bfloat16 tensor and out by the engine's own way."""
    data = bytearray(b"".join(value.to_bytes(2, "little") for value in values))
    out = octets(torch.frombuffer(data, dtype=torch.bfloat16).view(1, 1, -1))
    return [int.from_bytes(out[at : at + 2], "little") for at in range(0, len(out), 2)]


def true_cost(path: str, tokens: int) -> dict[str, int]:
    """Octets that a session is accounted for, and those its cache really holds, after a prefill and some steps."""
    engine = ShardEngine.load(ShardSpec(Path(path), 0, 3, "bfloat16"))
    _answer(engine, "s", 0, [3] * tokens)
    for step in range(3):
        _answer(engine, "s", tokens + step, [4])
    cache = engine.sessions._sessions["s"].cache
    held = sum(layer.keys.nbytes + layer.values.nbytes for layer in cache.layers)
    return {"used": engine.sessions.used_bytes, "held": held, "floor": SESSION_FLOOR_BYTES}


def failure_inside(path: str, kind: str) -> dict[str, Any]:
    """The engine's answer when the computation itself raises in the middle, and to the forward after that."""
    failures: dict[str, Exception] = {
        "memory": MemoryError(),
        "torch": RuntimeError("[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory"),
        "system": OSError(12, "Cannot allocate memory"),
        "other": RuntimeError("shapes do not fit"),
    }
    engine = ShardEngine.load(ShardSpec(Path(path), 0, 3, "bfloat16"))
    first = _answer(engine, "s", 0, [3, 4])
    layers: Any = engine._partial.model.base_model.layers

    def fail(*_: Any, **__: Any) -> None:
        raise failures[kind]

    with patch.object(layers[1], "forward", fail):
        error = _answer(engine, "s", 2, [5])
    return {"error": error, "then": _answer(engine, "s", 2, [5]), "again": _answer(engine, "s", 0, [3, 4]) == first}


def out_of_memory_at_load(path: str) -> str:
    """The code of the error when memory ends while a model is read."""
    with patch.object(engine_module, "load_partial_model", side_effect=MemoryError):
        try:
            ShardEngine.load(ShardSpec(Path(path), 0, 3, "bfloat16"))
        except MeshdeskError as error:
            return error.code
    return "loaded"


def takes_activations(path: str) -> list[Any]:
    """A last shard's answers to activations: plain, with NaN, of a wrong width, of a wrong dtype."""
    engine = ShardEngine.load(ShardSpec(Path(path), 3, 6, "bfloat16"))
    width = engine.info.hidden_size
    good = octets(torch.ones(1, 2, width, dtype=torch.bfloat16))
    bad = octets(torch.full((1, 2, width), float("nan"), dtype=torch.bfloat16))
    answers = []
    for data, spec in (
        (good, TensorSpec((1, 2, width), "bfloat16")),
        (bad, TensorSpec((1, 2, width), "bfloat16")),
        (good, TensorSpec((1, 1, 2 * width), "bfloat16")),
        (good, TensorSpec((2, 1, width), "bfloat16")),
        (good, TensorSpec((1, 2, width), "float16")),
        (good, TensorSpec((1, 1, width), "bfloat16")),
        (b"", TensorSpec((1, 0, width), "bfloat16")),
    ):
        try:
            result = engine.forward(ForwardWork("s", 0, hidden=data, spec=spec, sampling=GREEDY))
            answers.append(type(result).__name__)
        except MeshdeskError as error:
            answers.append(error.code)
    return answers
