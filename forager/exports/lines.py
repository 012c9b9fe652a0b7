"""Formats that grow line by line, and can be gone on with after a sudden end.

Every row carries its number in the order of acceptance, and a row is only written once its story is stored. So the
file itself says where to go on: behind its last complete row. What follows that row was torn by the end of the process;
it is cut off, and its story is written again.
"""

from collections.abc import Sequence
from io import FileIO
from typing import Protocol

from forager.errors import OutputError
from forager.exports.fields import Row
from forager.exports.places import Place
from forager.exports.protocol import Last


class Foreign(Exception):
    """A file that this format did not write."""


class Format(Protocol):
    @property
    def head(self) -> bytes:
        """What stands before the first row."""

    def encode(self, rows: Sequence[Row]) -> bytes: ...

    def ending(self, file: FileIO) -> tuple[Last | None, int]:
        """The last complete row, and the offset behind it (0: not even the head is complete); else Foreign."""


class LineWriter:
    """Writes rows of a format to a place."""

    newest = None

    def __init__(self, place: Place, format: Format) -> None:
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
