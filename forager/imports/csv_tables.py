"""CSV with a header line, in batches; columns are told by their place, as names may be odd or double."""

import csv
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.csv

from forager.imports.lines import Utf8File
from forager.imports.opening import Stream
from forager.imports.tally import Tally

_BLOCK = 1 << 24


def header(stream: Stream) -> tuple[list[str], str]:
    """The names of the columns, in lower case, and the mark between them: a comma, tab or semicolon."""
    first = stream.head.partition(b"\n")[0].decode("utf-8", "replace").replace("\r", " ")
    delimiter = next((mark for mark in ",\t;" if mark in first), ",")
    return [name.strip().lower() for name in next(csv.reader([first], delimiter=delimiter), [])], delimiter


def batches(stream: Stream, places: Sequence[int], tally: Tally) -> Iterator[pa.RecordBatch]:
    """The columns at these places, in this order, as bytes; rows of another width are counted as broken."""

    def refuse(row: pyarrow.csv.InvalidRow) -> str:
        tally.note("wrong number of fields", stream.source.name, row.number, row.text)
        return "skip"

    names, delimiter = header(stream)
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
