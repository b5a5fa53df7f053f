from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshdesk.protocol.errors import MeshdeskError
from meshdesk.protocol.tensors import WIRE_DTYPES, BadTensor, TensorSpec

shapes = st.lists(st.integers(0, 10**6), min_size=1, max_size=4).map(tuple)
dtypes = st.sampled_from(sorted(WIRE_DTYPES))


@given(shapes, dtypes)
def test_a_spec_survives_its_headers(shape: tuple[int, ...], dtype: str) -> None:
    spec = TensorSpec(shape, dtype)
    assert TensorSpec.parse(spec.shape_header, spec.dtype) == spec
    assert spec.numel == math.prod(shape)
    assert spec.nbytes == spec.numel * WIRE_DTYPES[dtype]


@given(st.lists(st.integers(0, 9), min_size=1, max_size=4).map(tuple), dtypes, st.integers(0, 5000))
def test_only_the_exact_number_of_octets_passes(shape: tuple[int, ...], dtype: str, length: int) -> None:
    spec = TensorSpec(shape, dtype)
    spec.check(bytes(spec.nbytes))
    spec.check(memoryview(bytearray(spec.nbytes)))
    if length != spec.nbytes:
        with pytest.raises(BadTensor) as caught:
            spec.check(bytes(length))
        assert str(length) in caught.value.message and str(spec.nbytes) in caught.value.message


def test_a_memoryview_counts_octets_and_not_elements() -> None:
    spec = TensorSpec((1, 3), "float32")
    spec.check(memoryview(bytes(12)).cast("f"))


@given(st.text(max_size=40), st.text(max_size=20))
def test_any_text_is_read_or_refused_with_a_typed_error(shape: str, dtype: str) -> None:
    for given_dtype in (dtype, "bfloat16"):
        try:
            spec = TensorSpec.parse(shape, given_dtype)
        except MeshdeskError as error:
            assert error.status == 400 and error.code == "bad_tensor"
        else:
            assert TensorSpec.parse(spec.shape_header, spec.dtype) == spec


@pytest.mark.parametrize("shape", ["", "1,", ",1", "-1,2", "1.5", "1,2,3,4,5", "١,2", "99999999999", "1;2"])
def test_bad_shapes_are_refused(shape: str) -> None:
    with pytest.raises(BadTensor):
        TensorSpec.parse(shape, "bfloat16")


def test_a_gigantic_shape_is_only_a_number() -> None:
    spec = TensorSpec.parse("9999999999,9999999999,9999999999,9999999999", "bfloat16")
    with pytest.raises(BadTensor):
        spec.check_length(1024)


def test_dtype_and_shape_are_read_generously_where_that_is_safe() -> None:
    assert TensorSpec.parse("1, 7, 576", " BFloat16 ") == TensorSpec((1, 7, 576), "bfloat16")
