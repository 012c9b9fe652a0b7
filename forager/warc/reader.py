"""Reads the records of a WARC file, whoever wrote it: plain, gzip or zstd, with one member per record or not.

ARC files, the format before WARC (1996–2008), are read too: a line with URL, address, date, media type and length, in
their second version with more fields, and the answer as it came. Their records look like those of WARC.

No content of a file raises an error. A record that is cut off, mis-declared, too long or not a record is reported with
its place, and reading continues at the next record that can be found.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from forager.errors import InputError
from forager.warc.records import HeaderFields, parsed
from forager.warc.stream import TornError, unpacked

LIMIT = 64 * 2**20
"""Maximum size of a block in bytes; longer ones are reported and skipped."""

_HEAD_LIMIT = 2**16
_START, _RECORD_END = b"WARC/", b"\r\n\r\n"
_LINE_ENDS = re.compile(rb"[\r\n]+")
_ARC_LINE = re.compile(rb"([a-z]{3,8}:[^\r\n]+) (\S+) (\d{14}) ([^\r\n]*) (\d{1,19})\r?\n")
_ARC_TAIL = 2**13  # bytes at the end of a buffer in which such a line may have begun
_PASS_OVER = 16  # blocks up to this many limits are read and dropped; beyond, the member is skipped


@dataclass(frozen=True, slots=True)
class RecordPlace:
    """Where a record begins: an offset in the file, and bytes to skip if records share a compressed member."""

    path: Path
    offset: int
    skip: int = 0

    def __str__(self) -> str:
        return f"{self.path.name}, offset {self.offset}" + (f" + {self.skip}" if self.skip else "")


@dataclass(frozen=True, slots=True)
class WarcRecord:
    """A record as in the file."""

    kind: str
    """The WARC-Type, in lower case."""
    fields: HeaderFields
    block: bytes
    place: RecordPlace
    end: int
    """End offset in the file; -1 if it ends inside a compressed member."""

    def field(self, name: str) -> str:
        """Returns the first field of this lower-case name, or the empty string."""
        return next((value for key, value in self.fields if key == name), "")

    @property
    def url(self) -> str:
        """The target URL; some versions of Wget put it in angle brackets."""
        return self.field("warc-target-uri").removeprefix("<").removesuffix(">")


@dataclass(frozen=True, slots=True)
class Broken:
    """A record, or a part of the file, that cannot be used."""

    place: RecordPlace
    why: str

    def __str__(self) -> str:
        return f"{self.place}: {self.why}"


def records(path: Path, limit: int = LIMIT) -> Iterator[WarcRecord | Broken]:
    """Yields every record of a file, in order, and everything in between that is not a record."""
    with _opened(path) as file:
        yield from _Walk(file, path, 0, limit).walk()


def record_at(place: RecordPlace) -> WarcRecord | Broken:
    """Reads the record at a place that `records` returned."""
    with _opened(place.path) as file:
        return next(_Walk(file, place.path, place.offset, LIMIT).walk(place.skip), Broken(place, "no record here"))


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); name a WARC file") from None


class _Walk:
    """Reads the records of a file, member by member; a record never extends into the next member."""

    def __init__(self, file: BinaryIO, path: Path, start: int, limit: int) -> None:
        self._path, self._limit = path, limit
        self._size = file.seek(0, os.SEEK_END)
        self._bytes = unpacked(file, start)
        self._buffer, self._at = b"", 0
        self._before = 0  # bytes of the member before the buffer
        self._torn, self._is_told = "", False  # why this member has no more bytes; whether that was reported
        self._is_hopeless = False  # the rest of this member is not worth decompressing
        self._is_arc = False

    def walk(self, skip: int = 0) -> Iterator[WarcRecord | Broken]:
        """Yields the records; skips `skip` bytes of the first member."""
        while self._bytes.begin():
            self._buffer, self._at, self._before = b"", 0, 0
            self._torn, self._is_told, self._is_hopeless = "", False, False
            self._drop(skip)
            skip = 0
            yield from self._member()
            if (self._torn or self._is_hopeless) and not self._bytes.give_up():
                break

    def _member(self) -> Iterator[WarcRecord | Broken]:
        while not self._is_hopeless and self._is_more_than_line_ends():
            place, line = self._place(), None
            if self._continues_with(_START) or (line := self._arc_line()) is not None:
                found = self._record(place) if line is None else self._arc_record(place, line)
                yield found
                if isinstance(found, WarcRecord):
                    continue
            else:
                yield Broken(place, f"bytes that are no {'ARC' if self._is_arc else 'WARC'} record")
            self._find_start()
        if self._torn and not self._is_told:
            yield Broken(self._place(), self._tell_torn())

    def _record(self, place: RecordPlace) -> WarcRecord | Broken:
        head = self._head()
        if head is None:
            return Broken(place, self._tell_torn() or "a head without end")
        fields = parsed(head.partition(b"\n")[2])
        declared = next((value for name, value in fields if name == "content-length"), "")
        if not (declared.isascii() and declared.isdigit() and len(declared) < 20):
            return Broken(place, f"Content-Length {declared[:40]!r} is no length")
        block = self._block(place, int(declared))
        if isinstance(block, Broken):
            return block
        kind = next((value.lower() for name, value in fields if name == "warc-type"), "")
        return WarcRecord(kind, fields, block, place, self._end())

    def _arc_line(self) -> re.Match[bytes] | None:
        """Finds the line that begins a record of an ARC file, if one stands here."""
        while self._buffer.find(b"\n", self._at) < 0 and len(self._buffer) - self._at < _HEAD_LIMIT and self._more():
            pass
        return _ARC_LINE.match(self._buffer, self._at, self._at + _HEAD_LIMIT)

    def _arc_record(self, place: RecordPlace, line: re.Match[bytes]) -> WarcRecord | Broken:
        self._at, self._is_arc = line.end(), True
        block = self._block(place, int(line[5]))
        if isinstance(block, Broken):
            return block
        url, address, date, rest = (part.decode("utf-8", "replace") for part in line.groups()[:4])
        media = rest.split(" ")[0]
        fields = (("warc-target-uri", url), ("warc-date", date), ("warc-ip-address", address), ("content-type", media))
        kind = "response" if url.startswith("http") else "warcinfo"
        return WarcRecord(kind, fields, block, place, self._end())

    def _block(self, place: RecordPlace, length: int) -> bytes | Broken:
        """Reads the block of a record, which declares this length."""
        if not self._bytes.is_packed and self._place().offset + length > self._size:
            return Broken(place, f"declares {length} bytes, more than the file holds")
        if length > self._limit:
            self._pass_over(length)
            return Broken(place, f"a block of {length} bytes passes the limit of {self._limit}")
        before = self._before + self._at
        block = self._take(length)
        if len(block) < length:
            if not self._torn:
                self._buffer, self._at, self._before = block, 0, before  # it may contain the next record
            return Broken(place, self._tell_torn() or f"declares {length} bytes, but {len(block)} are there")
        is_closed = self._continues_with(b"\n" if self._is_arc else _RECORD_END)
        if self._is_more_than_line_ends() and not is_closed and not self._begins():
            return Broken(place, f"goes on after its declared length of {length} bytes")
        if self._torn:
            return Broken(place, self._tell_torn())
        return block

    def _begins(self) -> bool:
        """Whether a record begins here."""
        return self._arc_line() is not None if self._is_arc else self._continues_with(_START)

    def _tell_torn(self) -> str:
        self._is_told = True
        return self._torn

    def _head(self) -> bytes | None:
        """Returns the version line and the fields, without the empty line after them; None if there is no such line."""
        while True:
            for ending in (b"\r\n\r\n", b"\n\n"):
                end = self._buffer.find(ending, self._at, self._at + _HEAD_LIMIT)
                if end >= 0:
                    head = self._buffer[self._at : end]
                    self._at = end + len(ending)
                    return head
            if len(self._buffer) - self._at >= _HEAD_LIMIT or not self._more():
                return None

    def _take(self, length: int) -> bytes:
        """Takes the next `length` bytes, fewer at the end of the member."""
        taken = [self._buffer[self._at : self._at + length]]
        self._at += len(taken[0])
        missing = length - len(taken[0])
        while missing and self._next():
            taken.append(self._buffer[:missing])
            self._at = len(taken[-1])
            missing -= self._at
        return b"".join(taken) if len(taken) > 1 else taken[0]

    def _drop(self, length: int) -> None:
        """Skips `length` bytes, or to the end of the member."""
        while length > len(self._buffer) - self._at:
            length -= len(self._buffer) - self._at
            self._at = len(self._buffer)
            if not self._next():
                return
        self._at += length

    def _pass_over(self, length: int) -> None:
        """Skips a block that is too long to hold; skips the whole member if it would become absurdly long."""
        self._is_hopeless = self._bytes.is_packed and length > _PASS_OVER * self._limit
        if not self._is_hopeless:
            self._drop(length)

    def _find_start(self) -> None:
        """Moves to a line that begins a record, if this member has one."""
        passed = 0
        while (found := self._next_start()) < 0:
            passed += len(self._buffer) - self._at
            self._at = max(self._at, len(self._buffer) - (_ARC_TAIL if self._is_arc else len(_START)))
            if self._bytes.is_packed and passed > _PASS_OVER * self._limit:
                self._is_hopeless = True
                return
            if not self._more():
                self._at = len(self._buffer)
                return
        self._at = found + 1

    def _next_start(self) -> int:
        """Finds where in the buffer a line ends behind which a record begins; -1 if nowhere."""
        if not self._is_arc:
            return self._buffer.find(b"\n" + _START, self._at)
        line = _ARC_LINE.search(self._buffer, self._at)
        return line.start() - 1 if line is not None and line.start() > self._at else -1

    def _is_more_than_line_ends(self) -> bool:
        """Skips line ends; False if the member ends with them."""
        while True:
            ends = _LINE_ENDS.match(self._buffer, self._at)
            self._at = ends.end() if ends else self._at
            if self._at < len(self._buffer):
                return True
            if not self._next():
                return False

    def _continues_with(self, expected: bytes) -> bool:
        while len(self._buffer) - self._at < len(expected) and self._more():
            pass
        return self._buffer.startswith(expected, self._at)

    def _next(self) -> bool:
        """Replaces the used-up buffer by new bytes; False at the end of the member, or where it is damaged."""
        if self._torn:
            return False
        try:
            piece = self._bytes.piece()
        except TornError as error:
            self._torn = str(error)
            return False
        if piece:
            self._before += len(self._buffer)
            self._buffer, self._at = piece, 0
        return bool(piece)

    def _more(self) -> bool:
        """Appends new bytes to the unused ones in the buffer."""
        rest = self._buffer[self._at :]
        if not self._next():
            return False
        self._before -= len(rest)
        self._buffer = rest + self._buffer
        return True

    def _place(self) -> RecordPlace:
        return RecordPlace(self._path, *self._bytes.place(self._before + self._at))

    def _end(self) -> int:
        if self._bytes.is_packed and self._at < len(self._buffer):
            return -1
        return self._bytes.position if self._bytes.is_packed else self._place().offset
