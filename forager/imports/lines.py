"""A stream cut into blocks of whole lines, in constant memory whatever the lines are like."""

import codecs
from collections.abc import Iterator
from dataclasses import dataclass

from forager.imports.opening import Stream
from forager.imports.tally import Tally

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
        """Each line with its number, without its end; empty lines are left out."""
        for number, line in enumerate(self.content.split(b"\n"), self.first):
            tidy = line.rstrip(b"\r")
            if tidy:
                yield number, tidy


def blocks(stream: Stream, tally: Tally, *, size: int = BLOCK) -> Iterator[Block]:
    """Blocks of about `size` bytes; lines that are too long are counted as broken and dropped."""
    name, first, rest, skipping = stream.source.name, 1, b"", False
    while content := filled(stream, size):
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


def filled(stream: Stream, size: int) -> bytes:
    """So many bytes; fewer only at the end."""
    pieces = []
    while size > 0 and (piece := stream.read(size)):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


class Utf8File:
    """A stream as a file for Arrow, which must not meet anything but UTF-8: other bytes become replacement marks."""

    closed = False

    def __init__(self, stream: Stream) -> None:
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
