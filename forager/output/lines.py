"""JSON lines and CSV: formats that grow line by line, and can be continued after a sudden end.

Every row has its number in the order of acceptance, and a row is only written once its story is stored. So the file
itself says where to continue: after its last complete row. What follows that row was cut off by the end of the process;
it is removed, and its story is written again.

JSON lines hold one object a line, in UTF-8. A line end inside a text is escaped, so the last line can be found from the
end of the file, however long the file is.

CSV is in UTF-8 with a header line, quoted as RFC 4180 says; no cell can become a formula. A text may hold line ends
between its quotes, which cannot be recognised from the end of the file. So a file to be continued is read from its
start: a line end after an even number of quotes ends a row.

Rows go to a file that is written in place, to a file that appears when it is complete, or to standard output. Nothing
is buffered: the system has what `write` took, so the sudden end of the process loses none of it.
"""

import csv
import errno
import fcntl
import io
import json
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from glob import escape
from io import FileIO
from pathlib import Path
from typing import Any, Protocol

from forager.errors import OutputError
from forager.output.fields import FIELDS, Cell, Row, defused, escaped, without_controls
from forager.output.outlet import Last


class Destination(Protocol):
    @property
    def path(self) -> Path:
        """The name of the output, for messages."""

    def open(self) -> FileIO | None:
        """Prepares without changing anything; returns the file to continue, or None if it is empty.

        Raises an OutputError, or an OSError of the system, if nothing can be written there.
        """

    def begin(self, offset: int) -> None:
        """Removes what is after the offset, and writes on from there."""

    def write(self, content: bytes) -> None:
        """Writes everything, or raises an OSError."""

    def close(self) -> None:
        """Completes the output."""

    def discard(self) -> None:
        """Lets go of the output; what is not complete and was not there before disappears."""


class InPlace:
    """A file that others can read while it grows, written by one process at a time; or a pipe, or a device."""

    def __init__(self, path: Path, *, keep: bool) -> None:
        """`keep`: continue after what is there."""
        self.path, self._keep = path, keep
        self._file: FileIO | None = None
        self._is_regular = True

    def open(self) -> FileIO | None:
        self._is_regular = self.path.is_file() or not self.path.exists()
        how = os.O_RDWR | os.O_CREAT if self._is_regular else os.O_WRONLY
        number = os.open(self.path, how | os.O_CLOEXEC, 0o666)
        self._file = FileIO(number, "r+" if self._is_regular else "w")
        if not self._is_regular:
            return None
        self._lock(self._file)
        return self._file if self._keep and os.fstat(number).st_size else None

    def _lock(self, file: FileIO) -> None:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            raise OutputError(f"{self.path}: another process writes it; stop that or choose another file") from None
        except OSError:
            pass  # a file system without locks

    def begin(self, offset: int) -> None:
        if self._is_regular:
            assert self._file is not None
            self._file.truncate(offset)
            self._file.seek(offset)

    def write(self, content: bytes) -> None:
        assert self._file is not None
        write_all(self._file, content)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def discard(self) -> None:
        with suppress(OSError):
            self.close()


class Replacing:
    """A file that is written beside its place and moved there when complete: readers see the old one or the new one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.fresh = path
        """Where it is written until it is complete."""
        self._file: FileIO | None = None

    def open(self) -> None:
        if self.path.exists() and not self.path.is_file():
            raise OutputError(f"{self.path}: not a regular file; only .jsonl and .csv can be written there, with -o")
        place = self.path.resolve()  # a symbolic link stays one
        for left in place.parent.glob(f".{escape(place.name)}.*.part"):
            if not _is_running(left.name.rsplit(".", 2)[1]):  # killed while it wrote
                left.unlink(missing_ok=True)
        self.fresh = place.with_name(f".{place.name}.{os.getpid()}.part")
        self.fresh.unlink(missing_ok=True)  # whoever left it, and wherever a link in its place leads
        self._file = self.fresh.open("xb", buffering=0)
        if place.exists():
            self.fresh.chmod(place.stat().st_mode & 0o777)

    def begin(self, offset: int) -> None:
        """Begins with an empty file."""

    def write(self, content: bytes) -> None:
        assert self._file is not None
        write_all(self._file, content)

    def close(self) -> None:
        assert self._file is not None
        os.fsync(self._file.fileno())
        self._file.close()
        self.fresh.replace(self.path.resolve())
        self._file = None

    def discard(self) -> None:
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            with suppress(OSError):
                self.fresh.unlink()
            self._file = None


def _is_running(process: str) -> bool:
    """Whether a process with this number is running; also if the text is no number."""
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except (ValueError, OverflowError, PermissionError):
        pass
    return True


class StandardOutput:
    """Standard output: it has no memory, so it always begins with the first story."""

    path = Path("standard output")

    def open(self) -> None:
        """It is open."""

    def begin(self, offset: int) -> None:
        sys.stdout.flush()

    def write(self, content: bytes) -> None:
        out: Any = sys.stdout.buffer
        write_all(getattr(out, "raw", out), content)  # bypasses the buffer: after an error nothing is left in it

    def close(self) -> None:
        """It belongs to others."""

    def discard(self) -> None:
        """It belongs to others."""


def write_all(file: FileIO, content: bytes) -> None:
    """Writes everything to an unbuffered file, which may take only a part at a time."""
    rest = memoryview(content)
    while rest:
        written = file.write(rest)
        if written is None:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        rest = rest[written:]


class Foreign(Exception):
    """Raised for a file that this format did not write."""


class LineFormat(Protocol):
    @property
    def head(self) -> bytes:
        """What comes before the first row."""

    def encode(self, rows: Sequence[Row]) -> bytes: ...

    def ending(self, file: FileIO) -> tuple[Last | None, int]:
        """The last complete row, and the offset after it (0: not even the head is complete); raises Foreign otherwise."""


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
    """The last complete line, and the offset after its line end; 0 if there is none."""
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
    """Where the last complete row after the offset begins and ends; twice the offset if there is none."""
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
