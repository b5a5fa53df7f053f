"""A loaded shard: takes forwards, keeps their sessions, answers activations or tokens. Child process only."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable

import torch

from meshdesk.protocol.errors import MeshdeskError
from meshdesk.protocol.tensors import TensorSpec
from meshdesk.shard.child_setup import give_memory_back
from meshdesk.shard.errors import ShardError, ShardOutOfMemory, ShardRefused
from meshdesk.shard.kv_sessions import KvCost, KvSessions, measure_cost
from meshdesk.shard.model_repo import ModelRepo, read_json, read_model_repo
from meshdesk.shard.partial_model import PartialModel, load_partial_model
from meshdesk.shard.precision import DTYPES, choose_dtypes, dtype_name
from meshdesk.shard.sampler import next_token
from meshdesk.shard.shard_events import ShardLoading
from meshdesk.shard.spec import ForwardResult, ForwardWork, HiddenResult, ShardInfo, ShardSpec, TokenResult
from meshdesk.shard.text import Text

Report = Callable[[ShardLoading], None]

_NO_MEMORY = ("can't allocate memory", "cannot allocate memory", "not enough memory", "bad_alloc")
"""What torch and its kernels write into a RuntimeError when memory is out."""


class ShardEngine:
    """One shard's model and sessions. One thread runs forwards; ``text`` may be used by another."""

    def __init__(self, partial: PartialModel, info: ShardInfo, text: Text | None, sessions: KvSessions):
        self.info = info
        self.text = text
        self.sessions = sessions
        self._partial = partial
        self._wire = DTYPES[info.wire_dtype]
        self._eos = frozenset(info.eos_token_ids)

    @classmethod
    def load(
        cls, spec: ShardSpec, report: Report = lambda _: None, dtypes: tuple[str, str] | None = None
    ) -> ShardEngine:
        """Read the model and run one token through it; raises ModelUnsupported, ModelDamaged, ShardOutOfMemory.

        ``dtypes``, compute and wire, are what an earlier load chose; without them ``spec.dtype`` decides.
        """
        repo = read_model_repo(spec.model_path)
        compute, wire = (DTYPES[dtypes[0]], DTYPES[dtypes[1]]) if dtypes else choose_dtypes(spec.dtype)
        report(ShardLoading("reading"))
        try:
            # First, because it needs much memory for a moment; the weights then take the same memory again.
            text = Text.load(spec.model_path) if spec.start_layer == 0 or spec.end_layer == repo.num_layers else None
            tokenizer_json = text.to_json() if text and spec.start_layer == 0 else None
            give_memory_back()
            partial = load_partial_model(
                repo,
                spec.start_layer,
                spec.end_layer,
                compute,
                lambda done, total: report(ShardLoading("reading", done, total)),
            )
            report(ShardLoading("warming", partial.weight_bytes, partial.weight_bytes))
            cost = _warm_up(partial)
            give_memory_back()
        except (MemoryError, OSError, RuntimeError) as error:
            if is_out_of_memory(error):
                raise ShardOutOfMemory(
                    f"There is not enough memory for layers {spec.start_layer}–{spec.end_layer - 1} of the model.",
                    hint="Take fewer layers, or close other programs.",
                ) from error
            raise
        info = _describe(spec, repo, partial, cost, dtype_name(wire), text, tokenizer_json)
        sessions = KvSessions(partial.new_cache, cost, spec.kv_budget_bytes, spec.idle_seconds)
        return cls(partial, info, text, sessions)

    def forward(self, work: ForwardWork, queue_ms: float = 0.0) -> ForwardResult:
        """Compute one forward.

        Raises ShardRefused, SessionBehind, KvBudgetFull (nothing changed), NotFinite, ShardOutOfMemory
        or ShardError (the session is gone, so the next forward of it is told to start over).
        """
        begun = time.perf_counter()
        tokens = self._check(work)
        cache = self.sessions.begin(work.session, work.position, tokens)
        try:
            with torch.inference_mode():
                result = self._compute(work, tokens, cache)
                data = octets(result) if isinstance(result, torch.Tensor) else b""
        except MeshdeskError:
            self.sessions.drop(work.session)
            raise
        except Exception as error:
            # Some layers hold the new tokens and some do not: such a cache must not be used again.
            del cache
            self.sessions.drop(work.session)
            if is_out_of_memory(error):
                raise ShardOutOfMemory(
                    f"There was not enough memory for {tokens} tokens at position {work.position}.",
                    hint="Use a shorter chat, or give this node fewer layers.",
                ) from error
            raise ShardError(f"The shard failed while computing ({type(error).__name__}).") from error
        self.sessions.commit(work.session, tokens)
        compute_ms = (time.perf_counter() - begun) * 1000.0
        if isinstance(result, torch.Tensor):
            spec = TensorSpec(tuple(result.shape), self.info.wire_dtype)
            return HiddenResult(spec, data, compute_ms, queue_ms)
        if result is None:
            return TokenResult(None, "", None, compute_ms, queue_ms)
        text = self.text.decode_one(result) if self.text else ""
        return TokenResult(result, text, "stop" if result in self._eos else None, compute_ms, queue_ms)

    def _compute(self, work: ForwardWork, tokens: int, cache: object) -> torch.Tensor | int | None:
        inputs = self._inputs(work)
        if not self.info.is_last:
            return self._partial.hidden(inputs, cache).to(self._wire)  # type: ignore[arg-type]
        if work.sampling is None:
            self._partial.hidden(inputs, cache)  # type: ignore[arg-type]
            return None
        logits = self._partial.last_logits(inputs, cache)  # type: ignore[arg-type]
        return next_token(logits, work.sampling, work.position + tokens)

    def _inputs(self, work: ForwardWork) -> torch.Tensor:
        if work.token_ids is not None:
            return torch.tensor(work.token_ids, dtype=torch.long)[None]
        assert work.hidden is not None and work.spec is not None
        # frombuffer wants memory it may write to; what comes from the pipe is a bytearray and is not copied.
        data = work.hidden if isinstance(work.hidden, bytearray) else bytearray(work.hidden)
        return torch.frombuffer(data, dtype=self._wire).view(work.spec.shape).to(self._partial.dtype)

    def _check(self, work: ForwardWork) -> int:
        """How many tokens the forward brings; ShardRefused if it cannot be computed here."""
        info = self.info
        if info.is_first:
            if work.token_ids is None:
                raise ShardRefused("This shard starts at layer 0 and takes token ids, not activations.")
            tokens = len(work.token_ids)
            if tokens and not 0 <= min(work.token_ids) <= max(work.token_ids) < info.vocab_size:
                raise ShardRefused(f"A token id is outside the model's vocabulary of {info.vocab_size}.")
        else:
            if work.spec is None or work.hidden is None:
                raise ShardRefused(f"This shard starts at layer {info.start_layer} and takes activations.")
            if len(work.spec.shape) != 3 or work.spec.shape[0] != 1 or work.spec.shape[2] != info.hidden_size:
                raise ShardRefused(
                    f"The activations have the shape {work.spec.shape_header}; "
                    f"this model's are 1,tokens,{info.hidden_size}."
                )
            if work.spec.dtype != info.wire_dtype:
                raise ShardRefused(f"The activations are {work.spec.dtype}; this shard takes {info.wire_dtype}.")
            work.spec.check(work.hidden)
            tokens = work.spec.shape[1]
        if tokens < 1:
            raise ShardRefused("A forward needs at least one token.")
        if work.sampling is not None:
            named = (*work.sampling.prompt_ids, *work.sampling.generated_ids)
            if named and not 0 <= min(named) <= max(named) < info.vocab_size:
                raise ShardRefused(f"The sampling parameters name a token outside the vocabulary of {info.vocab_size}.")
        if work.position < 0 or work.position + tokens > info.max_positions:
            raise ShardRefused(
                f"The session would grow to {work.position + tokens} tokens; this model takes {info.max_positions}."
            )
        return tokens


def octets(tensor: torch.Tensor) -> bytes:
    """A tensor's values as little-endian octets, bit for bit."""
    return tensor.contiguous().view(torch.uint8).numpy().tobytes()


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an exception means that memory ran out; torch has no type of its own for it on a CPU."""
    if isinstance(error, (MemoryError, torch.OutOfMemoryError)):
        return True
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    words = str(error).lower()
    return isinstance(error, RuntimeError) and any(sign in words for sign in _NO_MEMORY)


def _warm_up(partial: PartialModel) -> KvCost:
    """Run one token: the kernels choose themselves, the weights come in, and the true cost of a token shows."""
    cache = partial.new_cache()
    with torch.inference_mode():
        if partial.is_first:
            inputs = torch.zeros(1, 1, dtype=torch.long)
        else:
            inputs = torch.zeros(1, 1, int(partial.config.hidden_size), dtype=partial.dtype)
        if partial.is_last:
            partial.last_logits(inputs, cache)
        else:
            partial.hidden(inputs, cache)
    return measure_cost(cache, 1)


def _describe(
    spec: ShardSpec,
    repo: ModelRepo,
    partial: PartialModel,
    cost: KvCost,
    wire_dtype: str,
    text: Text | None,
    tokenizer_json: str | None,
) -> ShardInfo:
    config = partial.config
    return ShardInfo(
        model_id=spec.model_id or repo.model_id,
        revision=repo.revision,
        family=partial.family,
        num_layers=repo.num_layers,
        start_layer=spec.start_layer,
        end_layer=spec.end_layer,
        hidden_size=int(config.hidden_size),
        wire_dtype=wire_dtype,
        compute_dtype=dtype_name(partial.dtype),
        vocab_size=int(config.vocab_size),
        eos_token_ids=_eos_ids(repo, text),
        max_positions=int(config.max_position_embeddings),
        weight_bytes=partial.weight_bytes,
        kv_bytes_per_token=cost.per_token,
        tokenizer_json=tokenizer_json,
        has_chat_template=bool(text and text.has_chat_template),
    )


def _eos_ids(repo: ModelRepo, text: Text | None) -> tuple[int, ...]:
    """All ids that end a text: what generation_config.json, config.json and the tokenizer name, together."""
    found: set[int] = set()
    generation = read_json(repo.path / "generation_config.json") or {}
    for named in (generation.get("eos_token_id"), repo.config.get("eos_token_id"), text and text.eos_token_id):
        ids = named if isinstance(named, list) else [named]
        found.update(item for item in ids if isinstance(item, int) and not isinstance(item, bool))
    return tuple(sorted(found))
