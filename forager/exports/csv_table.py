"""CSV in UTF-8 with a head line, quoted as RFC 4180 says; no cell can become a formula.

A text may hold line ends between its quotes, and from the end of the file nobody can tell whether a line end is one of
those. So a file to go on with is read from its start: a line end behind an even number of quotes ends a row.
"""

import csv
import io
from collections.abc import Sequence

from forager.exports.fields import FIELDS, Cell, Row
from forager.exports.harmless import defused, without_controls
from forager.exports.lines import Foreign
from forager.exports.protocol import Last

_BUFFER = 1 << 20
_URL = FIELDS.index("url")


class CsvTable:
    head = f"{','.join(FIELDS)}\r\n".encode()

    def encode(self, rows: Sequence[Row]) -> bytes:
        text = io.StringIO()
        csv.writer(text).writerows([_cell(row[name]) for name in FIELDS] for row in rows)
        return text.getvalue().encode()

    def ending(self, file: io.FileIO) -> tuple[Last | None, int]:
        file.seek(0)
        head = file.read(len(self.head))
        if not self.head.startswith(head):
            raise Foreign
        if head != self.head:
            return None, 0
        start, end = _last_row(file, len(head))
        if end == len(head):
            return None, end
        file.seek(start)
        return _story(file.read(end - start)), end


def _cell(cell: Cell) -> Cell:
    return defused(without_controls(cell)) if isinstance(cell, str) else cell


def _last_row(file: io.FileIO, offset: int) -> tuple[int, int]:
    """Where the last complete row behind the offset begins and ends; twice the offset if there is none."""
    start = end = row = offset
    quotes = 0
    lines = io.BufferedReader(file, _BUFFER)
    for line in lines:
        offset += len(line)
        quotes += line.count(b'"')
        if quotes % 2 == 0 and line.endswith(b"\n"):
            start, end, row = row, offset, offset
    lines.detach()
    return start, end


def _story(row: bytes) -> Last:
    try:
        (cells,) = csv.reader([row.decode()], strict=True)
    except (ValueError, csv.Error):
        raise Foreign from None
    if len(cells) != len(FIELDS) or not cells[0].isdecimal():
        raise Foreign
    return Last(int(cells[0]), cells[_URL])
