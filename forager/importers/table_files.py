"""Tables in Parquet or CSV, by content, in batches; and the files of one table in a folder, whole or in parts.

The table `links` may be `links.parquet`, `links-0.parquet`, `links-1.parquet` …, or a folder `links` with any files in it; CSV
likewise, plain, gz or zst. If there is Parquet, CSV of the same name is left alone.

CSV has a header line; columns are told by their place, as names may be odd or double.
"""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from forager.errors import InputError
from forager.importers.streams import ByteStream, ImportTally, Utf8File

PARQUET = (".parquet", ".pq")
CSV = (".csv", ".csv.gz", ".csv.zst", ".tsv", ".tsv.gz", ".tsv.zst")
_PART = ("-", "_", ".")
"""What may stand between the name of a table and that of a part."""
_BLOCK, _BATCH = 1 << 24, 1 << 18
"""Bytes of CSV, and rows of Parquet, held at a time."""
_LARGEST = 2 << 30
"""Bytes of a Parquet file that is packed or on standard input, which must be held in memory."""

Choice = Callable[[Sequence[str]], Mapping[str, int]]
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
    """The files of a table, in the order of their names; none if there is no such table."""
    inside, marks = folder / name, tuple(name + mark for mark in _PART)
    found = sorted(path for path in folder.iterdir() if path.name.lower().startswith(marks))
    found += sorted(inside.iterdir()) if inside.is_dir() else []
    for suffixes in (PARQUET, CSV):
        chosen = [path for path in found if path.name.lower().endswith(suffixes) and path.is_file()]
        if chosen:
            return chosen
    return []


def table_batches(stream: ByteStream, choose: Choice, tally: ImportTally) -> Iterator[TableBatch]:
    """The chosen columns; at least one batch, which may be empty. What Arrow cannot read is an error of Arrow.

    CSV columns are bytes; rows of another width are counted as broken.
    """
    is_parquet = stream.head.startswith(b"PAR1")
    line = 1 if is_parquet else 2
    for columns, read in _parquet(stream, choose) if is_parquet else _csv(stream, choose, tally):
        yield TableBatch(stream.source.name, line, columns, read)
        line += len(next(iter(columns.values())))


def trouble_of(error: Exception) -> str:
    """What an error says in its first line."""
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def _parquet(stream: ByteStream, choose: Choice) -> Iterator[tuple[dict[str, pa.Array], int]]:
    source = stream.source.path if stream.is_plain else _held(stream)
    schema = pyarrow.parquet.read_schema(source)
    places = choose([name.strip().lower() for name in schema.names])
    fields = [schema.field(place) for place in places.values()]
    for one in fields:
        if pa.types.is_nested(one.type):
            raise InputError(
                f"{stream.source.name}: the column {one.name} holds {one.type}, not text, numbers or times"
            )
    names, texts = (
        [one.name for one in fields],
        [one.name for one in fields if pa.types.is_string(one.type) or pa.types.is_binary(one.type)],
    )
    file = pyarrow.parquet.ParquetFile(
        source, read_dictionary=texts
    )  # a text is read once, however often it stands there
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


def _csv(stream: ByteStream, choose: Choice, tally: ImportTally) -> Iterator[tuple[dict[str, pa.Array], int]]:
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
