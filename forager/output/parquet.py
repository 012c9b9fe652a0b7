"""Parquet, for data frames. Without its last bytes it is no Parquet file, so it appears when it is complete."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from forager.errors import OutputError
from forager.output.destinations import Replacing
from forager.output.fields import FIELDS, LISTS, MOMENTS, Cell, Row
from forager.output.outlet import Mode

_GROUP_ROWS = 1_000
_GROUP_CHARACTERS = 16_000_000
"""A row group is written when either is reached (ours: some megabytes of memory)."""


class ParquetFile:
    """Writes a row group whenever enough stories have come."""

    newest = None

    def __init__(self, path: Path, mode: Mode) -> None:
        self._place, self._mode = Replacing(path), mode
        self._rows: list[Row] = []
        self._characters = 0
        self._schema: Any = None
        self._writer: Any = None

    def __repr__(self) -> str:
        return f"<ParquetFile {self.name} {len(self._rows)} rows waiting>"

    @property
    def name(self) -> str:
        return str(self._place.path)

    def open(self) -> None:
        if self._mode is Mode.APPEND and self._place.path.exists():
            raise OutputError(f"{self.name}: a Parquet file cannot be appended to; overwrite it with -O")
        from pyarrow.parquet import ParquetWriter  # here, because it is slow to import

        self._place.open()
        self._schema = _schema()
        self._writer = ParquetWriter(str(self._place.fresh), self._schema, compression="zstd")

    def write(self, rows: Sequence[Row]) -> None:
        for row in rows:
            self._rows.append(row)
            self._characters += len(str(row["text"]))
            if len(self._rows) >= _GROUP_ROWS or self._characters >= _GROUP_CHARACTERS:
                self._flush()

    def close(self) -> None:
        self._flush()
        self._writer.close()
        self._place.close()

    def discard(self) -> None:
        if self._writer is not None:
            self._writer.is_open = False  # else it would try to end the file once more
        self._place.discard()

    def _flush(self) -> None:
        import pyarrow

        if self._rows:
            columns = [[_cell(name, row[name]) for row in self._rows] for name in FIELDS]
            arrays = [pyarrow.array(column, one.type) for column, one in zip(columns, self._schema, strict=True)]
            self._writer.write_table(pyarrow.Table.from_arrays(arrays, schema=self._schema))
        self._rows, self._characters = [], 0


def _schema() -> Any:
    import pyarrow

    numbers = {"number": pyarrow.int64(), "forager": pyarrow.int64(), "version": pyarrow.int64()}
    numbers["word_count"] = pyarrow.int64()
    types = dict.fromkeys(FIELDS, pyarrow.string()) | numbers | {"delay": pyarrow.float64()}
    types |= dict.fromkeys(LISTS, pyarrow.list_(pyarrow.string())) | {"paywalled": pyarrow.bool_()}
    types |= dict.fromkeys(MOMENTS, pyarrow.timestamp("ms", tz="UTC"))
    return pyarrow.schema(list(types.items()))


def _cell(name: str, cell: Cell) -> Cell | datetime:
    return datetime.fromisoformat(cell) if name in MOMENTS and isinstance(cell, str) else cell
