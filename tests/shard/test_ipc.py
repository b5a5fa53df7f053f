"""Frames between node and child: whole ones come through bit for bit, anything else is refused at once."""

from __future__ import annotations

import pickle
import struct
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshdesk.shard.ipc import MAX_HEADER_BYTES, MAX_PAYLOAD_BYTES, BadFrame, Frame, FrameReader, encode_frame

HEADERS = st.dictionaries(st.text(max_size=8), st.integers(-(2**53), 2**53) | st.text(max_size=8), max_size=4).map(
    lambda fields: {**fields, "op": "x"}
)
FRAMES = st.tuples(HEADERS, st.binary(max_size=200))


def cut(data: bytes, at: list[int]) -> list[bytes]:
    places = sorted({place % (len(data) + 1) for place in at})
    return [data[low:high] for low, high in zip([0, *places], [*places, len(data)], strict=True)]


def read_all(pieces: list[bytes]) -> list[Frame]:
    reader = FrameReader()
    return [frame for piece in pieces for frame in reader.feed(piece)]


@given(st.lists(FRAMES, max_size=4), st.lists(st.integers(0, 10_000), max_size=8))
def test_frames_survive_any_cut_of_the_stream(frames: list[tuple[dict[str, Any], bytes]], at: list[int]) -> None:
    stream = b"".join(encode_frame(header, payload) for header, payload in frames)
    read = read_all(cut(stream, at))
    assert [(frame.header, bytes(frame.payload)) for frame in read] == frames
    assert all(frame.op == "x" for frame in read)


@given(FRAMES, st.data())
def test_a_frame_cut_short_is_waited_for(frame: tuple[dict[str, Any], bytes], data: st.DataObject) -> None:
    octets = encode_frame(*frame)
    assert read_all([octets[: data.draw(st.integers(0, len(octets) - 1))]]) == []


@given(st.lists(st.binary(max_size=64), max_size=6))
def test_garbage_is_refused_or_waited_for(pieces: list[bytes]) -> None:
    try:
        frames = read_all(pieces)
    except BadFrame:
        return
    assert sum(8 + len(frame.payload) for frame in frames) <= sum(map(len, pieces))


@given(st.binary(min_size=1, max_size=64), st.binary(max_size=16))
def test_a_header_that_is_garbage_is_refused_for_good(head: bytes, payload: bytes) -> None:
    try:
        header = orjson.loads(head)
    except ValueError:
        header = None
    octets = struct.pack("<II", len(head), len(payload)) + head + payload
    if isinstance(header, dict) and isinstance(header.get("op"), str):
        return
    reader = FrameReader()
    with pytest.raises(BadFrame):
        list(reader.feed(octets))
    with pytest.raises(BadFrame):
        list(reader.feed(encode_frame({"op": "x"})))


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_lengths_over_the_cap_are_refused_before_anything_comes(head: int, payload: int) -> None:
    reader = FrameReader()
    announced = struct.pack("<II", head, payload)
    if head > MAX_HEADER_BYTES or payload > MAX_PAYLOAD_BYTES:
        with pytest.raises(BadFrame, match="too large"):
            list(reader.feed(announced))
    elif head or payload:
        assert list(reader.feed(announced)) == []


def test_what_a_peer_would_refuse_is_not_sent() -> None:
    class Huge(bytes):
        def __len__(self) -> int:
            return MAX_PAYLOAD_BYTES + 1

    with pytest.raises(BadFrame, match="too large"):
        encode_frame({"op": "x"}, Huge())
    with pytest.raises(BadFrame, match="too large"):
        encode_frame({"op": "x" * (MAX_HEADER_BYTES + 1)})


def test_a_header_nested_without_end_is_refused() -> None:
    head = b"[" * 100_000
    with pytest.raises(BadFrame, match="not JSON"):
        read_all([struct.pack("<II", len(head), 0) + head])


def test_a_memoryview_of_wider_items_is_measured_in_octets() -> None:
    view: Any = memoryview(struct.pack("<4f", 1, 2, 3, 4)).cast("f")
    (frame,) = read_all([encode_frame({"op": "x"}, view)])
    assert bytes(frame.payload) == view.tobytes()


class Bomb:
    """Unpickled, it makes a file."""

    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.mkdir, (self.path,)


def bomb_frame(path: Path) -> bytes:
    """A frame with a pickle where the header belongs, and as payload."""
    head = pickle.dumps(Bomb(path))
    return struct.pack("<II", len(head), len(head)) + head + head


def test_a_pickle_is_never_run(tmp_path: Path) -> None:
    path = tmp_path / "made"
    pickle.loads(pickle.dumps(Bomb(path)))
    assert path.is_dir(), "the bomb itself is a dud"
    path.rmdir()
    with pytest.raises(BadFrame, match="not JSON"):
        read_all([bomb_frame(path)])
    assert not path.exists()
