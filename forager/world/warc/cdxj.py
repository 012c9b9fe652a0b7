"""The index beside a recording: a line per capture, `key timestamp {json}`, sorted, as replay tools read it."""

import heapq
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from forager.world.warc.surts import surt

SUFFIX = ".cdxj"

REVISIT = "warc/revisit"
"""The media type under which indexes list captures that refer to an earlier body."""


class Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an index says of a capture; numbers are written as text, as everybody does."""

    url: str
    mime: str = ""
    status: str = ""
    digest: str = ""
    length: str = ""
    offset: str = ""
    filename: str = ""
    stamp: str = msgspec.field(default="", name="timestamp")


_decode = msgspec.json.Decoder(Line).decode


def format_line(line: Line) -> str:
    """A line of the index, without its line end; key and timestamp stand before the rest."""
    rest = msgspec.json.encode(msgspec.structs.replace(line, stamp=""))
    return f"{surt(line.url)} {line.stamp} {rest.decode()}"


def read_line(text: str) -> Line | None:
    """A line of any CDXJ; None for comments and rubbish."""
    _, _, rest = text.partition(" ")
    stamp, _, json = rest.partition(" ")
    try:
        return msgspec.structs.replace(_decode(json.encode()), stamp=stamp)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None


def write_index(path: Path, index: Iterable[str]) -> None:
    """Write the lines, sorted by their bytes."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in sorted(index))


def lines_of(path: Path) -> Iterator[str]:
    """The lines of an index, without their line ends."""
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            yield line.rstrip("\n")


def merged(paths: Iterable[Path]) -> Iterator[str]:
    """One sorted index of many."""
    return heapq.merge(*map(lines_of, paths))
