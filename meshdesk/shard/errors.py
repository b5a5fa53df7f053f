"""What can go wrong with a shard: each error with its code, its status and a sentence."""

from __future__ import annotations

from typing import Any

from meshdesk.protocol.errors import MeshdeskError, UsageError


class ShardError(MeshdeskError):
    """Base of what a shard answers with; also a failure inside it that has no better name."""

    code = "shard_error"
    status = 500


class RetryLater(ShardError):
    """A refusal that passes by itself; ``retry_after`` is in seconds, None where nobody knows."""

    status = 503

    def __init__(
        self,
        message: str,
        *,
        retry_after: float | None = None,
        hint: str | None = None,
        delivered: bool | None = None,
    ):
        super().__init__(message, hint=hint, delivered=delivered)
        self.retry_after = retry_after

    def details(self) -> dict[str, Any]:
        return {} if self.retry_after is None else {"retry_after": round(self.retry_after, 3)}


class SessionBehind(ShardError):
    """The shard holds fewer tokens of the session than the forward builds on; ``have`` says how many."""

    code = "session_behind"
    status = 409

    def __init__(self, have: int, message: str | None = None, *, delivered: bool | None = None):
        super().__init__(
            message or f"This node holds {have} tokens of the session; send what comes after them first.",
            delivered=delivered,
        )
        self.have = have

    def details(self) -> dict[str, Any]:
        return {"have": self.have}


class KvBudgetFull(RetryLater):
    """The KV caches of the live sessions fill the memory set aside for them."""

    code = "kv_full"


class ShardBusy(RetryLater):
    """Too many forwards wait already."""

    code = "shard_busy"


class ShardUnavailable(RetryLater):
    """The child process is not running, or ended before it answered."""

    code = "shard_unavailable"


class TextTooSlow(RetryLater):
    """Turning a chat into tokens took longer than its deadline."""

    code = "text_timeout"


class ShardOutOfMemory(ShardError):
    """There was not enough memory for this forward; its session is gone from the shard."""

    code = "out_of_memory"
    status = 503


class ShardRefused(ShardError):
    """The forward or chat cannot be computed as given."""

    code = "bad_forward"
    status = 400


class SessionEnded(ShardError):
    """The session was closed while this forward waited."""

    code = "session_closed"
    status = 410


class NotFinite(ShardError):
    """The activations hold NaN or infinity, so no token can be chosen; the session is gone from the shard."""

    code = "not_finite"
    status = 500


class ModelUnsupported(UsageError):
    """The model is not one that can be cut into shards here; the message says why."""

    code = "model_unsupported"


class ModelDamaged(UsageError):
    """The model's files are incomplete or contradict each other."""

    code = "model_damaged"
