"""Records and errors between node and child: there and back unchanged, and malformed ones refused."""

from __future__ import annotations

import contextlib
import random
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshdesk.protocol.errors import MeshdeskError
from meshdesk.protocol.sampling import BadSampling, Sampling
from meshdesk.protocol.tensors import BadTensor, TensorSpec
from meshdesk.shard import child_messages, errors
from meshdesk.shard.ipc import BadFrame, Frame, FrameReader, encode_frame
from meshdesk.shard.spec import ForwardResult, ForwardWork, HiddenResult, ShardInfo, ShardSpec, TokenResult

SPEC = TensorSpec((1, 2, 4), "bfloat16")
STRANGE = struct.pack("<8H", 0x7FC1, 0xFFFF, 0x7F81, 0x8000, 0x0000, 0xFF80, 0x0001, 0x3F80)
"""NaNs with payloads, signalling and negative, -0.0, 0.0, -inf, a subnormal and 1.0 as bfloat16."""

INFO = ShardInfo(
    model_id="m",
    revision="r",
    family="llama",
    num_layers=30,
    start_layer=0,
    end_layer=15,
    hidden_size=576,
    wire_dtype="bfloat16",
    compute_dtype="bfloat16",
    vocab_size=100,
    eos_token_ids=(1, 2),
    max_positions=8192,
    weight_bytes=5,
    kv_bytes_per_token=6,
    tokenizer_json='{"é": "🙂"}',
    has_chat_template=True,
)


def through_a_pipe(header: dict[str, Any], payload: bytes | bytearray | memoryview = b"") -> Frame:
    (frame,) = FrameReader().feed(encode_frame({"op": "x", **header}, payload))
    return frame


def test_what_to_load_comes_through() -> None:
    spec = ShardSpec(Path("a") / "ü", 3, 7, "float32", 2, 123, 4.5, "name")
    frame = through_a_pipe({"spec": child_messages.spec_to_fields(spec)})
    assert child_messages.spec_from_fields(frame.header["spec"]) == spec


@pytest.mark.parametrize("tokenizer", [None, INFO.tokenizer_json])
def test_what_was_loaded_comes_through(tokenizer: str | None) -> None:
    info = ShardInfo(**{name: getattr(INFO, name) for name in ShardInfo.__slots__} | {"tokenizer_json": tokenizer})
    assert child_messages.info_from_frame(through_a_pipe(*child_messages.info_to_frame(info))) == info


def test_strange_bits_come_through_both_ways() -> None:
    work = ForwardWork("s", 3, hidden=memoryview(STRANGE), spec=SPEC)
    there = child_messages.work_from_frame(through_a_pipe(child_messages.work_to_fields(work), STRANGE))
    assert there.hidden is not None
    assert bytes(there.hidden) == STRANGE
    result = HiddenResult(SPEC, STRANGE, 1.25, 0.5)
    assert child_messages.result_from_frame(through_a_pipe(*child_messages.result_to_frame(result))) == result


SAMPLINGS = st.builds(
    Sampling,
    temperature=st.floats(0, 100),
    top_p=st.floats(0, 1),
    top_k=st.integers(0, 2**31 - 1),
    seed=st.integers(0, 2**63 - 1),
    repetition_penalty=st.floats(0.01, 100),
    frequency_penalty=st.floats(-2, 2),
    presence_penalty=st.floats(-2, 2),
    prompt_ids=st.lists(st.integers(0, 2**31 - 1), max_size=4).map(tuple),
    generated_ids=st.lists(st.integers(0, 2**31 - 1), max_size=4).map(tuple),
)
WORKS = st.builds(
    ForwardWork,
    st.text(max_size=20),
    st.integers(0, 2**31),
    token_ids=st.lists(st.integers(0, 2**31 - 1), max_size=5).map(tuple),
    sampling=st.none() | SAMPLINGS,
)


@given(WORKS)
def test_work_comes_through(work: ForwardWork) -> None:
    assert child_messages.work_from_frame(through_a_pipe(child_messages.work_to_fields(work))) == work


@pytest.mark.parametrize(
    "result",
    [TokenResult(7, "é", None, 1.5, 0.0), TokenResult(2, "", "stop", 1.5, 0.25), TokenResult(None, "", None, 1, 0)],
)
def test_a_token_comes_through(result: ForwardResult) -> None:
    assert child_messages.result_from_frame(through_a_pipe(*child_messages.result_to_frame(result))) == result


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
WORK = ["session", "position", "token_ids", "shape", "dtype", "sampling"]
RESULT = ["compute_ms", "queue_ms", "text", "finish_reason", "token_id"]
LOADED = ["info", "has_tokenizer", "model_path", "start_layer", "end_layer"]
NAMES = st.sampled_from([*WORK, *RESULT, *LOADED])


@given(st.dictionaries(NAMES, JSON, max_size=6), st.binary(max_size=16))
def test_malformed_messages_are_typed_errors(fields: dict[str, Any], payload: bytes) -> None:
    frame = through_a_pipe(fields, payload)
    for read in (child_messages.work_from_frame, child_messages.result_from_frame, child_messages.info_from_frame):
        try:
            read(frame)
        except MeshdeskError as error:
            assert error.message.endswith(".")
    with contextlib.suppress(BadFrame):
        child_messages.spec_from_fields(frame.header)


def test_octets_that_do_not_fit_the_shape_are_refused() -> None:
    work = child_messages.work_to_fields(ForwardWork("s", 0, hidden=STRANGE, spec=SPEC))
    with pytest.raises(BadTensor, match="16 octets, but 15"):
        child_messages.work_from_frame(through_a_pipe(work, STRANGE[:-1]))
    fields, data = child_messages.result_to_frame(HiddenResult(SPEC, STRANGE, 0, 0))
    with pytest.raises(BadFrame):
        child_messages.result_from_frame(through_a_pipe(fields, data + b"\0"))


@pytest.mark.parametrize(
    "error",
    [
        errors.SessionBehind(5),
        errors.KvBudgetFull("Full.", retry_after=2.5, hint="Wait."),
        errors.KvBudgetFull("Full."),
        errors.ShardBusy("Busy.", retry_after=1.0),
        errors.ShardOutOfMemory("No memory.", hint="Take less."),
        errors.ShardRefused("No."),
        errors.NotFinite("NaN."),
        errors.SessionEnded("Closed."),
        errors.ModelDamaged("Cut off."),
        errors.ModelUnsupported("Unknown."),
        errors.ShardError("Failed."),
        BadTensor("Shape."),
        BadSampling("Sampling."),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_keep_type_words_and_details(error: MeshdeskError) -> None:
    frame = through_a_pipe({"error": child_messages.error_to_fields(error)})
    again = child_messages.error_from_fields(frame.header["error"])
    assert type(again) is type(error)
    assert again.to_body() == error.to_body()
    assert again.status == error.status


@pytest.mark.parametrize("fields", [None, [], {}, {"code": "unheard_of", "message": 5}, {"code": None}, "x"])
def test_an_error_nobody_knows_is_still_an_error(fields: Any) -> None:
    error = child_messages.error_from_fields(fields)
    assert type(error) is errors.ShardError
    assert error.message


def test_a_forward_takes_either_ids_or_activations() -> None:
    for given_ in ({}, {"token_ids": (1,), "hidden": STRANGE, "spec": SPEC}, {"hidden": STRANGE}, {"spec": SPEC}):
        with pytest.raises(errors.ShardRefused):
            ForwardWork("s", 0, **given_)


def test_random_octets_come_through_unchanged() -> None:
    data = random.Random(5).randbytes(1 << 20)
    spec = TensorSpec((1, 1 << 17, 4), "bfloat16")
    result = HiddenResult(spec, data, 0.0, 0.0)
    assert child_messages.result_from_frame(through_a_pipe(*child_messages.result_to_frame(result))) == result
