"""The files of one table in a folder, as Parquet or CSV, whole or in parts; their columns by name.

The table `links` may be `links.parquet`, `links-0.parquet`, `links-1.parquet` …, or a folder `links` with any files in it; CSV
likewise, plain, gz or zst. If there is Parquet, CSV of the same name is left alone.

CSV has a header line and is read in batches; columns are told by their place, as names may be odd or double.
"""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from forager.errors import InputError
from forager.importers.columns import refuse_nested
from forager.importers.streams import ByteStream, Source, Tally, Utf8File, opened

_BLOCK = 1 << 24


def csv_header(stream: ByteStream) -> tuple[list[str], str]:
    """The names of the columns, in lower case, and the mark between them: a comma, tab or semicolon."""
    first = stream.head.partition(b"\n")[0].decode("utf-8", "replace").replace("\r", " ")
    delimiter = next((mark for mark in ",\t;" if mark in first), ",")
    return [name.strip().lower() for name in next(csv.reader([first], delimiter=delimiter), [])], delimiter


def csv_batches(stream: ByteStream, places: Sequence[int], tally: Tally) -> Iterator[pa.RecordBatch]:
    """The columns at these places, in this order, as bytes; rows of another width are counted as broken."""

    def refuse(row: pyarrow.csv.InvalidRow) -> str:
        tally.note("wrong number of fields", stream.source.name, row.number, row.text)
        return "skip"

    names, delimiter = csv_header(stream)
    numbered = [str(place) for place in range(len(names))]
    yield from pyarrow.csv.open_csv(
        Utf8File(stream),
        read_options=pyarrow.csv.ReadOptions(use_threads=False, column_names=numbered, skip_rows=1, block_size=_BLOCK),
        parse_options=pyarrow.csv.ParseOptions(
            delimiter=delimiter, newlines_in_values=True, invalid_row_handler=refuse
        ),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(numbered, pa.binary()), include_columns=[numbered[place] for place in places]
        ),
    )


PARQUET = (".parquet", ".pq")
CSV = (".csv", ".csv.gz", ".csv.zst", ".tsv", ".tsv.gz", ".tsv.zst")
_PART = ("-", "_", ".")
"""What may stand between the name of a table and that of a part."""

_BATCH = 1 << 18
"""Rows of Parquet held at a time."""

ColumnNames = dict[str, pa.Array]


@dataclass(frozen=True, slots=True)
class TableBatch:
    """Some rows of a file."""

    path: Path
    before: int
    """Rows of the file that came before; the names of the columns count as one in CSV, as they are a line."""
    columns: ColumnNames
    read: int
    """Bytes of the file that were read, with these rows."""


def files_of(folder: Path, name: str) -> list[Path]:
    """The files of a table, in the order of their names; none if there is no such table."""
    inside = folder / name
    found = [*_named(folder, name), *(sorted(inside.iterdir()) if inside.is_dir() else ())]
    for suffixes in (PARQUET, CSV):
        chosen = [path for path in found if path.name.lower().endswith(suffixes) and path.is_file()]
        if chosen:
            return chosen
    return []


def _named(folder: Path, name: str) -> list[Path]:
    marks = tuple(name + mark for mark in _PART)
    return sorted(path for path in folder.iterdir() if path.name.lower().startswith(marks))


def table_batches(path: Path, needed: Sequence[str], wished: Sequence[str], tally: Tally) -> Iterator[TableBatch]:
    """The needed columns of a file, and those of the wished ones that it has; at least one batch, which may be empty."""
    is_parquet = path.name.lower().endswith(PARQUET)
    reading, before = (_parquet, 0) if is_parquet else (_csv, 1)
    for columns, read in reading(path, needed, wished, tally):
        yield TableBatch(path, before, columns, read)
        before += len(columns[needed[0]])


def _parquet(
    path: Path, needed: Sequence[str], wished: Sequence[str], tally: Tally
) -> Iterator[tuple[ColumnNames, int]]:
    try:
        schema = pyarrow.parquet.read_schema(path)
        places = _places([name.strip().lower() for name in schema.names], needed, wished, path)
        chosen = [schema.names[place] for place in places.values()]
        refuse_nested((schema.field(place) for place in places.values()), str(path))
        texts = [name for name in chosen if _is_text(schema.field(schema.names.index(name)).type)]
        file = pyarrow.parquet.ParquetFile(
            path, read_dictionary=texts
        )  # a name is read once, however often it stands there
        empty = pa.RecordBatch.from_pylist([], pa.schema([schema.field(place) for place in places.values()]))
        count, size, rows = file.metadata.num_rows, path.stat().st_size, 0
        for batch in file.iter_batches(_BATCH, columns=chosen) if count else iter([empty]):
            batch.validate(full=True)
            rows += len(batch)
            columns = {name: batch.column(raw) for name, raw in zip(places, chosen, strict=True)}
            yield columns, size * rows // max(count, 1)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {_line(error)}") from None


def _csv(path: Path, needed: Sequence[str], wished: Sequence[str], tally: Tally) -> Iterator[tuple[ColumnNames, int]]:
    with opened(Source(str(path), path)) as stream:
        places = _places(csv_header(stream)[0], needed, wished, path)
        empty = dict.fromkeys(places, pa.array([], pa.binary()))
        try:
            for batch in csv_batches(stream, list(places.values()), tally):
                yield dict(zip(places, batch.columns, strict=True)), stream.position
                empty = {}
        except pa.ArrowException as error:
            raise InputError(f"{path}: cannot be read: {_line(error)}") from None
        if empty:
            yield empty, stream.position
        if stream.trouble:
            tally.note("broken off", str(path), shown=stream.trouble)


def _places(names: Sequence[str], needed: Sequence[str], wished: Sequence[str], path: Path) -> dict[str, int]:
    """Where the columns stand."""
    if not names:
        raise InputError(f"{path}: cannot be read: it has no columns")
    missing = [name for name in needed if name not in names]
    if missing:
        raise InputError(f"{path}: has no column {' or '.join(missing)}; it has {', '.join(names[:8])}")
    return {name: names.index(name) for name in (*needed, *wished) if name in names}


def _is_text(type: pa.DataType) -> bool:
    return bool(pa.types.is_string(type) or pa.types.is_binary(type))


def _line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
