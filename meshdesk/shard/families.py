"""Which model families are cut into shards here, and why others are not. No torch in here.

The mechanism is general: the library's own class with fewer layers, fed ``inputs_embeds``. It is exact
for a family whose decoder treats ``inputs_embeds`` exactly as it treats the output of a layer, and
whose layers share nothing but their input. Each family below is shown to be so by a test that
compares whole and cut models bit for bit; a family that is not below is refused, because a wrong
answer is worse than none.
"""

from __future__ import annotations

from typing import Any

from meshdesk.shard.errors import ModelUnsupported

SUPPORTED: dict[str, tuple[str, ...]] = {
    "gemma": (),
    "gemma2": ("layer_types",),
    "gemma3_text": ("layer_types",),
    "llama": (),
    "mistral": (),
    "olmo2": (),
    "olmo3": ("layer_types",),
    "phi3": (),
    "qwen2": ("layer_types",),
    "qwen3": ("layer_types",),
    "smollm3": ("layer_types", "no_rope_layers"),
}
"""Model type (as in config.json) to the config entries that hold one item per layer."""

_REASONS: dict[str, str] = {
    "granite": "it scales the embeddings after the point where a later shard would take over",
    "gemma3": "it is a model for images and text; its text-only form gemma3_text is supported",
    "gemma3n_text": "its layers need per-token embeddings that the seam does not carry",
    "gemma4_text": "its layers share KV caches with one another",
    "t5": "it has an encoder",
}


def check_family(config: dict[str, Any]) -> str:
    """The model type of a config.json, or ModelUnsupported with the reason. Reads no weights."""
    family = config.get("model_type")
    if not isinstance(family, str):
        raise ModelUnsupported("The model's config.json names no model_type, so nobody can tell how to run it.")
    if family not in SUPPORTED:
        reason = _REASONS.get(family, "cutting it has not been shown to leave its output unchanged")
        raise ModelUnsupported(
            f"Models of the family {family[:60]!r} cannot be cut into shards here: {reason}.",
            hint=f"Choose a model of one of these families: {', '.join(SUPPORTED)}.",
        )
    if config.get("quantization_config"):
        raise ModelUnsupported(
            "The model's weights are quantised; shards are computed from plain bfloat16, float16 or float32 weights.",
            hint="Choose the model's unquantised form.",
        )
    if config.get("per_layer_config"):
        raise ModelUnsupported("The model's layers are built differently from one another, which a cut does not carry.")
    return family
