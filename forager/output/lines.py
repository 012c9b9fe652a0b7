"""Formats that grow line by line, JSON lines and CSV, and can be gone on with after a sudden end.

Every row carries its number in the order of acceptance, and a row is only written once its story is stored. So the
file itself says where to go on: behind its last complete row. What follows that row was torn by the end of the process;
it is cut off, and its story is written again.

JSON lines hold one object a line, in UTF-8. A line end inside a text is written as an escape, so the last line can be
found from the end of the file, however long the file is.

CSV is in UTF-8 with a head line, quoted as RFC 4180 says; no cell can become a formula. A text may hold line ends
between its quotes, and from the end of the file nobody can tell whether a line end is one of those. So a file to go on
with is read from its start: a line end behind an even number of quotes ends a row.
"""

import csv
import io
import json
import os
from collections.abc import Sequence
from io import FileIO
from typing import Protocol

from forager.errors import OutputError
from forager.output.destinations import Destination
from forager.output.fields import FIELDS, Cell, Row, defused, escaped, without_controls
from forager.output.outlet import Last


class Foreign(Exception):
    """A file that this format did not write."""


class LineFormat(Protocol):
    @property
    def head(self) -> bytes:
        """What stands before the first row."""

    def encode(self, rows: Sequence[Row]) -> bytes: ...

    def ending(self, file: FileIO) -> tuple[Last | None, int]:
        """The last complete row, and the offset behind it (0: not even the head is complete); else Foreign."""


class LineWriter:
    """Writes rows of a format to a place."""

    newest = None

    def __init__(self, place: Destination, format: LineFormat) -> None:
        self._place, self._format = place, format
        self._end = 0
        self._has_begun = False

    def __repr__(self) -> str:
        return f"<LineWriter {self.name} {type(self._format).__name__}>"

    @property
    def name(self) -> str:
        return str(self._place.path)

    def open(self) -> Last | None:
        file = self._place.open()
        if file is None:
            return None
        try:
            last, self._end = self._format.ending(file)
        except Foreign:
            raise OutputError(
                f"{self.name}: does not hold stories of Forager; choose another file, or overwrite it with -O"
            ) from None
        return last

    def write(self, rows: Sequence[Row]) -> None:
        if not self._has_begun:
            self._place.begin(self._end)
            self._has_begun = True
            if self._end == 0:
                self._place.write(self._format.head)
        self._place.write(self._format.encode(rows))

    def close(self) -> None:
        self._place.close()

    def discard(self) -> None:
        self._place.discard()


_BLOCK = 1 << 16
_START = b'{"number": '


class JsonLines:
    head = b""

    def encode(self, rows: Sequence[Row]) -> bytes:
        return "".join(f"{escaped(json.dumps(row, ensure_ascii=False))}\n" for row in rows).encode()

    def ending(self, file: FileIO) -> tuple[Last | None, int]:
        line, end = _last_line(file)
        if end == 0:
            file.seek(0)
            if not file.read(len(_START)).startswith(_START[: os.fstat(file.fileno()).st_size]):
                raise Foreign
            return None, 0
        return _story(line), end


def _last_line(file: FileIO) -> tuple[bytes, int]:
    """The last complete line, and the offset behind its line end; 0 if there is none."""
    start = file.seek(0, os.SEEK_END)
    tail, block = b"", _BLOCK
    while start > 0 and tail.count(b"\n") < 2:  # its own line end, and the one before it
        block = min(2 * block, start)
        start = file.seek(start - block)
        tail = file.read(block) + tail
    before, line_end, _ = tail.rpartition(b"\n")
    if not line_end:
        return b"", 0
    return before.rpartition(b"\n")[2], start + len(before) + 1


def _story(line: bytes) -> Last:
    try:
        row = json.loads(line)
    except ValueError:
        raise Foreign from None
    match row:
        case {"number": int(number), "url": str(url)} if number >= 0:
            return Last(number, url)
    raise Foreign


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
        return _csv_story(file.read(end - start)), end


def _cell(cell: Cell) -> Cell:
    if isinstance(cell, list):
        cell = "; ".join(cell)
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


def _csv_story(row: bytes) -> Last:
    try:
        (cells,) = csv.reader([row.decode()], strict=True)
    except (ValueError, csv.Error):
        raise Foreign from None
    if len(cells) != len(FIELDS) or not cells[0].isdecimal():
        raise Foreign
    return Last(int(cells[0]), cells[_URL])
