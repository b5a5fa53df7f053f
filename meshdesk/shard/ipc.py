"""Frames between a node and its shard's child process: a JSON header and raw octets. Pure, for both ends.

Layout, little-endian: header length (4), payload length (4), header (a JSON object in UTF-8), payload.
Nothing is unpickled, and a length beyond its cap is refused before anything is set aside for it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from meshdesk.protocol.errors import ProtocolError

MAX_HEADER_BYTES = 16 << 20
MAX_PAYLOAD_BYTES = 512 << 20
_LENGTHS = struct.Struct("<II")


class BadFrame(ProtocolError):
    """The stream between node and child does not hold frames; it cannot be read further."""

    code = "bad_frame"


@dataclass(frozen=True, slots=True)
class Frame:
    """One message: ``op`` says what it is about, ``header`` has the fields, ``payload`` the octets."""

    op: str
    header: dict[str, Any]
    payload: bytearray


def encode_frame(header: dict[str, Any], payload: bytes | bytearray | memoryview = b"") -> bytes:
    """One frame as octets, to be written in one go; BadFrame if it is larger than a peer takes."""
    head = orjson.dumps(header)
    size = payload.nbytes if isinstance(payload, memoryview) else len(payload)
    if len(head) > MAX_HEADER_BYTES or size > MAX_PAYLOAD_BYTES:
        raise BadFrame(f"A message of {len(head)} + {size} octets is too large for the shard's process.")
    return b"".join((_LENGTHS.pack(len(head), size), head, payload))


class FrameReader:
    """Cuts a stream of octets into frames. After BadFrame it reads nothing more."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes | bytearray | memoryview) -> Iterator[Frame]:
        """Take the next octets and give every frame that is whole now; BadFrame for a malformed one."""
        self._buffer += data
        buffer = self._buffer
        while len(buffer) >= _LENGTHS.size:
            head_size, payload_size = _LENGTHS.unpack_from(buffer)
            if head_size > MAX_HEADER_BYTES or payload_size > MAX_PAYLOAD_BYTES:
                raise BadFrame(f"A message of {head_size} + {payload_size} octets is too large.")
            start = _LENGTHS.size + head_size
            end = start + payload_size
            if len(buffer) < end:
                return
            frame = _frame(bytes(buffer[_LENGTHS.size : start]), buffer[start:end])
            del buffer[:end]
            yield frame


def _frame(head: bytes, payload: bytearray) -> Frame:
    try:
        header = orjson.loads(head)
    except orjson.JSONDecodeError:
        raise BadFrame("The header of a message is not JSON.") from None
    op = header.get("op") if isinstance(header, dict) else None
    if not isinstance(op, str):
        raise BadFrame("The header of a message is not an object that says what it is about.")
    return Frame(op, header, payload)
