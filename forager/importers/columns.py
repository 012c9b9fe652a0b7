"""Columns of text and of moments; each different value is looked at once, however many rows have it.

Moments are UTC seconds; nan is what cannot be understood or believed.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

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


LATEST = 7_258_118_400.0
"""The year 2200: what lies behind it, or before 1970, is no time of a recording."""
_FINER = (1e11, 1e14, 1e17)
"""From these on, a number since the epoch is in milli-, micro-, nanoseconds; in seconds it would be the year 5138."""
_ISO = re.compile(r"\d{4}-|\d{8}T")
_DIGITS = 14
_SMALLEST = "00000101000000"


def stamps(column: pa.Array) -> Floats:
    """`20260302134501` and the like (binary or text); shorter ones begin their year, month, day or hour."""
    text = column.cast(pa.binary())
    if not pc.all(pc.equal(pc.binary_length(text), _DIGITS)).as_py():
        return _each(text, _stamp)
    sound = pc.match_substring_regex(text, r"^[0-9]{14}$")
    text = pc.if_else(sound, text, None).cast(pa.string())
    parsed = pc.strptime(text, format="%Y%m%d%H%M%S", unit="s", error_is_null=True)
    seconds = parsed.cast(pa.int64()).cast(pa.float64()).to_numpy(zero_copy_only=False)
    return believed(seconds)


def _stamp(raw: bytes) -> float:
    if not (raw.isdigit() and 4 <= len(raw) <= 17):
        return np.nan
    text = raw.decode("ascii")
    try:
        second = datetime.strptime(text[:_DIGITS] + _SMALLEST[len(text) :], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return np.nan
    return second.timestamp() + int(text[_DIGITS:].ljust(3, "0")) / 1000


def moments(column: pa.Array) -> Floats:
    """A column of times, each as `moment` reads it, or Arrow's own; all nan if it holds anything else."""
    if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
        micros = column.cast(pa.timestamp("us", getattr(column.type, "tz", None)), safe=False).cast(pa.int64())
        return believed(micros.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False) / 1e6)
    if is_number(column.type):
        return believed(_in_seconds(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)))
    if is_text(column.type):
        return _each(column, time_of)
    return np.full(len(column), np.nan)


def time_of(text: str | bytes | None) -> float:
    """One time: a number since the epoch, ISO 8601 (UTC if no zone is said), the fourteen digits of archives
    (20260302134501), or as HTTP writes it."""
    if text is None:
        return np.nan
    try:
        plain = text.decode("ascii") if isinstance(text, bytes) else text
        plain = plain.strip().removesuffix(" UTC")
        if len(plain) == _DIGITS and plain.isdigit():
            return _stamp(plain.encode())
        if plain[:1].isalpha():
            return http_moment(plain)
        if not _ISO.match(plain):
            return float(_in_seconds(np.float64(plain)))
        said = datetime.fromisoformat(plain)
        return (said if said.tzinfo else said.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return np.nan


def _in_seconds(number: Floats | np.float64) -> Floats:
    """Since the epoch; what no recording can mean in seconds was counted in milli-, micro- or nanoseconds."""
    return np.asarray(number / 1000.0 ** np.searchsorted(_FINER, number, side="right"))


def http_moment(text: str) -> float:
    """`Tue, 20 Jun 2000 18:02:59 GMT`, as TimeMaps write it; ISO 8601 will do as well."""
    if _ISO.match(text):
        return time_of(text)
    try:
        said = parsedate_to_datetime(text)
        return (said if said.tzinfo else said.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return np.nan


def believed(seconds: NDArray[np.generic]) -> Floats:
    """nan where a time lies outside what a recording can hold."""
    values = np.asarray(seconds, np.float64)
    with np.errstate(invalid="ignore"):
        return np.where((values >= 0) & (values < LATEST), values, np.nan)


def _each(column: pa.Array, read: Callable[[Any], float]) -> Floats:
    return believed(mapped(column, read, np.nan, np.float64))
