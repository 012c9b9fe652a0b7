"""Tables of any size, read batch by batch: CSV, TSV or space-separated text, plain, gz or zst, and Parquet.

Whatever is wrong with a file ends in one `InputError` that names it.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from forager.errors import InputError

Batch = Mapping[str, pa.Array]

_PEEK = 1 << 16


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turns what goes wrong while this file is read into an `InputError`."""
    try:
        yield
    except (OSError, EOFError, UnicodeDecodeError, pa.ArrowException) as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise InputError(f"{path}: cannot be read: {lines[0]}") from error


class Table:
    """A table whose columns are found by name, or by place if it has no header."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._parquet = path.suffix == ".parquet"
        self._skip, self._delimiter = 0, ","
        with readable(path):
            if self._parquet:
                self.first: list[str] = list(pa.parquet.read_schema(path).names)
                self.second: list[str] = []
            else:
                self._peek()

    def _peek(self) -> None:
        """Find the delimiter and the first two rows; leading lines with # are comments."""
        with pa.input_stream(str(self.path)) as stream:
            lines = stream.read(_PEEK).decode("utf-8-sig", errors="replace").splitlines()
        while self._skip < len(lines) and (not lines[self._skip].strip() or lines[self._skip].startswith("#")):
            self._skip += 1
        if self._skip == len(lines):
            raise InputError(f"{self.path}: is empty")
        first = lines[self._skip]
        self._delimiter = next((mark for mark in "\t, " if mark in first), "\t")
        self.first, self.second = self._cells(first), self._cells(next(iter(lines[self._skip + 1 :]), ""))

    def _cells(self, line: str) -> list[str]:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=self._delimiter), [])]

    def column(self, *names: str) -> str | None:
        """The first column called by one of these names, in any case; None if there is none."""
        lower = {column.lower(): column for column in reversed(self.first)}
        return next((lower[name] for name in names if name in lower), None)

    def needed(self, *names: str) -> str:
        """As `column`, but it must be there."""
        found = self.column(*names)
        if found is None:
            raise InputError(f"{self.path}: has no column {' or '.join(names)}; its first line is {self.first[:5]}")
        return found

    def holds_numbers(self, column: str) -> bool:
        """Are the values of this column whole numbers, judged by the first?"""
        if self._parquet:
            return bool(pa.types.is_integer(pa.parquet.read_schema(self.path).field(column).type))
        place = self.first.index(column)
        return place < len(self.second) and self.second[place].isdigit()

    def batches(self, types: Mapping[str, pa.DataType], *, header: bool = True) -> Iterator[Batch]:
        """The named columns in these types. Without a header the columns are called by their place: "0", "1", …"""
        with readable(self.path):
            for batch in self._parquet_batches(types) if self._parquet else self._text_batches(types, header):
                columns = {name: batch.column(name) for name in types}
                for name, column in columns.items():
                    if column.null_count:
                        raise InputError(f"{self.path}: a row has no {name}")
                yield columns

    def _parquet_batches(self, types: Mapping[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
        schema = pa.schema(list(types.items()))
        for batch in pa.parquet.ParquetFile(self.path).iter_batches(columns=list(types)):
            yield batch.select(list(types)).cast(schema)

    def _text_batches(self, types: Mapping[str, pa.DataType], header: bool) -> Iterator[pa.RecordBatch]:
        names: Sequence[str] = [] if header else [str(place) for place in range(len(self.first))]
        with pa.input_stream(str(self.path)) as stream:
            yield from pa.csv.open_csv(
                stream,
                read_options=pa.csv.ReadOptions(skip_rows=self._skip, column_names=names, block_size=1 << 23),
                parse_options=pa.csv.ParseOptions(delimiter=self._delimiter),
                convert_options=pa.csv.ConvertOptions(
                    column_types=dict(types), include_columns=list(types), strings_can_be_null=False
                ),
            )
