"""Files, folders and standard input as streams of unpacked bytes and blocks of lines; counts what is unusable.

A stream is plain, gz or zst, by content. It is cut into blocks of whole lines in constant memory, whatever the lines
are like. A broken record is counted and named, and never fatal.
"""

import codecs
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast

import zstandard
from isal import isal_zlib

from forager.errors import InputError

HEAD = 1 << 16
"""Bytes at the beginning by which a format is recognised."""
STDIN = "-"
_GZ, _ZST = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_FEXTRA = 4
"""The flag of a gz member that says more about itself."""
_BOM = b"\xef\xbb\xbf"
"""How some tools begin a text in UTF-8; it is no part of it."""
_PIECE = 1 << 20
_RATIO, _FREE = 2_000, 100_000_000
"""A stream may unpack to this many times its size, plus this many bytes; more is a bomb (gz cannot pass 1,032)."""
_UNPACKING: tuple[type[Exception], ...] = (
    OSError,
    EOFError,
    zlib.error,
    zstandard.ZstdError,
    cast("type[Exception]", isal_zlib.error),
)


@dataclass(frozen=True, slots=True)
class Source:
    """Something to read: a file, or standard input if it has no path."""

    name: str
    path: Path | None

    @property
    def size(self) -> int:
        """Bytes as stored; 0 if unknown."""
        return self.path.stat().st_size if self.path is not None else 0


def sources(names: Sequence[str]) -> list[Source]:
    """Finds all files meant by these names: a folder means every file in it, sorted, without hidden files."""
    found: list[Source] = []
    for name in names:
        path = Path(name)
        if name == STDIN:
            found.append(Source("standard input", None))
        elif path.is_dir():
            inside = sorted(one for one in path.rglob("*") if one.is_file())
            hidden = [any(part.startswith(".") for part in one.relative_to(path).parts) for one in inside]
            found += [Source(str(one), one) for one, is_hidden in zip(inside, hidden, strict=True) if not is_hidden]
        elif path.exists():
            found.append(Source(name, path))
        else:
            raise InputError(f"{name}: there is no such file")
    if not found:
        raise InputError(f"{' '.join(names) or 'import'}: there is no file to read")
    return found


class _Counted:
    """The stored bytes, and how many of them were read."""

    def __init__(self, inner: BinaryIO, begin: bytes) -> None:
        self._inner, self._begin, self.count = inner, begin, 0

    def read(self, size: int = -1, /) -> bytes:
        if self._begin:
            cut = len(self._begin) if size < 0 else size
            piece, self._begin = self._begin[:cut], self._begin[cut:]
        else:
            piece = self._inner.read(size)
        self.count += len(piece)
        return piece


class ByteStream:
    """The unpacked bytes of a source. A stream that breaks off ends there, and `trouble` says why."""

    def __init__(self, source: Source, inner: BinaryIO) -> None:
        self.source, self.trouble = source, ""
        begin = inner.read(HEAD)
        self._stored = _Counted(inner, begin)
        self._unpacked = 0
        self._packed = begin.startswith((_GZ, _ZST))
        self._gz = _Gz(self._stored) if begin.startswith(_GZ) else None
        self._read = self._gz.read if self._gz is not None else _unpacker(self._stored, begin)
        self.head = self._more(HEAD).removeprefix(_BOM)
        """The first bytes, to know the format by; they are read again."""
        self._pending = self.head

    def __repr__(self) -> str:
        return f"<Stream {self.source.name}, {self.position:,} of {self.source.size:,} bytes read>"

    @property
    def is_plain(self) -> bool:
        """Whether it is a file that can be read as it is."""
        return self.source.path is not None and not self._packed

    @property
    def position(self) -> int:
        """Stored bytes read."""
        return self._stored.count

    def read(self, size: int = _PIECE) -> bytes:
        """Reads up to `size` bytes; none at the end."""
        if self._pending:
            piece, self._pending = self._pending[:size], self._pending[size:]
            return piece
        return self._more(size)

    def filled(self, size: int) -> bytes:
        """Reads exactly this many bytes; fewer only at the end."""
        pieces = []
        while size > 0 and (piece := self.read(size)):
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    def part_lines(self) -> None:
        """Declares that lines follow: a line ends where its gz member ends, as in the blocks of ZipNum indexes."""
        if self._gz is not None:
            self._gz.parts_lines = True

    def _more(self, size: int) -> bytes:
        if self.trouble:
            return b""
        try:
            piece = self._read(size)
        except _UNPACKING as error:
            self.trouble = str(error).splitlines()[0] if str(error) else type(error).__name__
            return b""
        self._unpacked += len(piece)
        if self._unpacked > _RATIO * self._stored.count + _FREE:
            raise InputError(
                f"{self.source.name}: unpacks to more than {_RATIO:,} times its size; this is no recording"
            )
        return piece


def _unpacker(stored: _Counted, begin: bytes) -> Callable[[int], bytes]:
    """Returns a function that reads unpacked bytes: at most as many as asked for, none at the end."""
    if begin.startswith(_ZST):
        zst = zstandard.ZstdDecompressor(max_window_size=1 << 27)
        return zst.stream_reader(cast("BinaryIO", stored), read_across_frames=True).read
    return stored.read


class _Gz:
    """The members of a gz stream; unlike the standard library's reader it returns everything before a broken end."""

    def __init__(self, stored: _Counted) -> None:
        self._stored, self._member, self._input = stored, isal_zlib.decompressobj(wbits=31), b""
        self.parts_lines, self._last = False, b""

    def read(self, size: int) -> bytes:
        while True:
            if self._member.eof:
                self._input = self._member.unused_data or self._stored.read(_PIECE)
                if not self._input.strip(b"\0"):
                    return b""
                self._member = isal_zlib.decompressobj(wbits=31)
                if self._is_in_line():
                    self._last = b"\n"
                    return b"\n"
            self._input = self._input or self._stored.read(_PIECE)
            if not self._input:
                raise EOFError("it ends in the middle")
            piece: bytes = self._member.decompress(self._input, size)
            self._input = self._member.unconsumed_tail
            if piece:
                self._last = piece[-1:]
                return piece

    def _is_in_line(self) -> bool:
        """Whether a line ends here without a line end. The blocks of bgzip, which state their sizes, may end anywhere."""
        if not self.parts_lines or self._last in (b"", b"\n"):
            return False
        while len(self._input) < 4 and (piece := self._stored.read(_PIECE)):
            self._input += piece
        return len(self._input) > 3 and not self._input[3] & _FEXTRA


@contextmanager
def opened(source: Source) -> Iterator[ByteStream]:
    if source.path is None:
        yield ByteStream(source, sys.stdin.buffer)
        return
    try:
        inner = source.path.open("rb")
    except OSError as error:
        raise InputError(f"{source.name}: cannot be read: {error.strerror}") from None
    with inner:
        yield ByteStream(source, inner)


NAMED = 3
"""Number of broken records of each kind that are named."""
_SHOWN = 60
"""Characters shown of what stood there."""


@dataclass(slots=True)
class ImportTally:
    """What was read, what was left out on purpose, and what was broken."""

    records: int = 0
    """Captures taken."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Sound records that show no version of a page: redirects, failed requests, other schemes."""
    passed: Counter[str] = field(default_factory=Counter)
    """Records of recordings that hold no answer, by kind."""
    spelled: int = 0
    """Addresses that are other spellings of pages met before."""
    broken: Counter[str] = field(default_factory=Counter)
    """By kind."""
    named: list[str] = field(default_factory=list)
    """The first few of each kind, with their places."""

    def note(self, kind: str, place: str, line: int | None = None, shown: object = "", *, count: int = 1) -> None:
        """Counts a broken record; `line` counts from 1, `shown` is the beginning of its text."""
        self.broken[kind] += count
        if self.broken[kind] - count < NAMED:
            text = shown.decode("utf-8", "backslashreplace") if isinstance(shown, bytes) else str(shown)
            where = place if line is None else f"{place}:{line}"
            self.named.append(f"{where}: {kind}" + (f": {_tidy(text)}" if text else ""))

    def note_rows(self, kind: str, place: str, lines: Sequence[int], shown: Callable[[int], object]) -> None:
        """Counts broken rows at these lines; `shown` returns the texts of the first, second … of them."""
        for at, line in enumerate(lines[:NAMED]):
            self.note(kind, place, line, shown(at))
        if len(lines) > NAMED:
            self.note(kind, place, count=len(lines) - NAMED)


def _tidy(text: str) -> str:
    """Makes a text fit for a terminal: one line, no control characters, not long."""
    return "".join(letter if letter.isprintable() else "·" for letter in text[:_SHOWN])


LONGEST = 1 << 20
"""Bytes; a longer line is broken."""
BLOCK = 1 << 23


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines."""

    content: bytes
    place: str
    """The name of the source."""
    first: int
    """The number of its first line, from 1."""

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yields each line with its number, without its end; leaves out empty lines."""
        for number, line in enumerate(self.content.split(b"\n"), self.first):
            tidy = line.rstrip(b"\r")
            if tidy:
                yield number, tidy


def blocks(stream: ByteStream, tally: ImportTally) -> Iterator[Block]:
    """Blocks of about `BLOCK` bytes; lines that are too long are counted as broken and dropped."""
    name, first, rest, skipping = stream.source.name, 1, b"", False
    while content := stream.filled(BLOCK):
        if skipping:
            end = content.find(b"\n") + 1
            if not end:
                continue
            content, skipping, first = content[end:], False, first + 1
        content = rest + content
        cut = content.rfind(b"\n") + 1
        rest = content[cut:]
        if cut:
            yield Block(content[:cut], name, first)
            first += content.count(b"\n", 0, cut)
        if len(rest) > LONGEST:
            tally.note("line too long", name, first, rest[:40])
            rest, skipping = b"", True
    if rest:
        yield Block(rest, name, first)


class Utf8File:
    """A stream as a file for Arrow, which only accepts UTF-8: other bytes become replacement characters."""

    closed = False

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def read(self, size: int = -1) -> bytes:
        while True:
            piece = self._stream.read(size if size > 0 else BLOCK)
            text = self._decoder.decode(piece, final=not piece)
            if text or not piece:
                return text.encode()

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self.closed = True
