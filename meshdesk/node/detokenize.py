"""Token ids to text as they come, never half a character.

A token may end in the middle of a UTF-8 character, and an emoji may span several tokens. Text is
let out only when it is whole; what is still open comes out with ``flush``, so that all pieces
joined equal a one-shot decode of all ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

_REPLACEMENT = "�"


class Decoder(Protocol):
    """What of ``tokenizers.Tokenizer`` is used here."""

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str: ...


class Detokenizer:
    """Decodes one session's tokens incrementally.

    Decoders look at neighbouring tokens (a leading space may depend on what came before), so each
    step decodes a short window twice, with and without the newest tokens, and emits the difference.
    """

    def __init__(self, decoder: Decoder):
        self._decoder = decoder
        self._ids: list[int] = []
        self._window = 0
        """Index of the first id that is still decoded: everything before it is settled."""
        self._emitted = 0
        """Index after the last id whose text has been let out."""

    def push(self, token_id: int) -> str:
        """Add one token; the text that is now whole, often one word, sometimes nothing."""
        self._ids.append(token_id)
        before, text = self._decode()
        if text.endswith(_REPLACEMENT) or len(text) <= len(before):
            return ""
        self._window = self._emitted
        self._emitted = len(self._ids)
        return text[len(before) :]

    def flush(self) -> str:
        """The text still held back; an unfinished character comes out as U+FFFD, as a one-shot decode shows it."""
        before, text = self._decode()
        self._window = self._emitted = len(self._ids)
        return text[len(before) :]

    def _decode(self) -> tuple[str, str]:
        before = self._decoder.decode(self._ids[self._window : self._emitted], skip_special_tokens=True)
        text = self._decoder.decode(self._ids[self._window :], skip_special_tokens=True)
        return before, text
