"""Reads a WARC file as decompressed bytes, forwards, with the place of every record.

gzip and zstd files are sequences of members (frames), usually one per record. A damaged member is skipped, and the next
one is found by its first bytes. At most one piece more than requested is decompressed.
"""

import os
import re
from collections.abc import Callable
from functools import lru_cache
from typing import BinaryIO

import zstandard
from isal import isal_zlib

PIECE = 2**16
_GZIP, _ZSTD = b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"
_DICTIONARY = b"\x5d\x2a\x4d\x18"  # the skippable frame that holds a dictionary for all others
_ZSTD_WINDOW = 128 * 2**20  # zstd's --long is what archives use
_ZSTD_SLICE = 512  # a 4-byte block can grow to 128 KiB, so a slice yields at most 16 MiB
_DICTIONARY_LIMIT = 16 * 2**20
_START = re.compile(rb"WARC/|[a-z]{3,8}:[^\r\n]+ \d{14} ")
"""How a record of a WARC or ARC file begins."""


class TornError(Exception):
    """The file ends inside a member, or its bytes cannot be decompressed."""


class _Gzip:
    """A gzip member being decompressed."""

    def __init__(self) -> None:
        self._stream = isal_zlib.decompressobj(wbits=31)

    def inflate(self, packed: memoryview) -> tuple[bytes, int]:
        """Returns some bytes, and how many of `packed` were not used. Raises TornError."""
        try:
            out = self._stream.decompress(packed, 4 * PIECE)
        except isal_zlib.error as error:  # type: ignore[misc]
            raise TornError(f"broken gzip ({error})") from None
        return out, len(self._stream.unused_data if self._stream.eof else self._stream.unconsumed_tail)

    @property
    def is_done(self) -> bool:
        return bool(self._stream.eof)


class _Zstd:
    """A zstd frame being decompressed, like `_Gzip`."""

    def __init__(self, dictionary: zstandard.ZstdCompressionDict | None) -> None:
        unpacker = zstandard.ZstdDecompressor(dict_data=dictionary, max_window_size=_ZSTD_WINDOW)
        self._stream = unpacker.decompressobj()

    def inflate(self, packed: memoryview) -> tuple[bytes, int]:
        try:
            out = self._stream.decompress(packed[:_ZSTD_SLICE])
        except zstandard.ZstdError as error:
            raise TornError(f"broken zstd ({error})") from None
        return out, len(packed[_ZSTD_SLICE:]) + len(self._stream.unused_data)

    @property
    def is_done(self) -> bool:
        return self._stream.eof


class Members:
    """Compressed members, one after the other."""

    is_packed = True
    """Whether the file is compressed."""

    def __init__(self, file: BinaryIO, magic: bytes, coding: Callable[[], _Gzip | _Zstd], start: int = 0) -> None:
        self._member = start
        self._file, self._magic, self._coding = file, magic, coding
        self._size = file.seek(0, os.SEEK_END)
        self._packed = memoryview(b"")
        self._read_at = file.seek(start)
        self._stream: _Gzip | _Zstd | None = None

    def begin(self) -> bool:
        """Begins the next member; False at the end of the file."""
        self._member = self.position
        if not self._packed and not self._more():
            return False
        self._stream = self._coding()
        return True

    def piece(self) -> bytes:
        """Returns the next bytes of the member, empty at its end. Raises TornError."""
        stream = self._stream
        if stream is None:
            return b""
        while not stream.is_done:
            is_end = not self._packed and not self._more()
            out, unused = stream.inflate(self._packed)
            self._packed = self._packed[len(self._packed) - unused :]
            if out:
                return out
            if is_end and not stream.is_done:
                raise TornError("the file ends inside a record")
        return b""

    def give_up(self) -> bool:
        """Finds a later member that begins with a record, and makes it the next; False if there is none."""
        at, keep = self._member + 1, len(self._magic) - 1
        while at < self._size:
            self._file.seek(at)
            block = self._file.read(2**20)
            found = block.find(self._magic)
            while found >= 0:
                if self._is_record(at + found):
                    self._seek(at + found)
                    return True
                found = block.find(self._magic, found + 1)
            at += max(len(block) - keep, 1)
        self._seek(self._size)
        return False

    def place(self, inside: int) -> tuple[int, int]:
        """Offset to start from, and bytes to skip, to reach a byte of the current member."""
        return self._member, inside

    @property
    def position(self) -> int:
        """Offset up to which the file has been used."""
        return self._read_at - len(self._packed)

    def _is_record(self, offset: int) -> bool:
        self._file.seek(offset)
        try:
            return _START.match(self._coding().inflate(memoryview(self._file.read(512)))[0]) is not None
        except TornError:
            return False

    def _seek(self, offset: int) -> None:
        self._file.seek(offset)
        self._read_at, self._packed = offset, memoryview(b"")

    def _more(self) -> bool:
        piece = self._file.read(PIECE)
        self._read_at += len(piece)
        self._packed = memoryview(piece)
        return bool(piece)


class PlainMembers:
    """No compression: the whole file is one member; see `Members`."""

    is_packed = False

    def __init__(self, file: BinaryIO, start: int = 0) -> None:
        self._file, self._start, self._begun = file, start, False
        file.seek(start)

    def begin(self) -> bool:
        if self._begun:
            return False
        self._begun = True
        return True

    def piece(self) -> bytes:
        return self._file.read(PIECE)

    def give_up(self) -> bool:
        return False

    def place(self, inside: int) -> tuple[int, int]:
        return self._start + inside, 0

    @property
    def position(self) -> int:
        return self._file.tell()


def unpacked(file: BinaryIO, start: int = 0) -> Members | PlainMembers:
    """Opens the reader for the format in the first bytes of a file; `start` is a place that such a reader returned."""
    file.seek(0)
    head = file.read(4)
    if head.startswith(_GZIP[:2]):
        return Members(file, _GZIP, _Gzip, start)
    if head in (_ZSTD, _DICTIONARY):
        dictionary, after = _dictionary(file) if head == _DICTIONARY else (None, 0)
        return Members(file, _ZSTD, lambda: _Zstd(dictionary), max(start, after))
    return PlainMembers(file, start)


def _dictionary(file: BinaryIO) -> tuple[zstandard.ZstdCompressionDict | None, int]:
    """Reads the dictionary in the first frame of a .warc.zst, perhaps compressed, and where that frame ends."""
    file.seek(4)
    length = int.from_bytes(file.read(4), "little")
    return _loaded(file.read(min(length, _DICTIONARY_LIMIT))), 8 + length


@lru_cache(maxsize=16)  # a replay opens the same few files for each record, and loading takes 20 ms
def _loaded(raw: bytes) -> zstandard.ZstdCompressionDict | None:
    """The dictionary; None if it is damaged, and the frames will be reported as broken."""
    try:
        if raw.startswith(_ZSTD):
            raw = zstandard.ZstdDecompressor().decompress(raw, max_output_size=_DICTIONARY_LIMIT)
        dictionary = zstandard.ZstdCompressionDict(raw)
        zstandard.ZstdDecompressor(dict_data=dictionary)  # raises if it is damaged
    except zstandard.ZstdError:
        return None
    return dictionary
