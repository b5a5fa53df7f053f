"""How records and errors travel in the frames between node and child: plain fields there and back. Pure."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from meshdesk.protocol.errors import MeshdeskError, ProtocolError
from meshdesk.protocol.sampling import BadSampling, Sampling
from meshdesk.protocol.tensors import BadTensor, TensorSpec
from meshdesk.shard import errors
from meshdesk.shard.ipc import BadFrame, Frame
from meshdesk.shard.spec import ForwardResult, ForwardWork, HiddenResult, ShardInfo, ShardSpec, TokenResult

Fields = dict[str, Any]

_PLAIN: tuple[type[MeshdeskError], ...] = (
    BadSampling,
    BadTensor,
    errors.ModelDamaged,
    errors.ModelUnsupported,
    errors.NotFinite,
    errors.SessionEnded,
    errors.ShardError,
    errors.ShardOutOfMemory,
    errors.ShardRefused,
)
_RETRY: tuple[type[errors.RetryLater], ...] = (errors.KvBudgetFull, errors.ShardBusy, errors.ShardUnavailable)
_BY_CODE = {kind.code: kind for kind in _PLAIN}
_RETRY_BY_CODE = {kind.code: kind for kind in _RETRY}


def spec_to_fields(spec: ShardSpec) -> Fields:
    return {**dataclasses.asdict(spec), "model_path": str(spec.model_path)}


def spec_from_fields(fields: Fields) -> ShardSpec:
    try:
        return ShardSpec(**{**fields, "model_path": Path(fields["model_path"])})
    except (TypeError, KeyError):
        raise BadFrame("The order to load a shard is malformed.") from None


def info_to_frame(info: ShardInfo) -> tuple[Fields, bytes]:
    """Fields and payload; the tokenizer, megabytes of JSON, is the payload."""
    fields = dataclasses.asdict(info)
    tokenizer = fields.pop("tokenizer_json")
    return {"info": fields, "has_tokenizer": tokenizer is not None}, (tokenizer or "").encode()


def info_from_frame(frame: Frame) -> ShardInfo:
    try:
        fields = dict(frame.header["info"])
        fields["eos_token_ids"] = tuple(fields["eos_token_ids"])
        fields["tokenizer_json"] = frame.payload.decode() if frame.header["has_tokenizer"] else None
        return ShardInfo(**fields)
    except (TypeError, KeyError, ValueError):
        raise BadFrame("The child describes its shard in a way that makes no sense.") from None


def work_to_fields(work: ForwardWork) -> Fields:
    """The fields of a forward; ``work.hidden`` is the payload beside them."""
    fields: Fields = {"session": work.session, "position": work.position}
    if work.token_ids is not None:
        fields["token_ids"] = work.token_ids
    if work.spec is not None:
        fields["shape"] = work.spec.shape
        fields["dtype"] = work.spec.dtype
    if work.sampling is not None:
        fields["sampling"] = {
            field.name: getattr(work.sampling, field.name) for field in dataclasses.fields(work.sampling)
        }
    return fields


def work_from_frame(frame: Frame) -> ForwardWork:
    """The forward in a frame; a ProtocolError or ShardRefused if it is malformed."""
    fields = frame.header
    try:
        token_ids = fields.get("token_ids")
        spec = TensorSpec(tuple(fields["shape"]), fields["dtype"]) if "shape" in fields else None
        if spec is not None:
            spec.check(frame.payload)
        sampling = fields.get("sampling")
        if sampling is not None:
            ids = {name: tuple(sampling[name]) for name in ("prompt_ids", "generated_ids")}
            sampling = Sampling(**{**sampling, **ids})
        return ForwardWork(
            session=str(fields["session"]),
            position=int(fields["position"]),
            token_ids=None if token_ids is None else tuple(token_ids),
            hidden=frame.payload if spec is not None else None,
            spec=spec,
            sampling=sampling,
        )
    except (TypeError, KeyError, ValueError):
        raise BadFrame("A forward for the shard's process is malformed.") from None


def result_to_frame(result: ForwardResult) -> tuple[Fields, bytes]:
    timing = {"compute_ms": result.compute_ms, "queue_ms": result.queue_ms}
    if isinstance(result, HiddenResult):
        return {"shape": result.spec.shape, "dtype": result.spec.dtype, **timing}, result.data
    return {
        "token_id": result.token_id,
        "text": result.text,
        "finish_reason": result.finish_reason,
        **timing,
    }, b""


def result_from_frame(frame: Frame) -> ForwardResult:
    fields = frame.header
    try:
        if "shape" in fields:
            spec = TensorSpec(tuple(fields["shape"]), fields["dtype"])
            spec.check(frame.payload)
            return HiddenResult(spec, bytes(frame.payload), fields["compute_ms"], fields["queue_ms"])
        return TokenResult(
            fields["token_id"], fields["text"], fields["finish_reason"], fields["compute_ms"], fields["queue_ms"]
        )
    except (TypeError, KeyError, ProtocolError):
        raise BadFrame("The child answered a forward with something that is no result.") from None


def error_to_fields(error: MeshdeskError) -> Fields:
    return {"code": error.code, "message": error.message, "hint": error.hint, **error.details()}


def error_from_fields(fields: Any) -> MeshdeskError:
    """The typed error a child answered with; a plain ShardError where its code is not known."""
    if not isinstance(fields, dict):
        fields = {}
    code, hint = fields.get("code"), fields.get("hint")
    message = str(fields.get("message", "The shard failed without saying why."))
    if code == errors.SessionBehind.code:
        return errors.SessionBehind(int(fields.get("have", 0)), message)
    if code in _RETRY_BY_CODE:
        return _RETRY_BY_CODE[code](message, retry_after=fields.get("retry_after"), hint=hint)
    return _BY_CODE.get(str(code), errors.ShardError)(message, hint=hint)
