"""Tensors as octets: shape and dtype as the headers give them, checked against the byte count.

Activations travel as raw little-endian values with no framing of their own, so shape, dtype and
length must agree before anybody allocates or computes. Source: ADR-0014, DESIGN section 2.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from meshdesk.protocol.errors import ProtocolError

WIRE_DTYPES = {"bfloat16": 2, "float16": 2, "float32": 4}
"""Octets per value of each dtype that may travel; the values are little-endian."""

MAX_DIMENSIONS = 4
_SHAPE = re.compile(r"[0-9]{1,10}(?:,[0-9]{1,10})*")


class BadTensor(ProtocolError):
    """Shape, dtype and octets of a tensor do not fit together."""

    code = "bad_tensor"


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """Shape (as counts per dimension, outermost first) and wire dtype of one tensor."""

    shape: tuple[int, ...]
    dtype: str

    @property
    def numel(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.numel * WIRE_DTYPES[self.dtype]

    @property
    def shape_header(self) -> str:
        """The shape as ``X-Meshnet-Shape`` carries it, for example ``1,7,576``."""
        return ",".join(map(str, self.shape))

    @classmethod
    def parse(cls, shape_header: str, dtype_header: str) -> TensorSpec:
        """Read ``X-Meshnet-Shape`` and ``X-Meshnet-Dtype``; BadTensor if either is malformed."""
        dtype = dtype_header.strip().lower()
        if dtype not in WIRE_DTYPES:
            known = ", ".join(WIRE_DTYPES)
            raise BadTensor(f"The dtype {dtype_header[:40]!r} does not travel here; use one of {known}.")
        compact = shape_header.replace(" ", "")
        if not _SHAPE.fullmatch(compact):
            raise BadTensor(f"The shape {shape_header[:60]!r} is not whole numbers joined by commas.")
        shape = tuple(int(size) for size in compact.split(","))
        if len(shape) > MAX_DIMENSIONS:
            raise BadTensor(f"The shape has {len(shape)} dimensions; at most {MAX_DIMENSIONS} travel here.")
        return cls(shape, dtype)

    def check(self, body: bytes | bytearray | memoryview) -> None:
        """Raise BadTensor unless ``body`` has exactly the octets that the shape and dtype need."""
        self.check_length(body.nbytes if isinstance(body, memoryview) else len(body))

    def check_length(self, length: int) -> None:
        """The same for octets that are only announced, before any of them is read."""
        if length != self.nbytes:
            raise BadTensor(
                f"A {self.dtype} tensor of shape {self.shape_header} has {self.nbytes} octets, but {length} came."
            )
