from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshdesk.protocol.errors import MeshdeskError
from meshdesk.protocol.sampling import GREEDY, MAX_HEADER_CHARS, MAX_TOKEN_ID, BadSampling, Sampling

token_ids = st.integers(0, MAX_TOKEN_ID)
samplings = st.builds(
    Sampling,
    temperature=st.floats(0, 100),
    top_p=st.floats(0, 1),
    top_k=st.integers(0, MAX_TOKEN_ID),
    seed=st.integers(0, 2**63 - 1),
    repetition_penalty=st.floats(0.01, 100),
    frequency_penalty=st.floats(-2, 2),
    presence_penalty=st.floats(-2, 2),
    prompt_ids=st.frozensets(token_ids, max_size=50).map(lambda ids: tuple(sorted(ids))),
    generated_ids=st.lists(token_ids, max_size=50).map(tuple),
)


@given(samplings)
def test_the_header_carries_all_that_matters(sampling: Sampling) -> None:
    read = Sampling.from_header(sampling.to_header())
    assert read.generated_ids == (sampling.generated_ids if sampling.penalised else ())
    assert read.prompt_ids == (sampling.prompt_ids if sampling.repetition_penalty != 1.0 else ())
    for name in ("temperature", "top_p", "top_k", "seed", "repetition_penalty", "frequency_penalty"):
        assert getattr(read, name) == getattr(sampling, name)


def test_greedy_is_an_empty_object() -> None:
    assert GREEDY.to_header() == "{}"
    assert Sampling.from_header("{}") == GREEDY
    assert not GREEDY.penalised


def test_a_full_context_of_history_fits_the_header() -> None:
    history = Sampling(
        repetition_penalty=1.1, prompt_ids=tuple(range(0, 49152, 6)), generated_ids=tuple(range(41000, 49192))
    )
    assert len(history.to_header()) <= MAX_HEADER_CHARS


def test_unknown_fields_are_ignored() -> None:
    assert Sampling.from_header('{"temperature": 0.5, "mood": "sunny"}') == Sampling(temperature=0.5)


def test_whole_numbers_serve_as_numbers() -> None:
    assert Sampling.from_header('{"temperature": 1}').temperature == 1.0


@pytest.mark.parametrize(
    "fields",
    [
        {"temperature": -0.1},
        {"temperature": True},
        {"temperature": "1"},
        {"temperature": 10**400},
        {"top_p": 1.5},
        {"top_k": 1.5},
        {"top_k": -1},
        {"seed": 2**63},
        {"repetition_penalty": 0},
        {"frequency_penalty": 3},
        {"presence_penalty": -3},
        {"prompt_ids": 7},
        {"generated_ids": [1, 2]},
        {"generated_ids": "no base64!"},
        {"generated_ids": "é"},
        {"generated_ids": base64.b64encode(b"\xff\xff\xff\xff\x7f").decode()},
        {"generated_ids": base64.b64encode(b"\x80\x80\x80\x80\x80\x00").decode()},
        {"generated_ids": base64.b64encode(b"\x05\x80").decode()},
        {"prompt_ids": base64.b64encode(b"\xff\xff\xff\xff\x07\x01").decode()},
    ],
)
def test_values_out_of_range_are_refused(fields: dict[str, object]) -> None:
    with pytest.raises(BadSampling):
        Sampling.from_header(json.dumps(fields))


@pytest.mark.parametrize("header", ["", "[]", "7", "null", "{", "[" * 100_000, '{"temperature": NaN}', "x" * 70_000])
def test_what_is_no_object_of_numbers_is_refused(header: str) -> None:
    with pytest.raises(BadSampling):
        Sampling.from_header(header)


@given(st.text(max_size=80))
def test_any_text_is_read_or_refused_with_a_typed_error(header: str) -> None:
    try:
        Sampling.from_header(header)
    except MeshdeskError as error:
        assert error.code == "bad_sampling"
