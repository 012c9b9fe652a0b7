"""Undoes Content-Encoding while the body arrives, and never produces more than a limit.

Every step asks its decompressor for a bounded amount, so a decompression bomb of a few kilobytes costs no more memory
than the limit. gzip uses ISA-L, which is about twice as fast as zlib on pages.
"""

import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

import brotli
import zstandard
from isal import isal_zlib

MOST_CODINGS = 3
"""Maximum number of codings; real servers use two at most (ours)."""

_ZSTD_WINDOW = 8 * 2**20  # RFC 8878, 3.1.1.1.2: decoders should support 8 MB; RFC 9659 forbids more on the web
_ZSTD_SLICE = 256  # a 4-byte zstd block can grow to 128 KiB, so a slice yields at most 8 MiB
_PIECE = 2**16
_MOST_MEMBERS = 1000
"""Members of a gzip body, or frames of a zstd body, at most: each costs time, though it may hold nothing (ours)."""
_UNSUPPORTED = frozenset({"compress", "x-compress", "dcb", "dcz"})


class InflateError(Exception):
    """The body does not match its Content-Encoding."""


class Coding(Protocol):
    def inflate(self, piece: bytes, room: int) -> bytes:
        """Decompresses the next piece to at most about `room` bytes; drops the rest with the stream."""

    @property
    def complete(self) -> bool:
        """Whether the stream has ended properly."""


class Gzip:
    """RFC 1952; accepts several members, and ignores garbage after the last one, as browsers do."""

    def __init__(self) -> None:
        self._stream = isal_zlib.decompressobj(wbits=31)
        self._members = 1

    def inflate(self, piece: bytes, room: int) -> bytes:
        out = []
        while piece and room > 0:
            if self._stream.eof:
                if not piece.startswith(b"\x1f"):
                    break
                self._members = _next_member(self._members)
                self._stream = isal_zlib.decompressobj(wbits=31)
            out.append(self._stream.decompress(piece, room))
            room -= len(out[-1])
            piece = self._stream.unused_data
        return out[0] if len(out) == 1 else b"".join(out)

    @property
    def complete(self) -> bool:
        return bool(self._stream.eof)


class Deflate:
    """RFC 1950 (zlib), or the bare RFC 1951 stream that some servers send under the same name."""

    def __init__(self) -> None:
        self._start = b""
        self._stream: zlib._Decompress | None = None

    def inflate(self, piece: bytes, room: int) -> bytes:
        if self._stream is None:
            piece = self._start = self._start + piece
            if len(piece) < 2:
                return b""
            wrapped = piece[0] & 0x0F == 8 and int.from_bytes(piece[:2]) % 31 == 0
            self._stream = zlib.decompressobj(zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS)
        return self._stream.decompress(piece, room)

    @property
    def complete(self) -> bool:
        return self._stream is not None and self._stream.eof


class Brotli:
    """RFC 7932."""

    def __init__(self) -> None:
        self._stream = brotli.Decompressor()

    def inflate(self, piece: bytes, room: int) -> bytes:
        if self._stream.is_finished():
            return b""
        out = bytearray(self._stream.process(piece, output_buffer_limit=room))
        while len(out) < room and not self._stream.can_accept_more_data():
            out += self._stream.process(b"", output_buffer_limit=room - len(out))
        return bytes(out)

    @property
    def complete(self) -> bool:
        return bool(self._stream.is_finished())


class Zstd:
    """RFC 8878; accepts several frames."""

    def __init__(self) -> None:
        self._stream = _zstd_frame()
        self._frames = 1

    def inflate(self, piece: bytes, room: int) -> bytes:
        out = bytearray()
        while piece and len(out) < room:
            if self._stream.eof:
                self._frames = _next_member(self._frames)
                self._stream = _zstd_frame()
            out += self._stream.decompress(piece[:_ZSTD_SLICE])
            piece = self._stream.unused_data + piece[_ZSTD_SLICE:]
        return bytes(out)

    @property
    def complete(self) -> bool:
        return self._stream.eof


def _next_member(number: int) -> int:
    if number == _MOST_MEMBERS:
        raise InflateError(f"the body has more than {_MOST_MEMBERS} compressed members")
    return number + 1


def _zstd_frame() -> "zstandard.ZstdDecompressionObj":
    return zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).decompressobj()


_CODINGS: dict[str, type[Gzip] | type[Deflate] | type[Brotli] | type[Zstd]] = {
    "gzip": Gzip,
    "x-gzip": Gzip,
    "deflate": Deflate,
    "br": Brotli,
    "zstd": Zstd,
}
# isal's stub calls its class an instance
_ERRORS: tuple[type[Exception], ...] = (isal_zlib.IsalError, zlib.error, brotli.error, zstandard.ZstdError)  # type: ignore[assignment]


class Inflater:
    """A body being received: `feed` it what arrives until it is `full`, then read the `body`."""

    def __init__(self, content_encoding: str, limit: int, *, keep_coded: bool = False) -> None:
        """`keep_coded` keeps the received bytes too."""
        self.limit = limit
        self.wire_bytes = 0
        self.full = False
        """Set when the body exceeds the limit; stop feeding then."""
        self._codings: Sequence[Coding] = [coding() for coding in reversed(codings(content_encoding))]
        self._made = [0] * len(self._codings)
        self._pieces: list[bytes] = []
        self._size = 0
        self._coded: list[bytes] | None = [] if keep_coded and self._codings else None

    @property
    def room(self) -> int:
        """Bytes to read next: a sensible piece, and at most one byte beyond the limit."""
        return max(1, min(_PIECE, self.limit + 1 - self.wire_bytes))

    def feed(self, piece: bytes) -> None:
        """Takes the next piece from the wire; raises InflateError if it cannot be decompressed."""
        self.wire_bytes += len(piece)
        if self._coded is not None:
            self._coded.append(piece)
        for place, coding in enumerate(self._codings):
            piece = self._inflated(place, coding, piece)
            self.full = self.full or self._made[place] > self.limit
        self._pieces.append(piece)
        self._size += len(piece)
        self.full = self.full or max(self._size, self.wire_bytes) > self.limit

    def _inflated(self, place: int, coding: Coding, piece: bytes) -> bytes:
        """Undoes one coding, a little at a time: a coding inside another one may get the whole body in one piece.

        What it yields is counted, as a bomb may hide inside another coding.
        """
        out = []
        try:
            for start in range(0, len(piece), _PIECE):
                room = self.limit + 1 - self._made[place]
                if room <= 0:
                    break
                out.append(coding.inflate(piece[start : start + _PIECE], room))
                self._made[place] += len(out[-1])
        except _ERRORS as error:
            raise InflateError(f"broken {type(coding).__name__.lower()} body: {error}") from error
        return out[0] if len(out) == 1 else b"".join(out)

    def finish(self) -> None:
        """Ends the body; raises InflateError if a compressed stream is incomplete."""
        for coding in self._codings:
            if self.wire_bytes and not coding.complete:
                raise InflateError(f"the {type(coding).__name__.lower()} body is cut off")

    @property
    def coded(self) -> bytes:
        """The received bytes, if kept and compressed."""
        return b"".join(self._coded or ())

    @property
    def body(self) -> bytes:
        """The body so far, never more than the limit."""
        body = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        return body if len(body) <= self.limit else body[: self.limit]


@lru_cache(maxsize=100)
def codings(content_encoding: str) -> tuple[type[Gzip] | type[Deflate] | type[Brotli] | type[Zstd], ...]:
    """Returns the codings in the order in which they were applied; ignores unknown names (`utf-8`, `none`)."""
    names = [name.strip().lower() for name in content_encoding.split(",")]
    if unsupported := _UNSUPPORTED.intersection(names):
        raise InflateError(f"cannot undo content encoding {min(unsupported)}")
    known = tuple(_CODINGS[name] for name in names if name in _CODINGS)
    if len(known) > MOST_CODINGS:
        raise InflateError(f"{len(known)} content encodings on top of each other")
    return known
