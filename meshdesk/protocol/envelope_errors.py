"""What can be wrong with a JSON frame, each as its own typed error."""

from __future__ import annotations

from meshdesk.protocol.errors import ProtocolError


class BadFrame(ProtocolError):
    """A frame that does not follow the protocol. ``request_id`` is set where it could still be read."""

    code = "bad_frame"

    def __init__(self, message: str, *, request_id: str | None = None, delivered: bool | None = False):
        super().__init__(message, delivered=delivered)
        self.request_id = request_id


class FrameTooLarge(BadFrame):
    """The frame, its body or its headers are over a limit."""

    code = "too_large"
    status = 413


class NotUtf8(BadFrame):
    """The frame is not UTF-8 text."""

    code = "not_utf8"


class NotJson(BadFrame):
    """The frame is not one JSON object."""

    code = "not_json"


class MissingField(BadFrame):
    """A field that the frame needs is not there."""

    code = "missing_field"


class MistypedField(BadFrame):
    """A field has another type or range than the protocol says."""

    code = "mistyped_field"


class BadRequestId(BadFrame):
    """The request id is not 1 to 128 letters, digits, '-' or '_'."""

    code = "bad_request_id"


class TwoBodies(BadFrame):
    """Both ``body`` and ``body_base64`` are there."""

    code = "two_bodies"


class BadBase64(BadFrame):
    """``body_base64`` is not strict base64."""

    code = "bad_base64"


class UnknownType(BadFrame):
    """The frame's ``type`` is none that may come here."""

    code = "unknown_type"
