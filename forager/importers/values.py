"""Columns of text, number by number: each different value is looked at once, however many rows have it."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from forager.errors import InputError

Floats = NDArray[np.float64]
Prints = NDArray[np.uint64]
Flags = NDArray[np.bool_]
Ids = NDArray[np.int64]
T = TypeVar("T", bound=np.generic)

_OTHER_TEXTS = (pa.large_string(), pa.large_binary(), pa.string_view(), pa.binary_view())
_NO = {b"", b"0", b"0.0", b"false", b"no", b"f", b"n", b"none", b"null", b"nan"}
"""How a flag says no, in lower case."""


def is_number(type: pa.DataType) -> bool:
    return bool(pa.types.is_integer(type) or pa.types.is_floating(type) or pa.types.is_decimal(type))


def is_text(type: pa.DataType) -> bool:
    """Also as bytes, and if each value is stored once."""
    if pa.types.is_dictionary(type):
        return is_text(type.value_type)
    return bool(pa.types.is_string(type) or pa.types.is_binary(type) or type in _OTHER_TEXTS)


def refuse_nested(columns: Iterable[pa.Field], place: str) -> None:
    """An InputError if a column holds lists or the like instead of single values."""
    for one in columns:
        if pa.types.is_nested(one.type):
            raise InputError(f"{place}: the column {one.name} holds {one.type}, not text, numbers or times")


def mapped(column: pa.Array, read: Callable[[Any], Any], missing: Any, type: type[T]) -> NDArray[T]:
    """What `read` makes of each value; `missing` where there is none."""
    coded = column.dictionary_encode()
    distinct = np.asarray([*map(read, coded.dictionary.to_pylist()), missing], type)
    places = coded.indices.fill_null(len(distinct) - 1).to_numpy(zero_copy_only=False)
    chosen: NDArray[T] = distinct[places]
    return chosen


def as_bytes(column: pa.Array) -> pa.Array:
    """The column in UTF-8, numbers as people write them."""
    if pa.types.is_dictionary(column.type):
        return pa.DictionaryArray.from_arrays(column.indices, as_bytes(column.dictionary))
    if pa.types.is_binary(column.type):
        return column
    if pa.types.is_large_binary(column.type) or pa.types.is_fixed_size_binary(column.type):
        return column.cast(pa.binary())
    return column.cast(pa.string()).cast(pa.binary())


def prints(column: pa.Array) -> Prints:
    """64 bits of each value; 0 for an empty or missing one."""
    return mapped(as_bytes(column), _print, 0, np.uint64)


def _print(value: bytes) -> int:
    return (xxh3_64_intdigest(value) or 1) if value else 0


def flags(column: pa.Array) -> Flags:
    """Yes or no, however it is written; nothing is no."""
    if pa.types.is_boolean(column.type):
        return np.asarray(column.fill_null(False).to_numpy(zero_copy_only=False), np.bool_)
    return mapped(as_bytes(column), lambda value: value.strip().lower() not in _NO, False, np.bool_)
