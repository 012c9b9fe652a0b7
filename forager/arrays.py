"""Array types under short names, and operations that numpy does slowly or not at all."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", np.int64, np.float64)
Kind = TypeVar("Kind", bound=np.generic)
FloatArray = NDArray[np.float64]
Float32Array = NDArray[np.float32]
IntArray = NDArray[np.int64]
Int32Array = NDArray[np.int32]
ByteArray = NDArray[np.uint8]
BoolArray = NDArray[np.bool_]
PrintArray = NDArray[np.uint64]
"""Fingerprints."""
RowArray = NDArray[np.void]
"""Structured arrays."""


def distinct(values: NDArray[Number]) -> NDArray[Number]:
    """Distinct values in rising order. `np.unique` hashes since numpy 2.3 and takes 30 times as long."""
    ordered = np.sort(values)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


def widened(values: NDArray[Kind], size: int) -> NDArray[Kind]:
    """The values, padded with zeros to `size`; `np.resize` would repeat them instead."""
    out = np.zeros(size, values.dtype)  # memory is taken only where it is written
    out[: len(values)] = values
    return out


def spans(start: IntArray, length: IntArray) -> IntArray:
    """Indices of all spans, one after the other."""
    ends = np.cumsum(length)
    return np.asarray(np.arange(length.sum()) + np.repeat(start - (ends - length), length), np.int64)
