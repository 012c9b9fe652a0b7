"""The files of one table in a folder, as Parquet or CSV, whole or in parts; their columns by name.

The table `links` may be `links.parquet`, `links-0.parquet`, `links-1.parquet` …, or a folder `links` with any files in it; CSV
likewise, plain, gz or zst. If there is Parquet, CSV of the same name is left alone.
"""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from forager.errors import InputError
from forager.imports import csv_tables
from forager.imports.opening import Source, opened
from forager.imports.tally import Tally

PARQUET = (".parquet", ".pq")
CSV = (".csv", ".csv.gz", ".csv.zst", ".tsv", ".tsv.gz", ".tsv.zst")
_PART = ("-", "_", ".")
"""What may stand between the name of a table and that of a part."""

Columns = dict[str, pa.Array]


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


def read_columns(path: Path, needed: Sequence[str], wished: Sequence[str], tally: Tally) -> Columns:
    """The needed columns of a file, and those of the wished ones that it has."""
    table, names = _parquet(path) if path.name.lower().endswith(PARQUET) else _csv(path, tally)
    missing = [name for name in needed if name not in names]
    if missing:
        raise InputError(f"{path}: has no column {' or '.join(missing)}; it has {', '.join(names[:8])}")
    return {name: _whole(table.column(names.index(name))) for name in (*needed, *wished) if name in names}


def _parquet(path: Path) -> tuple[pa.Table, list[str]]:
    try:
        table = pyarrow.parquet.ParquetFile(path).read()
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: cannot be read: {_line(error)}") from None
    return table, [name.strip().lower() for name in table.column_names]


def _csv(path: Path, tally: Tally) -> tuple[pa.Table, list[str]]:
    with opened(Source(str(path), path)) as stream:
        names, _ = csv_tables.header(stream)
        try:
            batches = list(csv_tables.batches(stream, range(len(names)), tally))
        except pa.ArrowException as error:
            raise InputError(f"{path}: cannot be read: {_line(error)}") from None
        if stream.trouble:
            tally.note("broken off", str(path), shown=stream.trouble)
    empty = pa.schema([(str(place), pa.binary()) for place in range(len(names))])
    return pa.Table.from_batches(batches, batches[0].schema if batches else empty), names


def _whole(column: pa.ChunkedArray) -> pa.Array:
    joined = column.combine_chunks()
    joined = joined if isinstance(joined, pa.Array) else pa.concat_arrays(joined.chunks)
    return joined.dictionary_decode() if pa.types.is_dictionary(joined.type) else joined


def _line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
