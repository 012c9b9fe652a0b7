"""Very many short texts by number: those that were there when a crawl was opened stay one block of bytes, as it was read.

A text of eighty letters as an object of its own takes 130 bytes and must be made first; in the block it takes 84, and it
is made when somebody asks for it.
"""

from array import array
from collections.abc import Iterable

import numpy as np


class Texts:
    """Texts numbered from 0; more can be added and each can be replaced."""

    def __init__(self, block: bytes = b"", count: int = 0, part: bytes = b"\n") -> None:
        """`count` texts out of a block, in which one byte parts each from the next; a `ValueError` if they are not so many."""
        self._block, self._count, self._part = block, count, part
        ends = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == part[0]) + 1 if block else np.empty(0, np.int64)
        if len(ends) != max(0, count - 1):
            raise ValueError(f"{len(ends) + 1} texts instead of {count}")
        self._begins = array("I" if len(block) < 2**32 else "Q", [0])
        """Where each begins, and where one after the last would."""
        self._begins.frombytes(np.append(ends, len(block) + 1).astype(self._begins.typecode).tobytes())
        self._changed: dict[int, str] = {}
        self.late: list[str] = []
        """Those that are not in the block."""

    def __repr__(self) -> str:
        return f"<Texts {len(self)}, {self._count} of them in {len(self._block)} bytes>"

    def __len__(self) -> int:
        return self._count + len(self.late)

    def __getitem__(self, number: int) -> str:
        """Of a number from 0."""
        if number >= self._count:
            return self.late[number - self._count]
        if number in self._changed:
            return self._changed[number]
        return self._block[self._begins[number] : self._begins[number + 1] - 1].decode("utf-8", "surrogatepass")

    def __setitem__(self, number: int, text: str) -> None:
        if number >= self._count:
            self.late[number - self._count] = text
        else:
            self._changed[number] = text

    def append(self, text: str) -> None:
        self.late.append(text)

    def extend(self, texts: Iterable[str]) -> None:
        self.late.extend(texts)

    def copied(self) -> "Texts":
        """As they are now, for another thread; the block is shared."""
        other = Texts()
        other._block, other._count, other._part, other._begins = self._block, self._count, self._part, self._begins
        other._changed, other.late = self._changed.copy(), self.late.copy()
        return other

    def joined(self) -> bytes | None:
        """All of them as one block; None if one of them holds what should part it from the next."""
        pieces, at = [], 0
        for number in sorted(self._changed):
            pieces += [self._block[at : self._begins[number]], _bytes(self._changed[number])]
            at = self._begins[number + 1] - 1
        pieces.append(self._block[at:])
        if self.late:
            pieces += [self._part if self._count else b"", _bytes(self._part.decode().join(self.late))]
        block = b"".join(pieces)
        return block if block.count(self._part) == max(0, len(self) - 1) else None


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
