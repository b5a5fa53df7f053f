"""One chat's answer in OpenAI form: text assembled from tokens, whole or as chunks."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from meshdesk.node.detokenize import Decoder, Detokenizer
from meshdesk.node.events import HopTimed
from meshdesk.node.generation import Token
from meshdesk.node.stop_strings import StopStrings
from meshdesk.protocol.openai_request import ChatRequest


@dataclass(frozen=True, slots=True)
class Piece:
    """What one token adds: text that may be shown now, and whether the answer ends with it."""

    text: str
    finish_reason: str | None


class AnswerText:
    """Turns tokens into text: whole characters only, nothing of a stop string, at most ``max_tokens`` tokens."""

    def __init__(self, decoder: Decoder, stops: Iterable[str], max_tokens: int):
        self._detokenizer = Detokenizer(decoder)
        self._stops = StopStrings(tuple(stops))
        self._max_tokens = max_tokens
        self.tokens = 0

    def push(self, token: Token) -> Piece:
        """Take one token. After a piece with a finish_reason nothing more may be pushed."""
        self.tokens += 1
        text = "" if token.stopped else self._detokenizer.push(token.token_id)
        shown, met = self._stops.push(text)
        if met:
            return Piece(shown, "stop")
        if not token.stopped and self.tokens < self._max_tokens:
            return Piece(shown, None)
        # A character that the answer's end cuts in two is left out: half of one is of no use to anybody.
        rest, met = self._stops.push(self._detokenizer.flush().rstrip("\ufffd"))
        ending = shown + rest if met else shown + rest + self._stops.flush()
        return Piece(ending, "stop" if token.stopped or met else "length")


class OpenAIForm:
    """The JSON objects of one answer. Chat and completion differ in names only."""

    def __init__(self, request: ChatRequest, model: str, session: str, prompt_tokens: int):
        self._request = request
        self._chat = request.is_chat
        self._prompt_tokens = prompt_tokens
        self._base: dict[str, Any] = {
            "id": ("chatcmpl-" if self._chat else "cmpl-") + session,
            "created": int(time.time()),
            "model": model,
        }

    def first_chunk(self) -> dict[str, Any] | None:
        """The chunk that opens a streamed chat, naming the role; completions have none."""
        return self._chunk({"role": "assistant", "content": ""}, None) if self._chat else None

    def chunk(self, piece: Piece, token: Token | None, warnings: list[str]) -> dict[str, Any] | None:
        """The chunk for one token; None where it would say nothing."""
        extension = self._extension([token] if token else [], warnings)
        if not piece.text and piece.finish_reason is None and extension is None:
            return None
        delta = {"content": piece.text} if piece.text or piece.finish_reason is None else {}
        chunk = self._chunk(delta, piece.finish_reason, text=piece.text)
        if extension is not None:
            chunk["meshdesk"] = extension
        return chunk

    def usage_chunk(self, completion_tokens: int) -> dict[str, Any] | None:
        """The last chunk of a stream whose caller asked for usage."""
        if not self._request.include_usage:
            return None
        kind = "chat.completion.chunk" if self._chat else "text_completion"
        return {**self._base, "object": kind, "choices": [], "usage": self._usage(completion_tokens)}

    def whole(self, text: str, finish_reason: str, tokens: list[Token], warnings: list[str]) -> dict[str, Any]:
        """The one object of an answer that is not streamed."""
        choice: dict[str, Any] = {"index": 0, "finish_reason": finish_reason, "logprobs": None}
        if self._chat:
            choice["message"] = {"role": "assistant", "content": text, "refusal": None}
        else:
            choice["text"] = text
        answer = {
            **self._base,
            "object": "chat.completion" if self._chat else "text_completion",
            "choices": [choice],
            "usage": self._usage(len(tokens)),
        }
        extension = self._extension(tokens, warnings)
        return answer if extension is None else answer | {"meshdesk": extension}

    def _chunk(self, delta: dict[str, str], finish_reason: str | None, text: str = "") -> dict[str, Any]:
        choice: dict[str, Any] = {"index": 0, "finish_reason": finish_reason, "logprobs": None}
        if self._chat:
            choice["delta"] = delta
        else:
            choice["text"] = text
        kind = "chat.completion.chunk" if self._chat else "text_completion"
        return {**self._base, "object": kind, "choices": [choice]}

    def _usage(self, completion_tokens: int) -> dict[str, int]:
        return {
            "prompt_tokens": self._prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": self._prompt_tokens + completion_tokens,
        }

    def _extension(self, tokens: list[Token], warnings: list[str]) -> dict[str, Any] | None:
        if not self._request.wants_hops:
            return None
        return {
            "token_ids": [token.token_id for token in tokens],
            "hops": [hop_fields(hop) for token in tokens for hop in token.hops],
            "warnings": warnings,
        }


def hop_fields(hop: HopTimed) -> dict[str, Any]:
    """One hop's timing as it is shown to whoever asked for it; milliseconds rounded to microseconds."""
    fields = dataclasses.asdict(hop)
    del fields["session"], fields["at"]
    fields["network_ms"] = hop.network_ms
    return {name: round(value, 3) if isinstance(value, float) else value for name, value in fields.items()}
