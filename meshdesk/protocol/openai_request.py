"""OpenAI-form requests (chat completions and completions), read strictly, and OpenAI-form errors.

Tracker and head read the same body with the same rules, so a request that the tracker lets through is
never refused by the head for its form.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import orjson

from meshdesk.protocol.errors import MeshdeskError, ProtocolError
from meshdesk.protocol.sampling import Sampling

MAX_MESSAGES = 1000
MAX_STOPS = 16
MAX_STOP_CHARS = 500
ROLES = frozenset({"system", "developer", "user", "assistant"})
# Fields whose silent loss would give the caller another answer than the one asked for.
_UNSUPPORTED = ("tools", "functions", "tool_choice", "function_call", "logit_bias", "audio", "prediction")


class BadChatRequest(ProtocolError):
    """The OpenAI body cannot be served as given; ``param`` names the field."""

    code = "invalid_request"

    def __init__(self, message: str, param: str | None = None, *, hint: str | None = None):
        super().__init__(message, hint=hint)
        self.param = param


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One generation request. Exactly one of ``messages`` (chat) and ``prompt`` (completions) is there.

    ``seed`` None means the head draws one. ``max_tokens`` None means the head's own limit.
    ``wants_hops`` asks for our extension: token ids and hop timings beside each chunk.
    """

    model: str | None
    messages: tuple[dict[str, str], ...] | None
    prompt: str | tuple[int, ...] | None
    stream: bool
    include_usage: bool
    max_tokens: int | None
    stop: tuple[str, ...]
    seed: int | None
    sampling: Sampling
    echo: bool
    wants_hops: bool

    @property
    def is_chat(self) -> bool:
        return self.messages is not None


def parse_chat_request(body: bytes, *, chat: bool) -> ChatRequest:
    """The body of ``/v1/chat/completions`` (``chat``) or ``/v1/completions``; BadChatRequest if it cannot be served."""
    try:
        # Not the standard library's: that takes half characters (lone surrogates), which nobody can write on.
        fields = orjson.loads(body)
    except ValueError:
        raise BadChatRequest("The body is not JSON, or not UTF-8.") from None
    if not isinstance(fields, dict):
        raise BadChatRequest("The body is not a JSON object.")
    for name in _UNSUPPORTED:
        if fields.get(name) not in (None, [], {}, "none", "auto"):
            raise BadChatRequest(f"{name} is not supported by this mesh yet.", name, hint=f"Send it without {name}.")
    if fields.get("n") not in (None, 1):
        raise BadChatRequest("Only one answer a request (n = 1) is supported.", "n")
    if fields.get("best_of") not in (None, 1):
        raise BadChatRequest("Only best_of = 1 is supported.", "best_of")
    if fields.get("logprobs") not in (None, False, 0) or fields.get("top_logprobs") not in (None, 0):
        raise BadChatRequest("Log probabilities are not supported by this mesh yet.", "logprobs")
    response_format = fields.get("response_format")
    if response_format is not None and response_format != {"type": "text"}:
        raise BadChatRequest("Only response_format text is supported.", "response_format")
    stream = _flag(fields, "stream")
    extension = _object(fields, "meshdesk")
    return ChatRequest(
        model=_text(fields, "model"),
        messages=_messages(fields) if chat else None,
        prompt=None if chat else _prompt(fields),
        stream=stream,
        include_usage=_flag(_object(fields, "stream_options"), "include_usage"),
        max_tokens=_max_tokens(fields),
        stop=_stop(fields),
        seed=_seed(fields),
        sampling=Sampling(
            temperature=_number(fields, "temperature", 1.0, 0.0, 2.0),
            top_p=_number(fields, "top_p", 1.0, 0.0, 1.0),
            top_k=_whole(fields, "top_k", 0, 0, 1_000_000),
            repetition_penalty=_number(fields, "repetition_penalty", 1.0, 0.01, 10.0),
            frequency_penalty=_number(fields, "frequency_penalty", 0.0, -2.0, 2.0),
            presence_penalty=_number(fields, "presence_penalty", 0.0, -2.0, 2.0),
        ),
        echo=_flag(fields, "echo"),
        wants_hops=_flag(extension, "hops"),
    )


def openai_error(error: MeshdeskError) -> dict[str, Any]:
    """``{"error": {"message", "type", "param", "code"}}`` as OpenAI clients expect it."""
    kinds = {400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error"}
    kind = kinds.get(error.status)
    if kind is None:
        kind = "rate_limit_error" if error.status == 429 else "invalid_request_error"
        if error.status >= 500:
            kind = "server_error"
    message = error.message if error.hint is None else f"{error.message} {error.hint}"
    fields = {"message": message, "type": kind, "param": getattr(error, "param", None), "code": error.code}
    return {"error": fields | error.details()}


def _messages(fields: dict[str, Any]) -> tuple[dict[str, str], ...]:
    listed = fields.get("messages")
    if not isinstance(listed, list) or not listed:
        raise BadChatRequest("messages must be a list with at least one message.", "messages")
    if len(listed) > MAX_MESSAGES:
        raise BadChatRequest(f"There are {len(listed)} messages; {MAX_MESSAGES} is the most.", "messages")
    return tuple(_message(message, f"messages[{index}]") for index, message in enumerate(listed))


def _message(message: object, param: str) -> dict[str, str]:
    if not isinstance(message, dict):
        raise BadChatRequest("A message must be an object with role and content.", param)
    role = message.get("role")
    if not isinstance(role, str) or role not in ROLES:
        raise BadChatRequest(f"The role must be one of {', '.join(sorted(ROLES))}.", f"{param}.role")
    # OpenAI's newer name for the same thing; chat templates only know the older one.
    role = "system" if role == "developer" else role
    return {"role": role, "content": _content(message.get("content"), f"{param}.content")}


def _content(content: object, param: str) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list) or not content:
        raise BadChatRequest("The content must be a string or a list of text parts.", param)
    parts: list[str] = []
    for part in content:
        text = part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None
        if not isinstance(text, str):
            raise BadChatRequest("Only text can be sent to this model.", param)
        parts.append(text)
    return "".join(parts)


def _prompt(fields: dict[str, Any]) -> str | tuple[int, ...]:
    prompt = fields.get("prompt")
    if isinstance(prompt, list) and len(prompt) == 1 and isinstance(prompt[0], (str, list)):
        prompt = prompt[0]
    if isinstance(prompt, str):
        return prompt
    if isinstance(prompt, list) and prompt and all(type(item) is int and 0 <= item < 2**31 for item in prompt):
        return tuple(prompt)
    raise BadChatRequest("prompt must be one string or one list of token ids.", "prompt")


def _max_tokens(fields: dict[str, Any]) -> int | None:
    for name in ("max_completion_tokens", "max_tokens"):
        if fields.get(name) is not None:
            return _whole(fields, name, 1, 1, 10_000_000)
    return None


def _stop(fields: dict[str, Any]) -> tuple[str, ...]:
    stop = fields.get("stop")
    listed = [] if stop is None else [stop] if isinstance(stop, str) else stop
    if not isinstance(listed, list) or not all(isinstance(text, str) and text for text in listed):
        raise BadChatRequest("stop must be a string or a list of non-empty strings.", "stop")
    if len(listed) > MAX_STOPS or any(len(text) > MAX_STOP_CHARS for text in listed):
        raise BadChatRequest(f"At most {MAX_STOPS} stop strings of {MAX_STOP_CHARS} characters are taken.", "stop")
    return tuple(listed)


def _seed(fields: dict[str, Any]) -> int | None:
    # Clients send negative seeds too; any whole number names one stream of draws.
    if fields.get("seed") is None:
        return None
    return _whole(fields, "seed", 0, -(2**63), 2**63 - 1) % 2**63


def _flag(fields: dict[str, Any], name: str) -> bool:
    value = fields.get(name)
    if value is None:
        return False
    if not isinstance(value, bool):
        raise BadChatRequest(f"{name} must be true or false.", name)
    return value


def _object(fields: dict[str, Any], name: str) -> dict[str, Any]:
    value = fields.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BadChatRequest(f"{name} must be an object.", name)
    return value


def _text(fields: dict[str, Any], name: str) -> str | None:
    value = fields.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or not 0 < len(value) <= 300:
        raise BadChatRequest(f"{name} must be a string of 1 to 300 characters.", name)
    return value


def _number(fields: dict[str, Any], name: str, default: float, low: float, high: float) -> float:
    value = fields.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise BadChatRequest(f"{name} must be a number.", name)
    if not (low <= value <= high and math.isfinite(value)):
        raise BadChatRequest(f"{name} must lie between {low:g} and {high:g}.", name)
    return float(value)


def _whole(fields: dict[str, Any], name: str, default: int, low: int, high: int) -> int:
    value = fields.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadChatRequest(f"{name} must be a whole number.", name)
    if not low <= value <= high:
        raise BadChatRequest(f"{name} must lie between {low} and {high}.", name)
    return value
