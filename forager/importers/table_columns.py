"""Tables in Parquet or CSV, by content, in batches of columns; and their columns of text and of times as arrays.

The table `links` may be `links.parquet`, `links-0.parquet`, `links-1.parquet` …, or a folder `links` with any files in
it; the same for CSV, plain, gz or zst. If there is Parquet, CSV of the same name is ignored. CSV has a header line;
columns are found by position, because names may be odd or repeated.

Each different value of a column is read once, however many rows have it. Times are UTC seconds; nan stands for what
cannot be understood or believed.
"""

import csv
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from forager.arrays import BoolArray, FloatArray, PrintArray
from forager.errors import InputError
from forager.importers.streams import ByteStream, ImportTally, Utf8File
from forager.web.web import http_date

PARQUET = (".parquet", ".pq")
CSV = (".csv", ".csv.gz", ".csv.zst", ".tsv", ".tsv.gz", ".tsv.zst")
_PART = ("-", "_", ".")
"""What may stand between the name of a table and the number of a part."""
_BLOCK, _BATCH = 1 << 24, 1 << 18
"""Bytes of CSV, and rows of Parquet, held at a time."""
_LARGEST = 2 << 30
"""Bytes of a Parquet file that is packed or on standard input, which must be held in memory."""

ColumnChoice = Callable[[Sequence[str]], Mapping[str, int]]
"""Says of the names of a table's columns, in lower case, which are wanted: what to call each, and where it stands."""


@dataclass(frozen=True, slots=True)
class TableBatch:
    """Some rows of a table."""

    place: str
    """The name of the source."""
    line: int
    """The number of the first row, from 1; the names of the columns count as one in CSV, as they are a line."""
    columns: dict[str, pa.Array]
    read: int
    """Bytes of the source that were read, with these rows."""


def files_of(folder: Path, name: str) -> list[Path]:
    """Returns the files of a table, in the order of their names; none if there is no such table."""
    inside, marks = folder / name, tuple(name + mark for mark in _PART)
    found = sorted(path for path in folder.iterdir() if path.name.lower().startswith(marks))
    found += sorted(inside.iterdir()) if inside.is_dir() else []
    for suffixes in (PARQUET, CSV):
        chosen = [path for path in found if path.name.lower().endswith(suffixes) and path.is_file()]
        if chosen:
            return chosen
    return []


def table_batches(stream: ByteStream, choose: ColumnChoice, tally: ImportTally) -> Iterator[TableBatch]:
    """Yields the chosen columns, at least one batch, which may be empty; raises the errors of Arrow.

    CSV columns are bytes; rows with another number of cells are counted as broken.
    """
    is_parquet = stream.head.startswith(b"PAR1")
    line = 1 if is_parquet else 2
    for columns, read in _parquet(stream, choose) if is_parquet else _csv(stream, choose, tally):
        yield TableBatch(stream.source.name, line, columns, read)
        line += len(next(iter(columns.values())))


def trouble_of(error: Exception) -> str:
    """Returns the first line of an error; for an error of the system, its own words."""
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turns errors while this file is read into an `InputError`."""
    try:
        yield
    except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {trouble_of(error)}") from error


def _parquet(stream: ByteStream, choose: ColumnChoice) -> Iterator[tuple[dict[str, pa.Array], int]]:
    source = stream.source.path if stream.is_plain else _held(stream)
    schema = pyarrow.parquet.read_schema(source)
    places = choose([name.strip().lower() for name in schema.names])
    fields = [schema.field(place) for place in places.values()]
    for one in fields:
        if pa.types.is_nested(one.type):
            raise InputError(
                f"{stream.source.name}: the column {one.name} holds {one.type}, not text, numbers or times"
            )
    names = [one.name for one in fields]
    texts = [one.name for one in fields if is_text(one.type)]  # each value is read once, however often it occurs
    file = pyarrow.parquet.ParquetFile(source, read_dictionary=texts)
    count, size, rows = file.metadata.num_rows, stream.source.size, 0
    empty = pa.RecordBatch.from_pylist([], pa.schema(fields))
    for batch in file.iter_batches(_BATCH, columns=names) if count else iter([empty]):
        batch.validate(full=True)
        rows += len(batch)
        yield {key: batch.column(name) for key, name in zip(places, names, strict=True)}, size * rows // max(count, 1)


def _held(stream: ByteStream) -> BytesIO:
    held = stream.filled(_LARGEST + 1)
    if len(held) > _LARGEST:
        raise InputError(f"{stream.source.name}: too large for packed or piped Parquet; give it as a plain file")
    return BytesIO(held)


def _csv(stream: ByteStream, choose: ColumnChoice, tally: ImportTally) -> Iterator[tuple[dict[str, pa.Array], int]]:
    def refuse(row: pyarrow.csv.InvalidRow) -> str:
        tally.note("wrong number of fields", stream.source.name, row.number, row.text)
        return "skip"

    first = stream.head.partition(b"\n")[0].decode("utf-8", "replace").replace("\r", " ")
    delimiter = next((mark for mark in ",\t;" if mark in first), ",")
    names = [name.strip().lower() for name in next(csv.reader([first], delimiter=delimiter), [])]
    places, numbered = choose(names), [str(place) for place in range(len(names))]
    chosen = [numbered[place] for place in places.values()]
    batches = pyarrow.csv.open_csv(
        Utf8File(stream),
        read_options=pyarrow.csv.ReadOptions(use_threads=False, column_names=numbered, skip_rows=1, block_size=_BLOCK),
        parse_options=pyarrow.csv.ParseOptions(
            delimiter=delimiter, newlines_in_values=True, invalid_row_handler=refuse
        ),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(numbered, pa.binary()), include_columns=chosen
        ),
    )
    rows = 0
    for batch in batches:
        rows += len(batch)
        yield dict(zip(places, batch.columns, strict=True)), stream.position
    if not rows:
        yield dict.fromkeys(places, pa.array([], pa.binary())), stream.position


T = TypeVar("T", bound=np.generic)

_OTHER_TEXTS = (pa.large_string(), pa.large_binary(), pa.string_view(), pa.binary_view())
_NO = {b"", b"0", b"0.0", b"false", b"no", b"f", b"n", b"none", b"null", b"nan"}
"""How a flag says no, in lower case."""


def is_number(type: pa.DataType) -> bool:
    return bool(pa.types.is_integer(type) or pa.types.is_floating(type) or pa.types.is_decimal(type))


def is_text(type: pa.DataType) -> bool:
    """Whether a column holds text, also as bytes, or with each value stored once."""
    if pa.types.is_dictionary(type):
        return is_text(type.value_type)
    return bool(pa.types.is_string(type) or pa.types.is_binary(type) or type in _OTHER_TEXTS)


def mapped(column: pa.Array, read: Callable[[Any], Any], missing: Any, type: type[T]) -> NDArray[T]:
    """Returns the result of `read` for each value; `missing` where there is none."""
    coded = column.dictionary_encode()
    distinct = np.asarray([*map(read, coded.dictionary.to_pylist()), missing], type)
    places = coded.indices.fill_null(len(distinct) - 1).to_numpy(zero_copy_only=False)
    chosen: NDArray[T] = distinct[places]
    return chosen


def as_bytes(column: pa.Array) -> pa.Array:
    """Converts a column to UTF-8, numbers as people write them."""
    if pa.types.is_dictionary(column.type):
        return pa.DictionaryArray.from_arrays(column.indices, as_bytes(column.dictionary))
    if pa.types.is_binary(column.type):
        return column
    if pa.types.is_large_binary(column.type) or pa.types.is_fixed_size_binary(column.type):
        return column.cast(pa.binary())
    return column.cast(pa.string()).cast(pa.binary())


def prints(column: pa.Array) -> PrintArray:
    """Hashes each value to 64 bits; 0 for an empty or missing one."""
    return mapped(as_bytes(column), _print, 0, np.uint64)


def _print(value: bytes) -> int:
    return (xxh3_64_intdigest(value) or 1) if value else 0


def flags(column: pa.Array) -> BoolArray:
    """Yes or no, however it is written; nothing means no."""
    if pa.types.is_boolean(column.type):
        return np.asarray(column.fill_null(False).to_numpy(zero_copy_only=False), np.bool_)
    return mapped(as_bytes(column), lambda value: value.strip().lower() not in _NO, False, np.bool_)


LATEST = 7_258_118_400.0
"""The year 2200: times after it, or before 1970, are no times of a recording."""
_FINER = (1e11, 1e14, 1e17)
"""From these on, a number since the epoch is in milli-, micro-, nanoseconds; in seconds it would be the year 5138."""
_ISO = re.compile(r"\d{4}-|\d{8}T")
_DIGITS = 14
_SMALLEST = "00000101000000"


def stamps(column: pa.Array) -> FloatArray:
    """Times such as `20260302134501` (binary or text); shorter ones mean the beginning of their year, month, day or
    hour.
    """
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


def moments(column: pa.Array) -> FloatArray:
    """Reads a column of times, each by `time_of` or by Arrow; all nan if it holds anything else."""
    if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
        micros = column.cast(pa.timestamp("us", getattr(column.type, "tz", None)), safe=False).cast(pa.int64())
        return believed(micros.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False) / 1e6)
    if is_number(column.type):
        return believed(_in_seconds(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)))
    if is_text(column.type):
        return _each(column, time_of)
    return np.full(len(column), np.nan)


def time_of(text: str | bytes | None) -> float:
    """Returns one time: a number since the epoch, ISO 8601 (UTC if no zone is said), the fourteen digits of archives
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


def _in_seconds(number: FloatArray | np.float64) -> FloatArray:
    """Converts to seconds since the epoch; a number that is too large for seconds is in milli-, micro- or nanoseconds."""
    return np.asarray(number / 1000.0 ** np.searchsorted(_FINER, number, side="right"))


def http_moment(text: str) -> float:
    """`Tue, 20 Jun 2000 18:02:59 GMT`, as TimeMaps write it; ISO 8601 will do as well."""
    if _ISO.match(text):
        return time_of(text)
    said = http_date(text)
    return np.nan if said is None else said


def believed(seconds: NDArray[np.generic]) -> FloatArray:
    """Replaces by nan a time that lies outside what a recording can hold."""
    values = np.asarray(seconds, np.float64)
    with np.errstate(invalid="ignore"):
        return np.where((values >= 0) & (values < LATEST), values, np.nan)


def _each(column: pa.Array, read: Callable[[Any], float]) -> FloatArray:
    return believed(mapped(column, read, np.nan, np.float64))
