"""In the lab: the sampler's steps beside those of transformers, on logits that come as lists."""

from __future__ import annotations

from typing import Any

import torch
from transformers.generation.logits_process import (
    LogitsProcessorList,
    RepetitionPenaltyLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from meshdesk.protocol.errors import MeshdeskError
from meshdesk.protocol.sampling import Sampling
from meshdesk.shard import sampler


def _sampling(fields: dict[str, Any]) -> Sampling:
    ids: dict[str, Any] = {name: tuple(fields[name]) for name in ("prompt_ids", "generated_ids") if name in fields}
    return Sampling(**{**fields, **ids})


def tokens(logits: list[float], sampling: dict[str, Any], positions: list[int]) -> list[int] | str:
    """The tokens at several positions, or the code of the refusal."""
    try:
        return [sampler.next_token(torch.tensor([logits]), _sampling(sampling), position) for position in positions]
    except MeshdeskError as error:
        return error.code


def kept(logits: list[float], sampling: dict[str, Any]) -> list[list[float]]:
    """Probabilities after penalties and filters: ours and the library's for the same parameters."""
    wanted = _sampling(sampling)
    scores = torch.tensor([logits])
    ours = sampler.filtered(sampler.penalised(scores, wanted), wanted)
    steps = LogitsProcessorList()
    if wanted.repetition_penalty != 1.0:
        steps.append(RepetitionPenaltyLogitsProcessor(wanted.repetition_penalty))
    steps.append(TemperatureLogitsWarper(wanted.temperature))
    if wanted.top_k:
        steps.append(TopKLogitsWarper(wanted.top_k))
    if wanted.top_p < 1.0:
        steps.append(TopPLogitsWarper(wanted.top_p))
    # The library shifts nothing; subtracting the maximum afterwards leaves the same probabilities.
    ids: Any = torch.tensor([[*wanted.prompt_ids, *wanted.generated_ids]], dtype=torch.long)
    logits_like: Any = scores.clone()
    theirs = steps(ids, logits_like)
    return [scores.softmax(dim=-1)[0].tolist() for scores in (ours, theirs)]


def penalised(logits: list[float], sampling: dict[str, Any]) -> list[float]:
    """Logits after the penalties."""
    scores: list[float] = sampler.penalised(torch.tensor([logits]), _sampling(sampling))[0].tolist()
    return scores


def uniforms(seed: int, positions: list[int]) -> list[float]:
    return [sampler.uniform(seed, position) for position in positions]
