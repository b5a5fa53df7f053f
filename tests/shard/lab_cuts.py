"""In the lab: a whole model beside the same model cut into shards, compared in bits."""

from __future__ import annotations

import hashlib
import itertools
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from safetensors import safe_open
from transformers import AutoModelForCausalLM, DynamicCache

from meshdesk.shard import partial_model
from meshdesk.shard.engine import octets
from meshdesk.shard.model_repo import read_model_repo
from meshdesk.shard.partial_model import PartialModel, load_partial_model

PROMPT = 13


def digest(tensor: torch.Tensor) -> str:
    return hashlib.sha256(octets(tensor)).hexdigest()[:16]


def steps(vocabulary: int, decode: int, seed: int = 1) -> list[torch.Tensor]:
    """A prompt in two pieces, then one token at a time: long enough to leave every window."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(3, vocabulary, (1, PROMPT + decode), generator=generator)
    return [ids[:, :9], ids[:, 9:PROMPT], *torch.tensor_split(ids[:, PROMPT:], decode, dim=1)]


def compare(path: str, dtype: str, all_cuts: list[list[int]], decode: int) -> dict[str, Any]:
    """Digests of every step's logits and seams: ``whole`` by the library alone, ``cuts`` by shards."""
    kind = getattr(torch, dtype)
    model: Any = AutoModelForCausalLM.from_pretrained(path, dtype=kind)
    work = steps(model.config.vocab_size, decode)
    whole_logits, layers = _run_whole(model, work)
    cuts = []
    for cut in all_cuts:
        shards = [load(path, start, end, kind) for start, end in itertools.pairwise(cut)]
        logits, seams = _run_cut(shards, work)
        expected = [[step[place] for step in layers] for place in cut[1:-1]]
        cuts.append({"cut": cut, "logits": logits, "seams_equal": seams == expected})
    return {"whole": whole_logits, "cuts": cuts}


def load(path: str, start: int, end: int, dtype: torch.dtype) -> PartialModel:
    return load_partial_model(read_model_repo(Path(path)), start, end, dtype)


def _run_whole(model: Any, work: list[torch.Tensor]) -> tuple[list[str], list[list[str]]]:
    cache = DynamicCache(config=model.config)
    logits, layers = [], []
    with torch.inference_mode():
        for ids in work:
            out = model(input_ids=ids, cache=cache, use_cache=True, output_hidden_states=True, logits_to_keep=1)
            assert out.logits.isfinite().all()
            logits.append(digest(out.logits[:, -1].float()))
            layers.append([digest(hidden) for hidden in out.hidden_states])
    return logits, layers


def _run_cut(shards: list[PartialModel], work: list[torch.Tensor]) -> tuple[list[str], list[list[str]]]:
    caches = [shard.new_cache() for shard in shards]
    logits: list[str] = []
    seams: list[list[str]] = [[] for _ in shards[:-1]]
    with torch.inference_mode():
        for ids in work:
            passed = ids
            for place, (shard, cache) in enumerate(zip(shards, caches, strict=True)):
                if shard.is_last:
                    logits.append(digest(shard.last_logits(passed, cache)))
                else:
                    passed = shard.hidden(passed, cache)
                    seams[place].append(digest(passed))
                    # Over the wire and back: the octets alone must carry everything.
                    passed = torch.frombuffer(bytearray(octets(passed)), dtype=passed.dtype).view(passed.shape)
    return logits, seams


def tensors_read(path: str, start: int, end: int) -> dict[str, Any]:
    """Names whose octets were asked for while loading a shard, the octets announced, and its parameters."""
    read: list[str] = []
    announced: list[tuple[int, int]] = []

    class Recording:
        def __init__(self, *arguments: Any, **options: Any):
            self._file: Any = safe_open(*arguments, **options)

        def get_slice(self, name: str) -> Any:
            read.append(name)
            return self._file.get_slice(name)

    with patch.object(partial_model, "safe_open", Recording):
        partial = load_partial_model(
            read_model_repo(Path(path)), start, end, torch.bfloat16, lambda *progress: announced.append(progress)
        )
    return {
        "read": sorted(read),
        "announced": announced[-1],
        "weight_bytes": partial.weight_bytes,
        "parameters": sorted(name for name, _ in partial.model.named_parameters()),
    }
