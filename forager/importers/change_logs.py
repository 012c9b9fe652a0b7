"""Change logs: when pages were looked at, and what was seen: `url, time` and `changed` (0 or 1) or `digest`.

CSV (also with tabs or semicolons), Parquet and JSON lines. A row that says `changed` is a new version, one that says
not is none, unless it is the first of its page.
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from forager.errors import InputError
from forager.importers.captures import Captures
from forager.importers.columns import Prints, flags, moments, prints, table_batches, trouble_of
from forager.importers.streams import ByteStream, ImportTally, blocks

URL, TIME = ("url", "page"), ("time", "timestamp", "at")
CHANGED, DIGEST, GONE = ("changed",), ("digest", "hash", "checksum"), ("gone",)
_NAMES = {"url": URL, "time": TIME, "changed": CHANGED, "digest": DIGEST, "gone": GONE}


def read_rows(stream: ByteStream, tally: ImportTally) -> Iterator[Captures]:
    """A change log in CSV, with a header line, or in Parquet."""
    name = stream.source.name
    line = 2
    try:
        for batch in table_batches(stream, lambda names: _wanted(names, name), tally):
            rows = len(batch.columns["url"])
            yield _captures(name, np.arange(batch.line, batch.line + rows), batch.columns)
            line = batch.line + rows
    except (pa.ArrowException, OSError) as error:
        if stream.head.startswith(b"PAR1"):
            tally.note("damaged Parquet", name, shown=trouble_of(error))
        else:
            tally.note("not CSV from here on", name, line, trouble_of(error))


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


def read_json_lines(stream: ByteStream, tally: ImportTally) -> Iterator[Captures]:
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


def _wanted(names: Sequence[str], place: str) -> dict[str, int]:
    """Which column holds what; an InputError says what is missing."""
    known = {key: next((one for one in choice if one in names), None) for key, choice in _NAMES.items()}
    found = {key: names.index(name) for key, name in known.items() if name is not None}
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
