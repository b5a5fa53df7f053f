"""The ``X-Meshnet-…`` headers of ``POST /forward``, read and written in one place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from meshdesk.protocol.errors import ProtocolError
from meshdesk.protocol.sampling import FILL_ONLY, GREEDY, Sampling
from meshdesk.protocol.tensors import TensorSpec

SESSION = "X-Meshnet-Session"
SHAPE = "X-Meshnet-Shape"
DTYPE = "X-Meshnet-Dtype"
START_LAYER = "X-Meshnet-Start-Layer"
POSITION = "X-Meshnet-Position"
MODEL = "X-Meshnet-Model"
SAMPLING = "X-Meshnet-Sampling"
ROUTE = "X-Meshnet-Route"
ROUTE_PROOF = "X-Meshnet-Route-Proof"
COMPUTE_MS = "X-Meshnet-Compute-Ms"
QUEUE_MS = "X-Meshnet-Queue-Ms"

MAX_POSITION = 2**31 - 1
_SESSION = re.compile(r"[A-Za-z0-9_-]{1,128}")
_WHOLE = re.compile(r"[0-9]{1,10}")


class BadHeader(ProtocolError):
    """A header of a forward is missing or malformed."""

    code = "bad_header"


@dataclass(frozen=True, slots=True)
class ForwardHeaders:
    """What the headers of one forward say.

    ``position`` counts the session's tokens before this body; ``model`` is ``id@revision``;
    ``sampling`` is None where the forward only fills the KV cache and wants no token.
    """

    session: str
    spec: TensorSpec
    start_layer: int
    position: int
    model: str
    sampling: Sampling | None = GREEDY

    @classmethod
    def parse(cls, headers: Mapping[str, str]) -> ForwardHeaders:
        """Read them from any mapping, names in any case. An absent sampling header means greedy."""
        found = {name.lower(): value for name, value in headers.items()}
        model = _required(found, MODEL)
        if len(model) > 300 or "@" not in model or not model.isprintable():
            raise BadHeader(f"{MODEL} must be of the form id@revision.")
        sampling = found.get(SAMPLING.lower(), "{}")
        return cls(
            session=parse_session(_required(found, SESSION)),
            spec=TensorSpec.parse(_required(found, SHAPE), _required(found, DTYPE)),
            start_layer=_whole(START_LAYER, _required(found, START_LAYER)),
            position=_whole(POSITION, _required(found, POSITION)),
            model=model,
            sampling=None if sampling == FILL_ONLY else Sampling.from_header(sampling),
        )

    def to_headers(self) -> dict[str, str]:
        """The same as headers to send; greedy sampling needs no header."""
        headers = {
            SESSION: self.session,
            SHAPE: self.spec.shape_header,
            DTYPE: self.spec.dtype,
            START_LAYER: str(self.start_layer),
            POSITION: str(self.position),
            MODEL: self.model,
        }
        if self.sampling is None:
            headers[SAMPLING] = FILL_ONLY
        elif self.sampling != GREEDY:
            headers[SAMPLING] = self.sampling.to_header()
        return headers


def parse_session(value: str) -> str:
    """A Route Session id: 1 to 128 of ``A-Z a-z 0-9 _ -``; BadHeader otherwise."""
    if not _SESSION.fullmatch(value):
        raise BadHeader(f"{SESSION} must be 1 to 128 letters, digits, '-' or '_'.")
    return value


def parse_milliseconds(headers: Mapping[str, str], name: str) -> float | None:
    """A timing header of a peer's answer in ms; None where it is absent or no sane number.

    A peer's timing is shown, never relied on, so a bad one must not fail the hop.
    """
    for given, value in headers.items():
        if given.lower() == name.lower():
            try:
                milliseconds = float(value)
            except ValueError:
                return None
            return milliseconds if 0 <= milliseconds < 1e9 else None
    return None


def _required(found: Mapping[str, str], name: str) -> str:
    value = found.get(name.lower())
    if value is None:
        raise BadHeader(f"The header {name} is missing.")
    return value


def _whole(name: str, value: str) -> int:
    if not _WHOLE.fullmatch(value) or int(value) > MAX_POSITION:
        raise BadHeader(f"{name} must be a whole number of at most {MAX_POSITION}.")
    return int(value)
