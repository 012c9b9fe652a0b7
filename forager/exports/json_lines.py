"""JSON lines: one object a line, in UTF-8.

A line end inside a text is written as an escape, so the last line can be found from the end of the file, however long
the file is.
"""

import json
import os
from collections.abc import Sequence
from io import FileIO

from forager.exports.fields import Row
from forager.exports.harmless import escaped
from forager.exports.lines import Foreign
from forager.exports.protocol import Last

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
