"""In the lab: small random models of every family, made by the library itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from transformers import AutoConfig, AutoModelForCausalLM

LAYERS = 6
HIDDEN = 32
VOCAB = 96
WINDOW = 16
MAX_POSITIONS = 256

_SIZES: dict[str, Any] = {
    "hidden_size": HIDDEN,
    "intermediate_size": 48,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "vocab_size": VOCAB,
    "max_position_embeddings": MAX_POSITIONS,
    "initializer_range": 0.25,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
_OWN: dict[str, dict[str, Any]] = {
    "gemma2": {"sliding_window": WINDOW, "query_pre_attn_scalar": 8},
    "gemma3_text": {"sliding_window": WINDOW, "query_pre_attn_scalar": 8},
    "mistral": {"sliding_window": WINDOW},
    "olmo3": {"sliding_window": WINDOW},
    "phi3": {"sliding_window": WINDOW},
    "qwen2": {"use_sliding_window": True, "sliding_window": WINDOW, "max_window_layers": 3},
    "qwen3": {"use_sliding_window": True, "sliding_window": WINDOW, "max_window_layers": 3},
    "smollm3": {"no_rope_layer_interval": 4},
}


def make(
    path: str,
    family: str,
    *,
    files: int = 1,
    bare: bool = False,
    seed: int = 0,
    dtype: str = "bfloat16",
    **config: Any,
) -> None:
    """Save a random model. ``files`` > 1 saves with an index, ``bare`` without the names' prefix and the head."""
    torch.manual_seed(seed)
    settings = AutoConfig.for_model(family, **{**_SIZES, **_OWN.get(family, {}), **config})
    model: Any = AutoModelForCausalLM.from_config(settings, dtype=getattr(torch, dtype))  # type: ignore[no-untyped-call]
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.ndim == 1:  # Norms and biases start as constants, which would hide a mix-up of layers.
                parameter.add_(0.1 * torch.randn_like(parameter, dtype=torch.float32).to(parameter.dtype))
            assert parameter.isfinite().all(), name
    total = sum(parameter.nbytes for parameter in model.parameters())
    saved = model.base_model if bare else model
    saved.save_pretrained(path, max_shard_size=total // files + 2000 if files > 1 else "5GB")
    assert (len(list(Path(path).glob("*.safetensors"))) > 1) == (files > 1)


def edit(path: str, *, drop: Sequence[str] = (), reshape: Sequence[str] = ()) -> None:
    """Take tensors out of a single file, or give them another shape."""
    file = Path(path) / "model.safetensors"
    tensors = load_file(file)
    for name in drop:
        del tensors[name]
    for name in reshape:
        tensors[name] = tensors[name][:-1].clone()
    save_file(tensors, file, metadata={"format": "pt"})
