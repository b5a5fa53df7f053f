"""The records that go in and out of a shard: what to load, what it became, work and results."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from meshdesk.protocol.sampling import Sampling
from meshdesk.protocol.tensors import TensorSpec
from meshdesk.shard.errors import ShardRefused

ComputeChoice = Literal["auto", "bfloat16", "float32"]


@dataclass(frozen=True, slots=True)
class ShardSpec:
    """What a shard process shall load: layers ``[start_layer, end_layer)`` of the repo at ``model_path``.

    ``dtype`` auto computes in bfloat16 unless this processor is far slower at it than at float32.
    ``threads`` None takes the physical cores. ``kv_budget_bytes`` bounds the KV caches of all Route
    Sessions together; one that nobody used for ``idle_seconds`` is forgotten. ``model_id`` None
    names the model after its directory.
    """

    model_path: Path
    start_layer: int
    end_layer: int
    dtype: ComputeChoice = "auto"
    threads: int | None = None
    kv_budget_bytes: int = 1 << 30
    idle_seconds: float = 600.0
    model_id: str | None = None


@dataclass(frozen=True, slots=True)
class ShardInfo:
    """What a loaded shard is. Sizes are in octets; layers are half-open.

    ``wire_dtype`` is what its seams carry, ``compute_dtype`` what it calculates in.
    ``tokenizer_json`` (a ``tokenizers`` JSON) comes with the first shard only, where the repo has a tokenizer.
    """

    model_id: str
    revision: str
    family: str
    num_layers: int
    start_layer: int
    end_layer: int
    hidden_size: int
    wire_dtype: str
    compute_dtype: str
    vocab_size: int
    eos_token_ids: tuple[int, ...]
    max_positions: int
    weight_bytes: int
    kv_bytes_per_token: int
    tokenizer_json: str | None = field(repr=False)
    has_chat_template: bool

    @property
    def is_first(self) -> bool:
        return self.start_layer == 0

    @property
    def is_last(self) -> bool:
        return self.end_layer == self.num_layers


@dataclass(frozen=True, slots=True)
class ForwardWork:
    """One activation to compute: exactly one of ``token_ids`` (first shard) and ``hidden`` with its ``spec``.

    ``position`` counts the session's tokens before this body. A last shard chooses a token after the
    last position if ``sampling`` is given; without it, it only fills its KV cache.
    """

    session: str
    position: int
    token_ids: tuple[int, ...] | None = None
    hidden: bytes | bytearray | memoryview | None = None
    spec: TensorSpec | None = None
    sampling: Sampling | None = None

    def __post_init__(self) -> None:
        if (self.token_ids is None) == (self.hidden is None) or (self.hidden is None) != (self.spec is None):
            raise ShardRefused("A forward takes either token ids or activations with their shape.")


@dataclass(frozen=True, slots=True)
class HiddenResult:
    """The activations after the shard's last layer, shape (1, tokens, hidden_size), little-endian."""

    spec: TensorSpec
    data: bytes
    compute_ms: float
    queue_ms: float


@dataclass(frozen=True, slots=True)
class TokenResult:
    """What the last shard answers. ``token_id`` is None for a forward that only filled the KV cache.

    ``text`` is the token decoded alone (half a character may show as U+FFFD); ``finish_reason`` is
    ``stop`` for one of the model's end tokens.
    """

    token_id: int | None
    text: str
    finish_reason: Literal["stop"] | None
    compute_ms: float
    queue_ms: float


ForwardResult = HiddenResult | TokenResult


@dataclass(frozen=True, slots=True)
class ShardStats:
    """A look at the running child: live sessions, octets of KV cache, forwards waiting and done, memory."""

    sessions: int
    kv_bytes: int
    kv_budget_bytes: int
    queued: int
    computing: bool
    forwards: int
    rss_bytes: int
    uptime_s: float
    restarts: int
