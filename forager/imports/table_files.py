"""The files of one table in a folder, as Parquet or CSV, whole or in parts; their columns by name.

The table `links` may be `links.parquet`, `links-0.parquet`, `links-1.parquet` …, or a folder `links` with any files in it; CSV
likewise, plain, gz or zst. If there is Parquet, CSV of the same name is left alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from forager.errors import InputError
from forager.imports import csv_tables
from forager.imports.opening import Source, opened
from forager.imports.tally import Tally
from forager.imports.values import refuse_nested

PARQUET = (".parquet", ".pq")
CSV = (".csv", ".csv.gz", ".csv.zst", ".tsv", ".tsv.gz", ".tsv.zst")
_PART = ("-", "_", ".")
"""What may stand between the name of a table and that of a part."""

_BATCH = 1 << 20
"""Rows of Parquet held at a time."""

Columns = dict[str, pa.Array]


@dataclass(frozen=True, slots=True)
class Batch:
    """Some rows of a file."""

    path: Path
    before: int
    """Rows of the file that came before; the names of the columns count as one in CSV, as they are a line."""
    columns: Columns
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


def batches(path: Path, needed: Sequence[str], wished: Sequence[str], tally: Tally) -> Iterator[Batch]:
    """The needed columns of a file, and those of the wished ones that it has; at least one batch, which may be empty."""
    is_parquet = path.name.lower().endswith(PARQUET)
    reading, before = (_parquet, 0) if is_parquet else (_csv, 1)
    for columns, read in reading(path, needed, wished, tally):
        yield Batch(path, before, columns, read)
        before += len(columns[needed[0]])


def _parquet(path: Path, needed: Sequence[str], wished: Sequence[str], tally: Tally) -> Iterator[tuple[Columns, int]]:
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


def _csv(path: Path, needed: Sequence[str], wished: Sequence[str], tally: Tally) -> Iterator[tuple[Columns, int]]:
    with opened(Source(str(path), path)) as stream:
        places = _places(csv_tables.header(stream)[0], needed, wished, path)
        empty = dict.fromkeys(places, pa.array([], pa.binary()))
        try:
            for batch in csv_tables.batches(stream, list(places.values()), tally):
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
