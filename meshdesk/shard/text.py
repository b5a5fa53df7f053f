"""Chats and text to token ids with the model's own tokenizer and template. Child process only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from transformers import AutoTokenizer

from meshdesk.shard.errors import ModelDamaged, ShardRefused

MAX_CHARACTERS = 4_000_000


class Text:
    """The tokenizer of a model repo."""

    def __init__(self, tokenizer: Any):
        self._tokenizer = tokenizer

    @classmethod
    def load(cls, path: Path) -> Text | None:
        """The repo's tokenizer; None if it has none, ModelDamaged if it cannot be read."""
        if not any((path / name).is_file() for name in ("tokenizer.json", "tokenizer.model", "vocab.json")):
            return None
        try:
            return cls(AutoTokenizer.from_pretrained(path, local_files_only=True, trust_remote_code=False))
        except MemoryError:
            raise
        except Exception as error:  # The library raises whatever its parsers do, a bare Exception among it.
            raise ModelDamaged(
                f"The model's tokenizer cannot be read ({type(error).__name__}).", hint="Download the model again."
            ) from error

    @property
    def eos_token_id(self) -> int | None:
        found = self._tokenizer.eos_token_id
        return found if isinstance(found, int) else None

    @property
    def has_chat_template(self) -> bool:
        return bool(self._tokenizer.chat_template)

    def to_json(self) -> str | None:
        """The tokenizer for the ``tokenizers`` library; None for one that has no such form."""
        backend = getattr(self._tokenizer, "backend_tokenizer", None)
        return None if backend is None else str(backend.to_str())

    def encode_chat(self, messages: Any) -> list[int]:
        """Token ids of a chat with the model's template and the opening of the assistant's turn.

        ShardRefused, with the template's own sentence, for messages it does not take.
        """
        flat = flat_messages(messages)
        if not self.has_chat_template:
            raise ShardRefused(
                "The model has no chat template, so it cannot hold a chat.",
                hint="Use /v1/completions with plain text, or choose an instruction-tuned model.",
            )
        try:
            ids = self._tokenizer.apply_chat_template(
                flat, add_generation_prompt=True, tokenize=True, return_dict=False
            )
        except Exception as error:  # A template is a program of the model's; whatever it raises is its refusal.
            raise ShardRefused(f"The model's chat template refuses this chat: {error}") from error
        return [int(token) for token in ids]

    def encode_text(self, text: Any) -> list[int]:
        """Token ids of plain text, with the start token where the model wants one."""
        if not isinstance(text, str):
            raise ShardRefused("The text to complete must be a string.")
        _check_length(len(text))
        return [int(token) for token in self._tokenizer(text)["input_ids"]]

    def decode_one(self, token_id: int) -> str:
        """One token as text by itself; empty for special tokens and for ids the tokenizer does not know."""
        try:
            return str(self._tokenizer.decode([token_id], skip_special_tokens=True))
        except (IndexError, KeyError, OverflowError, TypeError):
            return ""


def flat_messages(messages: Any) -> list[dict[str, Any]]:
    """OpenAI messages with their content as one string each; ShardRefused for what no text model can take."""
    if not isinstance(messages, list) or not messages:
        raise ShardRefused("A chat needs at least one message.")
    flat: list[dict[str, Any]] = []
    characters = 0
    for message in messages:
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise ShardRefused("Every message needs a role.")
        content = _flat_content(message.get("content"))
        characters += len(content or "")
        flat.append({**message, "content": content})
    _check_length(characters)
    return flat


def _flat_content(content: Any) -> str | None:
    if content is None or isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise ShardRefused("The content of a message must be a string or a list of text parts.")
    for part in content:
        if not isinstance(part, dict) or part.get("type") != "text" or not isinstance(part.get("text"), str):
            kind = part.get("type") if isinstance(part, dict) else None
            raise ShardRefused(f"This model reads text only, and a message holds a part of type {kind!r}.")
    return "".join(part["text"] for part in content)


def _check_length(characters: int) -> None:
    if characters > MAX_CHARACTERS:
        raise ShardRefused(f"The text has {characters} characters; {MAX_CHARACTERS} is the most.")
