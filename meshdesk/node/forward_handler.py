"""``POST /forward``: one activation through this node's layers, checked before the child sees it."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from aiohttp import web

from meshdesk.node.bandwidth import BandwidthCap
from meshdesk.node.events import Event, ForwardRefused, ForwardServed, SessionClosed
from meshdesk.protocol.errors import MeshdeskError, ProtocolError
from meshdesk.protocol.headers import COMPUTE_MS, DTYPE, QUEUE_MS, SESSION, SHAPE, ForwardHeaders
from meshdesk.shard.errors import RetryLater
from meshdesk.shard.process import ShardProcess
from meshdesk.shard.spec import ForwardWork, ShardInfo, TokenResult

log = logging.getLogger(__name__)

MAX_FORWARD_BYTES = 16 * 1024 * 1024


class BodyTooLarge(ProtocolError):
    """The body is larger than this node takes in one forward."""

    code = "too_large"
    status = 413


class WrongShard(ProtocolError):
    """The forward is meant for other layers, another model or another revision than this node's."""

    code = "wrong_shard"


@dataclass(frozen=True, slots=True)
class ForwardAnswer:
    """What a forward is answered with, however it came; header names are lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class ForwardHandler:
    """Serves forwards on ``shard`` and tells ``publish`` about each."""

    def __init__(
        self,
        shard: ShardProcess,
        info: ShardInfo,
        publish: Callable[[Event], None],
        bandwidth: BandwidthCap | None = None,
    ):
        self._bandwidth = bandwidth or BandwidthCap(0)
        self._shard = shard
        self._info = info
        self._publish = publish

    async def forward(self, request: web.Request) -> web.Response:
        """A forward that came over HTTP. The headers are checked before the body is read."""
        try:
            headers = ForwardHeaders.parse(request.headers)
            self._check(headers, request.content_length)
            body = await self._read(request, headers)
            answer = await self._compute(headers, body)
        except MeshdeskError as error:
            answer = self._refusal(request.headers.get(SESSION, ""), error)
        response = web.Response(status=answer.status, body=answer.body, headers=answer.headers)
        if answer.status != 200 and request.content_length and not request.content.is_eof():
            # The rest of an unread body would be taken for the next request.
            response.force_close()
        return response

    async def answer(self, headers: Mapping[str, str], body: bytes) -> ForwardAnswer:
        """A forward that is here already, as the bridge brings it: the same checks, the same answers."""
        try:
            read = ForwardHeaders.parse(headers)
            self._check(read, len(body))
            return await self._compute(read, body)
        except MeshdeskError as error:
            session = next((value for name, value in headers.items() if name.lower() == SESSION.lower()), "")
            return self._refusal(session, error)

    async def close_session(self, request: web.Request) -> web.Response:
        """``DELETE /sessions/{id}``: free the session's cache; it is no error if there is none."""
        session = request.match_info["session"]
        closed = await self._shard.close_session(session)
        if closed:
            self._publish(SessionClosed(session=session))
        return web.json_response({"closed": closed})

    def _check(self, headers: ForwardHeaders, content_length: int | None) -> None:
        """Refuse what cannot be computed here, by headers alone."""
        info, spec = self._info, headers.spec
        mine = f"{info.model_id}@{info.revision}"
        if headers.model != mine:
            raise WrongShard(f"This node serves {mine}, not {headers.model}.")
        if headers.start_layer != info.start_layer or info.start_layer == 0:
            raise WrongShard(
                f"This node takes activations at layer {info.start_layer}, not at {headers.start_layer}."
                if info.start_layer
                else "This node holds the first layers; it takes chats, not activations."
            )
        if len(spec.shape) != 3 or spec.shape[0] != 1 or spec.shape[2] != info.hidden_size or spec.shape[1] < 1:
            raise WrongShard(f"The shape must be 1,TOKENS,{info.hidden_size}, not {spec.shape_header}.")
        if spec.dtype != info.wire_dtype:
            raise WrongShard(f"This node's seam carries {info.wire_dtype}, not {spec.dtype}.")
        if headers.position + spec.shape[1] > info.max_positions:
            raise WrongShard(
                f"Position {headers.position} with {spec.shape[1]} more tokens is beyond "
                f"the {info.max_positions} that this model takes."
            )
        if spec.nbytes > MAX_FORWARD_BYTES:
            raise BodyTooLarge(
                f"A forward of {spec.nbytes} octets is too large; {MAX_FORWARD_BYTES} is the most.",
                hint="Send the prompt in slices.",
            )
        if content_length is not None:
            spec.check_length(content_length)

    async def _read(self, request: web.Request, headers: ForwardHeaders) -> bytes:
        try:
            body = await request.read()
        except web.HTTPRequestEntityTooLarge:
            raise BodyTooLarge(f"The body is larger than {MAX_FORWARD_BYTES} octets.") from None
        headers.spec.check(body)
        return body

    async def _compute(self, headers: ForwardHeaders, body: bytes) -> ForwardAnswer:
        result = await self._shard.forward(
            ForwardWork(
                session=headers.session,
                position=headers.position,
                token_ids=None,
                hidden=body,
                spec=headers.spec,
                sampling=headers.sampling if self._info.is_last else None,
            )
        )
        timing = {COMPUTE_MS.lower(): f"{result.compute_ms:.3f}", QUEUE_MS.lower(): f"{result.queue_ms:.3f}"}
        if isinstance(result, TokenResult):
            fields = {"token_id": result.token_id, "text": result.text, "finish_reason": result.finish_reason}
            answer = ForwardAnswer(200, timing | {"content-type": "application/json"}, json.dumps(fields).encode())
        else:
            shape = {SHAPE.lower(): result.spec.shape_header, DTYPE.lower(): result.spec.dtype}
            answer = ForwardAnswer(200, timing | shape | {"content-type": "application/octet-stream"}, result.data)
        await self._bandwidth.wait(len(body) + len(answer.body))
        self._publish(
            ForwardServed(
                session=headers.session,
                position=headers.position,
                tokens=headers.spec.shape[1],
                compute_ms=result.compute_ms,
                queue_ms=result.queue_ms,
                bytes_in=len(body),
                bytes_out=len(answer.body),
            )
        )
        return answer

    def _refusal(self, session: str, error: MeshdeskError) -> ForwardAnswer:
        self._publish(ForwardRefused(session=session[:128], status=error.status, code=error.code, reason=error.message))
        log.info("forward refused (%d %s): %s", error.status, error.code, error.message)
        headers = {"content-type": "application/json"}
        if isinstance(error, RetryLater) and error.retry_after is not None:
            headers["retry-after"] = str(math.ceil(error.retry_after))
        return ForwardAnswer(error.status, headers, json.dumps(error.to_body()).encode())
