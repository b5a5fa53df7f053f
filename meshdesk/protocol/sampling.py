"""How the last hop picks the next token: the parameters, and the header they travel in.

The seam carries no logits, so the last hop samples. Everything it needs travels with the request and
nothing is remembered, which makes a repeated request draw the same token again.
"""

from __future__ import annotations

import base64
import binascii
import itertools
import json
import math
from dataclasses import dataclass
from typing import Any

from meshdesk.protocol.errors import ProtocolError

MAX_TOKEN_ID = 2**31 - 1
MAX_HEADER_CHARS = 60_000
FILL_ONLY = "none"
"""Header value for a forward that only fills the KV cache: the last hop answers no token."""


class BadSampling(ProtocolError):
    """The sampling header is malformed or out of range."""

    code = "bad_sampling"


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling parameters of one token. Temperature 0 is greedy.

    ``prompt_ids`` are the distinct ids of the prompt (sent only with a repetition penalty);
    ``generated_ids`` are the ids generated so far, in order (sent only with any penalty).
    The draw at absolute position p uses a generator seeded from (``seed``, p) alone.
    """

    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    seed: int = 0
    repetition_penalty: float = 1.0
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    prompt_ids: tuple[int, ...] = ()
    generated_ids: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        _range("temperature", self.temperature, 0.0, 100.0)
        _range("top_p", self.top_p, 0.0, 1.0)
        _range("repetition_penalty", self.repetition_penalty, 0.01, 100.0)
        _range("frequency_penalty", self.frequency_penalty, -2.0, 2.0)
        _range("presence_penalty", self.presence_penalty, -2.0, 2.0)
        _whole("top_k", self.top_k, MAX_TOKEN_ID)
        _whole("seed", self.seed, 2**63 - 1)

    @property
    def penalised(self) -> bool:
        """True if the ids generated so far change the choice."""
        return self.repetition_penalty != 1.0 or self.frequency_penalty != 0.0 or self.presence_penalty != 0.0

    def to_header(self) -> str:
        """The value of ``X-Meshnet-Sampling``: JSON of what differs from the defaults, ids packed."""
        fields: dict[str, Any] = {
            name: value for name, value in zip(_SCALARS, self._scalars(), strict=True) if value != _DEFAULTS[name]
        }
        if self.repetition_penalty != 1.0 and self.prompt_ids:
            fields["prompt_ids"] = _pack_sorted(self.prompt_ids)
        if self.penalised and self.generated_ids:
            fields["generated_ids"] = _pack(self.generated_ids)
        return json.dumps(fields, separators=(",", ":"))

    @classmethod
    def from_header(cls, header: str) -> Sampling:
        """Read ``X-Meshnet-Sampling``; unknown fields are ignored, BadSampling for anything malformed."""
        if len(header) > MAX_HEADER_CHARS:
            raise BadSampling(f"The sampling header has {len(header)} characters; {MAX_HEADER_CHARS} is the most.")
        try:
            fields = json.loads(header)
        except (ValueError, RecursionError):
            raise BadSampling("The sampling header is not JSON.") from None
        if not isinstance(fields, dict):
            raise BadSampling("The sampling header is not a JSON object.")
        given: dict[str, Any] = {}
        for name, kind in _SCALARS.items():
            if name in fields:
                given[name] = _number(name, fields[name], kind)
        if "prompt_ids" in fields:
            given["prompt_ids"] = _unpack_sorted(fields["prompt_ids"])
        if "generated_ids" in fields:
            given["generated_ids"] = _unpack(fields["generated_ids"])
        return cls(**given)

    def _scalars(self) -> tuple[float, ...]:
        return (
            self.temperature,
            self.top_p,
            self.top_k,
            self.seed,
            self.repetition_penalty,
            self.frequency_penalty,
            self.presence_penalty,
        )


_SCALARS: dict[str, type[int] | type[float]] = {
    "temperature": float,
    "top_p": float,
    "top_k": int,
    "seed": int,
    "repetition_penalty": float,
    "frequency_penalty": float,
    "presence_penalty": float,
}
_DEFAULTS: dict[str, float] = {
    "temperature": 0.0,
    "top_p": 1.0,
    "top_k": 0,
    "seed": 0,
    "repetition_penalty": 1.0,
    "frequency_penalty": 0.0,
    "presence_penalty": 0.0,
}


def _range(name: str, value: float, low: float, high: float) -> None:
    if not (math.isfinite(value) and low <= value <= high):
        raise BadSampling(f"{name} must lie between {low:g} and {high:g}, not {value!r}.")


def _whole(name: str, value: int, high: int) -> None:
    if not 0 <= value <= high:
        raise BadSampling(f"{name} must lie between 0 and {high}, not {value!r}.")


def _number(name: str, value: object, kind: type[int] | type[float]) -> float:
    # bool is an int to Python, but "true" is no temperature.
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise BadSampling(f"{name} must be a number.")
    if kind is int and not isinstance(value, int):
        raise BadSampling(f"{name} must be a whole number.")
    try:
        return kind(value)
    except OverflowError:
        raise BadSampling(f"{name} is out of range.") from None


def _pack(ids: tuple[int, ...]) -> str:
    """LEB128 varints, base64: two or three octets an id, where JSON digits would take six."""
    out = bytearray()
    for value in ids:
        while value >= 0x80:
            out.append(value & 0x7F | 0x80)
            value >>= 7
        out.append(value)
    return base64.b64encode(out).decode("ascii")


def _unpack(text: object) -> tuple[int, ...]:
    if not isinstance(text, str):
        raise BadSampling("Packed token ids must be a string.")
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise BadSampling("Packed token ids are not base64.") from None
    ids: list[int] = []
    value = shift = 0
    for octet in data:
        value |= (octet & 0x7F) << shift
        if value > MAX_TOKEN_ID or shift > 28:
            raise BadSampling("A packed token id is out of range.")
        if octet & 0x80:
            shift += 7
            continue
        ids.append(value)
        value = shift = 0
    if shift:
        raise BadSampling("Packed token ids end in the middle of an id.")
    return tuple(ids)


def _pack_sorted(ids: tuple[int, ...]) -> str:
    """Distinct ids as steps from one to the next: about one octet each for a long prompt."""
    ordered = sorted(set(ids))
    steps = [ordered[0], *(high - low for low, high in itertools.pairwise(ordered))]
    return _pack(tuple(steps))


def _unpack_sorted(text: object) -> tuple[int, ...]:
    ids: list[int] = []
    last = 0
    for step in _unpack(text):
        last += step
        if last > MAX_TOKEN_ID:
            raise BadSampling("A packed token id is out of range.")
        ids.append(last)
    return tuple(ids)


GREEDY = Sampling()
