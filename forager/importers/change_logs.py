"""Change logs: when pages were looked at, and what was seen: `url, time` and `changed` (0 or 1) or `digest`.

CSV (also with tabs or semicolons), Parquet and JSON lines. A row that says `changed` is a new version, one that says
not is none, unless it is the first of its page.
"""

from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from forager.errors import InputError
from forager.importers import table_files as csv_tables
from forager.importers.captures import Captures
from forager.importers.columns import Prints, flags, moments, prints, refuse_nested
from forager.importers.streams import ByteStream, Tally, blocks

URL, TIME = ("url", "page"), ("time", "timestamp", "at")
CHANGED, DIGEST, GONE = ("changed",), ("digest", "hash", "checksum"), ("gone",)
_NAMES = {"url": URL, "time": TIME, "changed": CHANGED, "digest": DIGEST, "gone": GONE}
_LARGEST = 2 << 30
"""Bytes of a Parquet file that is packed or on standard input, which must be held in memory."""


def read_csv(stream: ByteStream, tally: Tally) -> Iterator[Captures]:
    """A change log with a header line."""
    names, _ = csv_tables.csv_header(stream)
    wanted = _wanted(names, stream.source.name)
    line = 2
    try:
        for batch in csv_tables.csv_batches(stream, [names.index(name) for name in wanted.values()], tally):
            columns = {key: batch.column(place) for place, key in enumerate(wanted)}
            yield _captures(stream.source.name, np.arange(line, line + batch.num_rows), columns)
            line += batch.num_rows
    except pa.ArrowException as error:
        tally.note("not CSV from here on", stream.source.name, line, str(error).splitlines()[0])


def read_parquet(stream: ByteStream, tally: Tally) -> Iterator[Captures]:
    """A change log in Parquet, one row group after the other."""
    name = stream.source.name
    try:
        file = pyarrow.parquet.ParquetFile(stream.source.path if stream.is_plain else _held(stream))
        names = [name.lower() for name in file.schema_arrow.names]
        wanted = _wanted(names, name)
        refuse_nested((file.schema_arrow.field(names.index(column)) for column in wanted.values()), name)
        line = 1
        for batch in file.iter_batches():
            columns = {key: batch.column(names.index(column)) for key, column in wanted.items()}
            yield _captures(name, np.arange(line, line + batch.num_rows), columns)
            line += batch.num_rows
    except (pa.ArrowException, OSError) as error:
        tally.note("damaged Parquet", name, shown=str(error).splitlines()[0] if str(error) else type(error).__name__)


def _held(stream: ByteStream) -> BytesIO:
    held = stream.filled(_LARGEST + 1)
    if len(held) > _LARGEST:
        raise InputError(f"{stream.source.name}: too large for packed or piped Parquet; give it as a plain file")
    return BytesIO(held)


_Value = str | bool | int | float | None


class _Row(msgspec.Struct):
    url: _Value = None
    page: _Value = None
    time: _Value = None
    timestamp: _Value = None
    at: _Value = None
    changed: _Value = None
    digest: _Value = None
    hash: _Value = None
    checksum: _Value = None
    gone: _Value = None

    def said(self, names: Sequence[str]) -> str | None:
        """What stands under the first of these names that is there, as text."""
        return next((str(value) for name in names if (value := getattr(self, name)) is not None), None)


_DECODE = msgspec.json.Decoder(_Row).decode


def read_json_lines(stream: ByteStream, tally: Tally) -> Iterator[Captures]:
    """A change log of one JSON object a line."""
    for block in blocks(stream, tally):
        lines: list[int] = []
        rows: list[_Row] = []
        for number, line in block.lines():
            try:
                row = _DECODE(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                tally.note("not a JSON line", block.place, number, line)
                continue
            if row.said((*CHANGED, *DIGEST)) is None:
                tally.note("neither changed nor digest", block.place, number, line)
                continue
            lines.append(number)
            rows.append(row)
        columns = {key: pa.array([row.said(names) for row in rows], pa.string()) for key, names in _NAMES.items()}
        columns["changed"] = columns["changed"].fill_null("yes")  # a digest alone tells whether it was
        yield _captures(block.place, np.asarray(lines, np.int64), columns)


def _wanted(names: Sequence[str], place: str) -> dict[str, str]:
    """Which column holds what; an InputError says what is missing."""
    found: dict[str, str] = {}
    for key, choice in _NAMES.items():
        name = next((one for one in choice if one in names), None)
        if name is not None:
            found[key] = name
    if not {"url", "time"} <= set(found) or not {"changed", "digest"} & set(found):
        raise InputError(
            f"{place}: a change log needs the columns url, time and changed or digest; "
            f"this has {', '.join(name[:40] for name in names[:8]) or 'none'}"
        )
    return found


def _captures(place: str, lines: NDArray[np.int64], columns: Mapping[str, pa.Array]) -> Captures:
    time = moments(columns["time"])
    return Captures(
        place,
        lines,
        columns["url"],
        time,
        _digests(columns, time),
        flags(columns["gone"]) if "gone" in columns else np.zeros(len(lines), np.bool_),
        columns["time"],
    )


def _digests(columns: Mapping[str, pa.Array], time: NDArray[np.float64]) -> Prints:
    """What tells versions apart: the digest, or a fresh one for each change; 0 where nothing changed."""
    digest = time.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15) | np.uint64(1)
    if "digest" in columns:
        said = prints(columns["digest"])
        digest = np.where(said == 0, digest, said) if "changed" in columns else said
    return np.where(flags(columns["changed"]), digest, np.uint64(0)) if "changed" in columns else digest
