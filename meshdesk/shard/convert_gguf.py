"""Turn a GGUF file into a safetensors repo: ``python -m meshdesk.shard.convert_gguf FILE DIRECTORY``.

A child process of ``model_source``; torch and transformers live here and never in the parent.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from meshdesk.shard.model_job import JobFailed, Report, serve_job


def convert(gguf: Path, directory: Path, report: Report) -> str:
    """Write weights in bfloat16, configs, tokenizer and chat template of ``gguf`` into ``directory``."""
    report("loading the libraries", 0, 0)
    try:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig
    except ImportError as error:
        raise JobFailed(f"{error.name} is not installed.", "Install meshdesk with its demo extra.") from error

    report("reading the tokenizer", 0, 0)
    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    split_digits(tokenizer, gguf)
    report("reading the weights", 0, 0)
    # Without dequantize=True transformers keeps the weights packed, and save_pretrained would store them so.
    model = AutoModelForCausalLM.from_pretrained(
        gguf.parent,
        gguf_file=gguf.name,
        quantization_config=GgufConfig(dequantize=True),
        dtype=torch.bfloat16,
    )
    # The end tokens decide when an answer ends; the tokenizer's own is the one the chat template writes.
    model.generation_config.eos_token_id = _end_tokens(model.generation_config.eos_token_id, tokenizer.eos_token_id)
    report("writing the model", 0, 0)
    model.save_pretrained(directory)
    tokenizer.save_pretrained(directory)
    if not AutoTokenizer.from_pretrained(directory).chat_template:
        raise JobFailed(f"{gguf.name} holds no chat template.")
    return str(directory)


def split_digits(tokenizer: Any, gguf: Path) -> None:
    """Where the file says that its tokenizer takes digits one by one, make the converted one do so too.

    transformers knows the plain byte-level splitting only, which leaves "\\n\\n1" in other pieces than
    the model was trained with.
    """
    from gguf import GGUFReader
    from tokenizers import pre_tokenizers

    field = GGUFReader(gguf).get_field("tokenizer.ggml.pre")
    if field is not None and field.contents() == "smollm":
        tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Digits(individual_digits=True),
                pre_tokenizers.ByteLevel(add_prefix_space=False),
            ]
        )


def _end_tokens(model: int | list[int] | None, tokenizer: int | None) -> int | list[int] | None:
    known = [model] if isinstance(model, int) else list(model or ())
    if tokenizer is not None and tokenizer not in known:
        known.append(tokenizer)
    return known[0] if len(known) == 1 else known or None


if __name__ == "__main__":
    serve_job(lambda report: convert(Path(sys.argv[1]), Path(sys.argv[2]), report))
