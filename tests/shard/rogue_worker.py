"""A child that loads nothing, says it is ready, and answers a forward with what the session's name asks for."""

from __future__ import annotations

import os
import time
from typing import Any

from meshdesk.shard.child_messages import info_to_frame
from meshdesk.shard.ipc import Frame, FrameReader, encode_frame
from tests.shard.test_child_messages import INFO


def answer(frame: Frame) -> bytes:
    """The octets that ``frame.header["session"]`` names."""
    number = frame.header["number"]
    result: dict[str, Any] = {"op": "answer", "number": number, "compute_ms": 0.0, "queue_ms": 0.0}
    hidden = {**result, "shape": [1, 1, 4], "dtype": "bfloat16"}
    return {
        "garbage": b"\xff" * 64,
        "a header that is no object": b"\2\0\0\0\0\0\0\0[]",
        "no number": encode_frame({"op": "answer"}),
        "a number that is a list": encode_frame({**result, "number": [number]}),
        "out of turn": encode_frame({"op": "phase", "number": number}),
        "unheard of": encode_frame({"op": "party"}),
        "a refusal that makes no sense": encode_frame(
            {"op": "refusal", "number": number, "error": {"code": "session_behind", "have": "x"}}
        ),
        "no result": encode_frame({"op": "answer", "number": number}),
        "too few octets": encode_frame(hidden, b"1234567"),
        "a dtype nobody knows": encode_frame({**hidden, "dtype": "int3"}, b"12345678"),
        "a shape of text": encode_frame({**hidden, "shape": "1,1,4"}, b"12345678"),
    }[frame.header["session"]]


def main() -> None:
    reader = FrameReader()
    fields, payload = info_to_frame(INFO)
    os.write(1, encode_frame({"op": "ready", **fields}, payload))
    while data := os.read(0, 1 << 16):
        for frame in reader.feed(data):
            if frame.op == "forward":
                if frame.header["session"] == "closes its pipes":
                    os.close(1)
                    time.sleep(60)
                os.write(1, answer(frame))


if __name__ == "__main__":
    main()
