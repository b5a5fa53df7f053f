"""Choosing the next token from logits: penalties, temperature, top-k, top-p and the draw. Child process only.

Everything is a function of the arguments, so a forward that is sent twice draws the same token. The
steps and their order are those of transformers and vLLM: repetition penalty over prompt and generated
ids, frequency and presence penalty over generated ids, temperature, top-k, top-p, draw.
"""

from __future__ import annotations

import hashlib

import torch

from meshdesk.protocol.sampling import Sampling
from meshdesk.shard.errors import NotFinite, ShardRefused


def next_token(logits: torch.Tensor, sampling: Sampling, position: int) -> int:
    """The token at absolute ``position``, from float32 logits of shape (1, vocab).

    NotFinite if the logits are NaN or infinite; ShardRefused for penalised ids outside the vocabulary.
    """
    # NaN wins every comparison in max, so one look at the maximum finds it; -inf is a mask, not a fault.
    if not bool(torch.isfinite(logits.max())):
        raise NotFinite(
            "The activations that reached the last layer are not finite numbers, so no token can be chosen.",
            hint="Try again; if it comes back, a node on the route computes wrongly.",
        )
    scores = penalised(logits, sampling)
    if sampling.temperature == 0.0:
        return int(torch.argmax(scores, dim=-1))
    return _draw(filtered(scores, sampling), uniform(sampling.seed, position))


def penalised(logits: torch.Tensor, sampling: Sampling) -> torch.Tensor:
    """Logits after the penalties for ids that were there before; the same tensor where none applies."""
    if not sampling.penalised:
        return logits
    vocabulary = logits.shape[-1]
    generated = _ids(sampling.generated_ids, vocabulary)
    scores = logits.clone()
    if sampling.repetition_penalty != 1.0:
        seen = _ids(tuple({*sampling.prompt_ids, *sampling.generated_ids}), vocabulary)
        old = scores[0, seen]
        penalty = sampling.repetition_penalty
        scores[0, seen] = torch.where(old < 0, old * penalty, old / penalty)
    if sampling.frequency_penalty != 0.0 or sampling.presence_penalty != 0.0:
        counts = torch.bincount(generated, minlength=vocabulary).to(scores.dtype)
        scores[0] -= sampling.frequency_penalty * counts + sampling.presence_penalty * (counts > 0)
    return scores


def filtered(scores: torch.Tensor, sampling: Sampling) -> torch.Tensor:
    """Scores over temperature, with all that top-k and top-p shut out at -inf; shifted so that the best is 0."""
    # Shifting first changes no probability and keeps a tiny temperature from overflowing.
    scores = (scores - scores.max()) / sampling.temperature
    if 0 < sampling.top_k < scores.shape[-1]:
        least = torch.topk(scores, sampling.top_k).values[..., -1, None]
        scores = scores.masked_fill(scores < least, -torch.inf)
    if sampling.top_p < 1.0:
        ascending, order = torch.sort(scores, descending=False)
        shut_out = ascending.softmax(dim=-1).cumsum(dim=-1) <= 1.0 - sampling.top_p
        shut_out[..., -1] = False
        scores = scores.masked_fill(shut_out.scatter(-1, order, shut_out), -torch.inf)
    return scores


def uniform(seed: int, position: int) -> float:
    """A number in [0, 1) that depends on seed and position alone, the same on every machine and version."""
    digest = hashlib.sha256(b"meshdesk draw %d %d" % (seed, position)).digest()
    return (int.from_bytes(digest[:8], "little") >> 11) * 2.0**-53


def _draw(scores: torch.Tensor, at: float) -> int:
    cumulative = scores[0].double().softmax(dim=-1).cumsum(dim=-1)
    # "right" steps over tokens of probability zero; the product stays below the total because ``at`` is below 1.
    token = int(torch.searchsorted(cumulative, cumulative[-1] * at, right=True))
    return min(token, scores.shape[-1] - 1)


def _ids(ids: tuple[int, ...], vocabulary: int) -> torch.Tensor:
    if ids and max(ids) >= vocabulary:
        raise ShardRefused(f"The sampling parameters name token {max(ids)}; the model has {vocabulary} tokens.")
    return torch.tensor(ids, dtype=torch.long)
