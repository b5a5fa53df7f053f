"""One activation through all downstream hops of a route, in order."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from meshdesk.node.events import HopTimed, Way
from meshdesk.node.fallback_hop import FallbackHop
from meshdesk.node.hop import HopAnswer, HopRequest, HopUnavailable, forward_deadline
from meshdesk.protocol.errors import MeshdeskError, ProtocolError
from meshdesk.protocol.headers import COMPUTE_MS, DTYPE, QUEUE_MS, SHAPE, ForwardHeaders, parse_milliseconds
from meshdesk.protocol.routes import Hop
from meshdesk.protocol.sampling import MAX_TOKEN_ID
from meshdesk.protocol.tensors import TensorSpec
from meshdesk.shard.errors import SessionEnded

FORWARD_PATH = "/forward"


@dataclass(frozen=True, slots=True)
class Seam:
    """One downstream hop of the route with the ways to it. ``index`` 1 is the first after the head."""

    index: int
    hop: Hop
    ways: FallbackHop

    @property
    def name(self) -> str:
        return f"hop {self.index} (layers {self.hop.start_layer}–{self.hop.end_layer - 1})"


@dataclass(frozen=True, slots=True)
class Activation:
    """Hidden states after the head's layers, with what the next hop needs to know about them."""

    headers: ForwardHeaders
    body: bytes
    token_index: int


@dataclass(frozen=True, slots=True)
class PipelineToken:
    """What the last hop answered; ``token_id`` is None for a forward that only filled the cache."""

    token_id: int | None
    finish_reason: str | None


class PipelineFailed(MeshdeskError):
    """A hop gave no usable answer: the token is skipped. The message is the pipeline error string.

    ``retryable`` says whether the same request may be answered later; ``recovering`` that the node itself says so:
    it is there, and its shard starts again or is busy.
    """

    code = "pipeline_failed"
    status = 502

    def __init__(
        self,
        message: str,
        *,
        seam: Seam,
        retryable: bool = True,
        recovering: bool = False,
        delivered: bool | None = None,
    ):
        super().__init__(message, delivered=delivered)
        self.seam = seam
        self.retryable = retryable
        self.recovering = recovering

    def details(self) -> dict[str, Any]:
        """Which hop it was, so that the tracker can leave that node out of the next route."""
        return {"hop": self.seam.index}


class HopBehind(MeshdeskError):
    """A hop's cache holds only the first ``have`` tokens of the session; they must be sent again from there."""

    code = "session_behind"
    status = 409

    def __init__(self, seam: Seam, have: int):
        super().__init__(f"{seam.name} holds only {have} tokens of this session.")
        self.seam = seam
        self.have = have


async def run_downstream_pipeline(
    seams: Sequence[Seam], activation: Activation, publish: Callable[[HopTimed], None]
) -> PipelineToken:
    """Send one activation through every seam and return the last hop's answer.

    Raises HopBehind where a hop has lost part of the session, PipelineFailed where a hop cannot be
    reached or answers anything else. Publishes one HopTimed a hop.
    """
    headers, body = activation.headers, activation.body
    for seam in seams:
        last = seam is seams[-1]
        headers = replace(headers, start_layer=seam.hop.start_layer)
        started = time.perf_counter()
        way, answer = await _send(seam, headers, body)
        total_ms = (time.perf_counter() - started) * 1000
        if answer.status != 200:
            raise _refusal(seam, headers, answer)
        publish(_timed(seam, way, activation, total_ms, answer, len(body), headers.spec.shape[1]))
        if last:
            return _read_token(seam, answer)
        headers = replace(headers, spec=_read_hidden(seam, headers.spec, answer))
        body = answer.body
    raise ValueError("a pipeline needs at least one seam")


async def _send(seam: Seam, headers: ForwardHeaders, body: bytes) -> tuple[Way, HopAnswer]:
    request = HopRequest(
        "POST",
        FORWARD_PATH,
        {**headers.to_headers(), "Content-Type": "application/octet-stream"},
        body,
        forward_deadline(headers.spec.shape[1]),
    )
    try:
        return await seam.ways.request(request)
    except HopUnavailable as error:
        raise PipelineFailed(f"{seam.name}: {error.message}", seam=seam, delivered=error.delivered) from error


def _timed(
    seam: Seam, way: Way, activation: Activation, total_ms: float, answer: HopAnswer, bytes_out: int, tokens: int
) -> HopTimed:
    return HopTimed(
        session=activation.headers.session,
        token_index=activation.token_index,
        hop=seam.index,
        start_layer=seam.hop.start_layer,
        end_layer=seam.hop.end_layer,
        way=way,
        total_ms=total_ms,
        compute_ms=parse_milliseconds(answer.headers, COMPUTE_MS) or 0.0,
        queue_ms=parse_milliseconds(answer.headers, QUEUE_MS) or 0.0,
        bytes_out=bytes_out,
        bytes_in=len(answer.body),
        tokens=tokens,
    )


def _refusal(seam: Seam, headers: ForwardHeaders, answer: HopAnswer) -> MeshdeskError:
    """The typed error for an answer that is not 200."""
    error = _error_fields(answer.body)
    if answer.status == SessionEnded.status and error.get("code") == SessionEnded.code:
        # Somebody closed the session at that hop while this forward waited there: nothing of it is left.
        return HopBehind(seam, 0)
    have = error.get("have")
    if (
        answer.status == HopBehind.status
        and error.get("code") == HopBehind.code
        and isinstance(have, int)
        and not isinstance(have, bool)
        and 0 <= have < headers.position
    ):
        return HopBehind(seam, have)
    sentence = error.get("message")
    if not isinstance(sentence, str):
        sentence = f"it answered {answer.status} without saying why."
    # A refusal of the request itself will be the same next time; trouble at the node may pass.
    retryable = answer.status >= 500 or answer.status == 429
    return PipelineFailed(
        f"{seam.name}: {sentence[:500]}",
        seam=seam,
        retryable=retryable,
        recovering=answer.status in (429, 503),
        delivered=True,
    )


def _read_token(seam: Seam, answer: HopAnswer) -> PipelineToken:
    try:
        fields = json.loads(answer.body)
    except ValueError:
        fields = None
    if not isinstance(fields, dict) or "token_id" not in fields:
        raise PipelineFailed(f"{seam.name} is the last, but answered no token.", seam=seam, retryable=False)
    token_id, finish_reason = fields["token_id"], fields.get("finish_reason")
    if token_id is not None and (
        isinstance(token_id, bool) or not isinstance(token_id, int) or not 0 <= token_id <= MAX_TOKEN_ID
    ):
        raise PipelineFailed(f"{seam.name} answered a token id that cannot be.", seam=seam, retryable=False)
    if finish_reason not in (None, "stop", "length"):
        finish_reason = None
    return PipelineToken(token_id, finish_reason)


def _read_hidden(seam: Seam, sent: TensorSpec, answer: HopAnswer) -> TensorSpec:
    """A middle hop gives back as many positions of the same width and dtype as it got."""
    try:
        spec = TensorSpec.parse(answer.headers.get(SHAPE.lower(), ""), answer.headers.get(DTYPE.lower(), sent.dtype))
        spec.check(answer.body)
    except ProtocolError as error:
        raise PipelineFailed(f"{seam.name}: {error.message}", seam=seam, retryable=False) from error
    if spec != sent:
        raise PipelineFailed(
            f"{seam.name} answered shape {spec.shape_header} {spec.dtype} for {sent.shape_header} {sent.dtype}.",
            seam=seam,
            retryable=False,
        )
    return spec


def _error_fields(body: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(body)
    except ValueError:
        return {}
    error = fields.get("error") if isinstance(fields, dict) else None
    return error if isinstance(error, dict) else {}
