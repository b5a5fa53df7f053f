"""Some layers of a model, built by the library's own class and loading code. Child process only.

The class of the whole model is instantiated with fewer layers on the meta device, the parts that
belong to other shards are taken out before anything is loaded, and the library's loader fills what is
left from lazy views of the safetensors files. So only the octets of this shard's tensors are touched,
nothing is initialised at random, and renames, conversions and dtype rules of each family are the
library's. Source: transformers ``PreTrainedModel.from_pretrained(None, config=…, state_dict=…)``.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
from safetensors import safe_open
from transformers import AutoConfig, DynamicCache, PreTrainedConfig, PreTrainedModel
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING
from transformers.utils import logging as library_logging

from meshdesk.shard.errors import ModelDamaged, ModelUnsupported
from meshdesk.shard.families import SUPPORTED, check_family
from meshdesk.shard.model_repo import ModelRepo
from meshdesk.shard.tensor_headers import TensorHeader, shifted

Progress = Callable[[int, int], None]
_PIECE_BYTES = 1 << 20


@dataclass(frozen=True)
class PartialModel:
    """Layers ``[start_layer, end_layer)`` of a model, ready to compute; ``config`` is the whole model's."""

    model: PreTrainedModel
    config: PreTrainedConfig
    family: str
    start_layer: int
    end_layer: int
    dtype: torch.dtype
    weight_bytes: int

    @property
    def is_first(self) -> bool:
        return self.start_layer == 0

    @property
    def is_last(self) -> bool:
        return self.end_layer == int(self.config.num_hidden_layers)

    def new_cache(self) -> DynamicCache:
        """An empty KV cache for one session; its sliding-window layers can undo their last forward."""
        cache = DynamicCache(config=self.model.config)
        cache.activate_past_recording()  # type: ignore[no-untyped-call]
        return cache

    def hidden(self, inputs: torch.Tensor, cache: DynamicCache) -> torch.Tensor:
        """Token ids (1, T) or activations (1, T, hidden) in, activations (1, T, hidden) out; fills the cache."""
        found: torch.Tensor = self.model.base_model(**self._inputs(inputs), cache=cache, use_cache=True)[0]
        return found

    def last_logits(self, inputs: torch.Tensor, cache: DynamicCache) -> torch.Tensor:
        """float32 logits (1, vocab) after the last position, in the steps ``generate`` takes them."""
        out = self.model(**self._inputs(inputs), cache=cache, use_cache=True, logits_to_keep=1)
        logits: torch.Tensor = out.logits[:, -1, :].to(dtype=torch.float32, copy=True)
        return logits

    def _inputs(self, inputs: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"input_ids" if self.is_first else "inputs_embeds": inputs}


class _Elsewhere(torch.nn.Module):
    """Stands where a part of the model lies on another shard; running it is a mistake of ours."""

    def forward(self, *_: Any, **__: Any) -> torch.Tensor:
        raise RuntimeError("This part of the model lies on another shard.")


class _LazyTensor:
    """A tensor of a safetensors file that is read when the loader asks for it, and reports so."""

    def __init__(self, header: TensorHeader, read: Callable[[], torch.Tensor], progress: Callable[[int], None]):
        self._header = header
        self._read = read
        self._progress = progress

    def __getitem__(self, key: object) -> torch.Tensor:
        if key is not Ellipsis:
            raise TypeError("The loader takes whole tensors.")
        tensor = self._read()
        self._progress(self._header.nbytes)
        return tensor


def load_config(repo: ModelRepo) -> PreTrainedConfig:
    """The library's config of the repo; ModelUnsupported for a family that cannot be cut. Reads no weights."""
    check_family(repo.config)
    try:
        config: PreTrainedConfig = AutoConfig.from_pretrained(repo.path, local_files_only=True, trust_remote_code=False)
        return config
    except (ValueError, TypeError, KeyError, OSError) as error:
        raise ModelUnsupported(f"The library cannot read the model's config.json: {error}") from error


def load_partial_model(
    repo: ModelRepo, start_layer: int, end_layer: int, dtype: torch.dtype, progress: Progress = lambda _, __: None
) -> PartialModel:
    """Load layers ``[start_layer, end_layer)`` in ``dtype``.

    ``progress`` is told the octets read and to be read. Raises ModelUnsupported before any weight is
    read for a model that cannot be cut, ModelDamaged where tensors are missing or do not fit.
    """
    config = load_config(repo)
    repo.check_layers(start_layer, end_layer)
    shard_config = _shard_config(config, start_layer, end_layer)
    _check_cache(shard_config)
    is_first, is_last = start_layer == 0, end_layer == repo.num_layers
    wanted = _wanted_tensors(repo, config, start_layer, end_layer)
    whole = cast(type[PreTrainedModel], MODEL_FOR_CAUSAL_LM_MAPPING[type(config)])
    model_class: Any = _pruned_class(whole, is_first, is_last)
    library_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    library_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    model, report = model_class.from_pretrained(
        None,
        config=shard_config,
        state_dict=_lazy_tensors(wanted, None if _keeps_float32(whole) else dtype, progress),
        dtype=dtype,
        # Not ignored, but reported instead of raised: the check below names the tensor.
        ignore_mismatched_sizes=True,
        output_loading_info=True,
    )
    _check_loaded(model, report, start_layer)
    model.requires_grad_(False)
    return PartialModel(
        model=model,
        config=config,
        family=str(config.model_type),
        start_layer=start_layer,
        end_layer=end_layer,
        dtype=dtype,
        weight_bytes=sum({id(p): p.nbytes for p in model.parameters()}.values()),
    )


def _shard_config(config: PreTrainedConfig, start_layer: int, end_layer: int) -> PreTrainedConfig:
    """The config of a model that has only these layers. Absolute layer numbers live in per-layer lists alone."""
    shard = copy.deepcopy(config)
    for name in SUPPORTED[config.model_type]:
        items = getattr(shard, name, None)
        if items is not None:
            setattr(shard, name, list(items[start_layer:end_layer]))
    if (start_layer, end_layer) != (0, config.num_hidden_layers):
        # Embeddings and head are not both here, or are told apart below: there is nothing left to tie.
        shard.tie_word_embeddings = False
    shard.num_hidden_layers = end_layer - start_layer
    return shard


def _check_cache(config: PreTrainedConfig) -> None:
    kinds = {type(layer) for layer in DynamicCache(config=config).layers}
    if strange := kinds - {DynamicLayer, DynamicSlidingWindowLayer}:
        names = ", ".join(sorted(kind.__name__ for kind in strange))
        raise ModelUnsupported(f"The model keeps state that sessions here cannot rewind ({names}).")


def _pruned_class(whole: type[PreTrainedModel], is_first: bool, is_last: bool) -> type[PreTrainedModel]:
    """The library's class, which after building itself (on meta) hands the parts of other shards away."""

    def build(self: Any, config: PreTrainedConfig) -> None:
        whole.__init__(self, config)
        base = self.base_model
        if not is_first:
            base.embed_tokens = _Elsewhere()
        if not is_last:
            base.norm = torch.nn.Identity()
            self.lm_head = _Elsewhere()

    # Name and module stay the library's: it looks up conversions and init rules by them.
    namespace = {"__init__": build, "__module__": whole.__module__, "__qualname__": whole.__qualname__}
    return type(whole.__name__, (whole,), namespace)


def _wanted_tensors(
    repo: ModelRepo, config: PreTrainedConfig, start_layer: int, end_layer: int
) -> dict[str, TensorHeader]:
    """The shard's tensors by the names they have in a model of only these layers."""
    is_first, is_last = start_layer == 0, end_layer == repo.num_layers
    wanted = {shifted(tensor.name, -start_layer): tensor for tensor in repo.of_layers(start_layer, end_layer)}
    outside = {tensor.name: tensor for tensor in repo.outside_layers()}
    embed = _named(outside, "embed_tokens.weight")
    head = _named(outside, "lm_head.weight")
    norm = _named(outside, "norm.weight")
    tied = bool(config.tie_word_embeddings)
    if is_last and head is None and not tied:
        raise ModelUnsupported(
            "The model says that its output head is not tied to its embeddings, yet its files hold no output head.",
            hint="Download the model again, or choose another.",
        )
    # As the library does it: a head in the files is used as it is, tied or not; only an absent one is the other's twin.
    for here, tensor, twin, name in (
        (is_first, embed, head if tied else None, "embed_tokens.weight"),
        (is_last, head, embed if tied else None, "lm_head.weight"),
        (is_last, norm, None, "norm.weight"),
    ):
        if not here:
            continue
        found = tensor or twin
        if found is None:
            raise ModelDamaged(f"The model's files lack the tensor {name}.", hint="Download the model again.")
        if found is tensor:
            wanted[found.name] = found
        elif not (is_first and is_last):
            # The twin's own name would land in a part that is not here; a whole model ties by itself.
            wanted[name if name == "lm_head.weight" else f"model.{name}"] = found
    return wanted


def _named(outside: dict[str, TensorHeader], suffix: str) -> TensorHeader | None:
    """The tensor of this name below any prefix; a checkpoint may have been saved with or without ``model.``."""
    found = [tensor for name, tensor in outside.items() if name == suffix or name.endswith("." + suffix)]
    return min(found, key=lambda tensor: len(tensor.name), default=None)


def _keeps_float32(whole: type[PreTrainedModel]) -> bool:
    """Whether the family has parts that stay in float32 whatever dtype is asked for."""
    return bool(whole._keep_in_fp32_modules or whole._keep_in_fp32_modules_strict)


def _lazy_tensors(wanted: dict[str, TensorHeader], dtype: torch.dtype | None, progress: Progress) -> dict[str, Any]:
    total = sum(tensor.nbytes for tensor in wanted.values())
    done = 0
    lock = threading.Lock()

    def count(nbytes: int) -> None:
        nonlocal done
        with lock:
            done += nbytes
            progress(done, total)

    slices = _open_slices({tensor.file for tensor in wanted.values()}, dtype)
    return {name: _LazyTensor(tensor, slices(tensor), count) for name, tensor in wanted.items()}


def _open_slices(
    files: Iterable[Path], dtype: torch.dtype | None
) -> Callable[[TensorHeader], Callable[[], torch.Tensor]]:
    # Read, not mapped: what is mapped counts as this process's memory beside the copy that is made of it.
    opened = {file: safe_open(file, framework="pt", device="cpu", backend="pread") for file in files}

    def reader(tensor: TensorHeader) -> Callable[[], torch.Tensor]:
        return lambda: _read_aligned(opened[tensor.file].get_slice(tensor.name), dtype)  # type: ignore[no-untyped-call]

    return reader


def _read_aligned(view: Any, dtype: torch.dtype | None) -> torch.Tensor:
    """The tensor in memory that torch allocated itself, read and converted piece by piece.

    The library would convert it as a whole, and hold an embedding of gigabytes twice for that.

    A file's tensors begin at any multiple of 8 octets. Matrix products on memory aligned to the processor's
    vectors are measurably quicker: 5 % of a decode step here.
    """
    shape = view.get_shape()
    if not shape or 0 in shape:
        return cast(torch.Tensor, view[...].clone())
    rows = shape[0]
    piece = view[0:1]
    step = max(1, _PIECE_BYTES // max(1, piece.nbytes))
    whole = torch.empty(shape, dtype=dtype if dtype and piece.is_floating_point() else piece.dtype)
    for begin in range(0, rows, step):
        end = min(rows, begin + step)
        whole[begin:end] = view[begin:end]
    return whole


def _check_loaded(model: PreTrainedModel, report: dict[str, Any], start_layer: int) -> None:
    """Refuse a model with any parameter that did not come out of the files."""
    problems = {
        "missing": sorted(report["missing_keys"]),
        "of another shape": sorted(str(key[0]) for key in report["mismatched_keys"]),
        "not loaded": sorted(name for name, tensor in model.named_parameters() if tensor.is_meta),
        "not set": sorted(name for name, tensor in model.named_buffers() if tensor.is_meta),
        "not converted": sorted(str(message) for message in report["error_msgs"]),
    }
    for what, names in problems.items():
        if names:
            raise ModelDamaged(
                f"{len(names)} of the model's tensors are {what}, the first of them {shifted(names[0], start_layer)}.",
                hint="Download the model again.",
            )
