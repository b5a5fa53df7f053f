"""The errors of meshdesk: each says what happened, how it looks on the wire, and what a person can do."""

from __future__ import annotations

from typing import Any, ClassVar


class MeshdeskError(Exception):
    """Base of every error a person may meet.

    ``message`` is one sentence in plain words; ``hint`` is the one thing to do about it, or None.
    ``code`` is the machine-readable name, ``status`` the HTTP status it answers with, and
    ``exit_code`` what a command ends with. ``delivered`` says whether a request that failed may
    have reached its peer: True, False, or None where that is not known.
    """

    code: ClassVar[str] = "internal_error"
    status: ClassVar[int] = 500
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str | None = None, delivered: bool | None = None):
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.delivered = delivered

    def details(self) -> dict[str, Any]:
        """Further fields for the error body; subclasses add what a peer needs to act."""
        return {}

    def to_body(self) -> dict[str, Any]:
        """The JSON body ``{"error": {"code", "message", …}}`` that travels with ``status``."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.hint is not None:
            error["hint"] = self.hint
        if self.delivered is not None:
            error["delivered"] = self.delivered
        error.update(self.details())
        return {"error": error}


class ProtocolError(MeshdeskError):
    """A frame, header or body that does not follow the protocol."""

    code = "bad_request"
    status = 400


class UsageError(MeshdeskError):
    """A command line or configuration that cannot work as given."""

    code = "bad_usage"
    status = 400
    exit_code = 2
