"""In the lab: the tokenizer of a model repo."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from meshdesk.protocol.errors import MeshdeskError
from meshdesk.shard.text import Text


@lru_cache
def _text(path: str) -> Text:
    text = Text.load(Path(path))
    assert text is not None
    return text


def call(path: str, method: str, argument: Any) -> Any:
    """What a method of the tokenizer answers, or the code and words of its refusal."""
    try:
        return getattr(_text(path), method)(argument)
    except MeshdeskError as error:
        return {"code": error.code, "message": error.message}


def library_ids(path: str, messages: list[dict[str, str]]) -> list[int]:
    from transformers import AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(path)
    ids: list[int] = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=False)
    return ids


def facts(path: str) -> dict[str, Any]:
    text = Text.load(Path(path))
    if text is None:
        return {}
    return {"eos": text.eos_token_id, "template": text.has_chat_template, "json": text.to_json()}
