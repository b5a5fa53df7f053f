"""``POST /forward``: one activation through this node's layers, checked before the child sees it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable

from aiohttp import web

from meshdesk.node.events import Event, ForwardRefused, ForwardServed
from meshdesk.protocol.errors import MeshdeskError, ProtocolError
from meshdesk.protocol.headers import COMPUTE_MS, DTYPE, QUEUE_MS, SESSION, SHAPE, ForwardHeaders
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


class ForwardHandler:
    """Serves forwards on ``shard`` and tells ``publish`` about each."""

    def __init__(self, shard: ShardProcess, info: ShardInfo, publish: Callable[[Event], None]):
        self._shard = shard
        self._info = info
        self._publish = publish

    async def forward(self, request: web.Request) -> web.Response:
        try:
            headers = ForwardHeaders.parse(request.headers)
            self._check(headers, request.content_length)
            body = await self._read(request, headers)
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
        except MeshdeskError as error:
            return self._refuse(request, error)
        timing = {COMPUTE_MS: f"{result.compute_ms:.3f}", QUEUE_MS: f"{result.queue_ms:.3f}"}
        if isinstance(result, TokenResult):
            fields = {"token_id": result.token_id, "text": result.text, "finish_reason": result.finish_reason}
            answer = json.dumps(fields).encode()
            response = web.Response(body=answer, headers=timing, content_type="application/json")
        else:
            answer = result.data
            shape = {SHAPE: result.spec.shape_header, DTYPE: result.spec.dtype}
            response = web.Response(body=answer, headers=timing | shape, content_type="application/octet-stream")
        self._publish(
            ForwardServed(
                session=headers.session,
                position=headers.position,
                tokens=headers.spec.shape[1],
                compute_ms=result.compute_ms,
                queue_ms=result.queue_ms,
                bytes_in=len(body),
                bytes_out=len(answer),
            )
        )
        return response

    async def close_session(self, request: web.Request) -> web.Response:
        """``DELETE /sessions/{id}``: free the session's cache; it is no error if there is none."""
        closed = await self._shard.close_session(request.match_info["session"])
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

    def _refuse(self, request: web.Request, error: MeshdeskError) -> web.Response:
        session = request.headers.get(SESSION, "")[:128]
        self._publish(ForwardRefused(session=session, status=error.status, code=error.code, reason=error.message))
        log.info("forward refused (%d %s): %s", error.status, error.code, error.message)
        response = web.json_response(error.to_body(), status=error.status)
        if request.content_length and not request.content.is_eof():
            # The rest of an unread body would be taken for the next request.
            response.force_close()
        return response
