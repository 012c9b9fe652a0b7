"""The records of a WARC file, whoever wrote it: plain, gzip or zstd, one member for each record or not.

Nothing here raises for what a file contains. A record that is torn, mis-declared, too long or no record at all is named
with its place, and reading goes on at the next one that can be found.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from forager.errors import InputError
from forager.world.warc.fields import Fields, parsed
from forager.world.warc.unpack import TornError, unpacked

LIMIT = 64 * 2**20
"""Bytes of a block at most; longer ones are named and passed over."""

_HEAD_LIMIT = 2**16
_START = b"WARC/"
_PASS_OVER = 16  # blocks up to this many limits are read and dropped; beyond, the member is given up


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record begins: an offset in the file, and bytes to skip if records share a compressed member."""

    path: Path
    offset: int
    skip: int = 0

    def __str__(self) -> str:
        return f"{self.path.name}, offset {self.offset}" + (f" + {self.skip}" if self.skip else "")


@dataclass(frozen=True, slots=True)
class Record:
    """A record as it stands in the file."""

    kind: str
    """The WARC-Type, in lower case."""
    fields: Fields
    block: bytes
    place: Place
    end: int
    """Where in the file it ends; -1 if it ends inside a compressed member."""

    def field(self, name: str) -> str:
        """The first field of this (lower case) name, or the empty string."""
        return next((value for key, value in self.fields if key == name), "")

    @property
    def url(self) -> str:
        """The target; some versions of Wget put it in angle brackets."""
        return self.field("warc-target-uri").removeprefix("<").removesuffix(">")


@dataclass(frozen=True, slots=True)
class Broken:
    """A record, or a stretch of the file, that cannot be used."""

    place: Place
    why: str

    def __str__(self) -> str:
        return f"{self.place}: {self.why}"


def records(path: Path, limit: int = LIMIT) -> Iterator[Record | Broken]:
    """Every record of a file, in its order, and everything in between that is none."""
    with _opened(path) as file:
        yield from _Walk(file, path, 0, limit).walk()


def record_at(place: Place, limit: int = LIMIT) -> Record | Broken:
    """The record at a place that `records` gave."""
    with _opened(place.path) as file:
        walk = _Walk(file, place.path, place.offset, limit)
        walk.skip(place.skip)
        return next(walk.walk(), Broken(place, "no record here"))


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); name a WARC file") from None


class _Walk:
    """A walk through the records; `_buffer` holds decompressed bytes from `_at` on, all of one member as a rule."""

    def __init__(self, file: BinaryIO, path: Path, start: int, limit: int) -> None:
        self._path, self._limit = path, limit
        self._size = file.seek(0, os.SEEK_END)
        self._bytes = unpacked(file, start)
        self._buffer, self._at = b"", 0
        self._inside = 0  # bytes of the member before the buffer
        self._held = b""  # the start of the next member, if it begins with a record
        self._is_over = False
        self._torn = ""
        self._enter()

    def walk(self) -> Iterator[Record | Broken]:
        while self._find_start():
            place = self._place()
            if (junk := self._junk()) is not None:
                yield Broken(place, junk)
                if self._torn:
                    self._recover()
                continue
            found = self._record(place)
            yield found
            if self._torn:
                self._recover()
        if self._torn:
            yield Broken(self._place(), self._torn)

    def skip(self, count: int) -> None:
        while len(self._buffer) - self._at < count and self._more():
            pass
        self._at = min(self._at + count, len(self._buffer))

    def _place(self) -> Place:
        return Place(self._path, *self._bytes_place())

    def _bytes_place(self) -> tuple[int, int]:
        return self._bytes.place(self._inside + self._at)

    def _enter(self) -> None:
        """Begin the next member, if there is one."""
        self._inside += self._at
        self._buffer, self._at = b"", 0
        if not self._bytes.begin():
            self._is_over = True
            return
        self._inside = 0
        self._more()

    def _more(self) -> bool:
        """More bytes in the buffer; False at the end of the member, of the file, or where it is torn."""
        if self._held or self._is_over or self._torn:
            return False
        try:
            piece = self._bytes.piece()
        except TornError as error:
            self._torn = str(error)
            return False
        if not piece:
            return False
        self._buffer = self._buffer[self._at :] + piece if self._buffer else piece
        self._inside, self._at = self._inside + self._at, 0
        return True
