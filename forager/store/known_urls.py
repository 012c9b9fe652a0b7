"""Every known URL at its number, and the number of every URL; a million of them open without creating objects."""

from array import array
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from xxhash import xxh3_64_intdigest

from forager.arrays import Int32Array, PrintArray
from forager.terms import Url, UrlId


def encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


class Texts:
    """Holds very many short texts by number; texts can be added and replaced.

    The texts present when a crawl is opened stay one block of bytes, as read: a text of eighty letters takes 84 bytes
    in it, as an object of its own 130, and becomes an object only when requested.
    """

    def __init__(self, block: bytes = b"", count: int = 0, part: bytes = b"\n") -> None:
        """Takes `count` texts from a block, separated by one byte; raises a `ValueError` if the count differs."""
        self._block, self._count, self._part = block, count, part
        ends = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == part[0]) + 1 if block else np.empty(0, np.int64)
        if len(ends) != max(0, count - 1):
            raise ValueError(f"{len(ends) + 1} texts instead of {count}")
        self._begins = array("I" if len(block) < 2**32 else "Q", [0])
        """Where each text begins, and where one after the last would."""
        self._begins.frombytes(np.append(ends, len(block) + 1).astype(self._begins.typecode).tobytes())
        self._changed: dict[int, str] = {}
        self.late: list[str] = []
        """The texts that are not in the block."""

    def __repr__(self) -> str:
        return f"<Texts {len(self)}, {self._count} of them in {len(self._block)} bytes>"

    def __len__(self) -> int:
        return self._count + len(self.late)

    def __getitem__(self, number: int) -> str:
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
        """Returns a copy for another thread; the block is shared."""
        other = Texts()
        other._block, other._count, other._part, other._begins = self._block, self._count, self._part, self._begins
        other._changed, other.late = self._changed.copy(), self.late.copy()
        return other

    def joined(self) -> bytes | None:
        """Returns all texts as one block; None if one of them contains the separator."""
        pieces, at = [], 0
        for number in sorted(self._changed):
            pieces += [self._block[at : self._begins[number]], encode(self._changed[number])]
            at = self._begins[number + 1] - 1
        pieces.append(self._block[at:])
        if self.late:
            pieces += [self._part if self._count else b"", encode(self._part.decode().join(self.late))]
        block = b"".join(pieces)
        return block if block.count(self._part) == max(0, len(self) - 1) else None


@dataclass(frozen=True, slots=True)
class Hashes:
    """The sorted hashes of the first URLs, and the numbers of those URLs."""

    values: PrintArray = field(default_factory=lambda: np.empty(0, np.uint64))
    numbers: Int32Array = field(default_factory=lambda: np.empty(0, np.int32))

    def joined(self, urls: Sequence[str]) -> "Hashes":
        """Returns these hashes with those of further URLs, whose numbers follow."""
        count = len(self.values)
        values = np.concatenate([self.values, _hashes(urls)])
        numbers = np.concatenate([self.numbers, np.arange(count, count + len(urls), dtype=np.int32)])
        order = np.argsort(values, kind="stable")
        return Hashes(values[order], numbers[order])


class Addresses:
    """Holds every URL at its number, dense from 0.

    The URLs with which a crawl was opened are one block of text and are found by their sorted hashes, so opening a
    million URLs creates no objects. URLs that were looked up once, or came later, are in a dictionary.
    """

    def __init__(self, texts: Texts | None = None, hashes: Hashes | None = None) -> None:
        """The URLs known from the start, with a hash for each."""
        self.texts, self.hashes = texts or Texts(), hashes or Hashes()
        self._numbers: dict[Url, UrlId] = {}

    def __repr__(self) -> str:
        return f"<Addresses {len(self)}, {len(self._numbers)} at hand>"

    def __len__(self) -> int:
        return len(self.texts)

    def url(self, id: UrlId) -> Url:
        """Returns the URL with this number; raises an `IndexError` if there is none."""
        if not 0 <= id < len(self.texts):
            raise IndexError(f"no URL has the number {id}")
        return Url(self.texts[id])

    def extend(self, urls: Collection[Url]) -> list[UrlId]:
        """Adds new URLs; returns their numbers."""
        ids = list(map(UrlId, range(len(self), len(self) + len(urls))))
        self._numbers.update(zip(urls, ids, strict=True))
        self.texts.extend(urls)
        return ids

    def find(self, url: Url) -> UrlId | None:
        return self.find_all([url])[0]

    def find_all(self, urls: Sequence[Url]) -> list[UrlId | None]:
        """Returns the number of each URL, None for an unknown one."""
        found = list(map(self._numbers.get, urls))
        if len(self.hashes.values) and None in found:
            self._recall([url for url, id in zip(urls, found, strict=True) if id is None])
            return list(map(self._numbers.get, urls))
        return found

    def _recall(self, urls: Sequence[Url]) -> None:
        """Puts those of these URLs that were known from the start into the dictionary."""
        hashes = _hashes(urls)
        begins, ends = (np.searchsorted(self.hashes.values, hashes, side) for side in ("left", "right"))
        for place in np.flatnonzero(begins < ends).tolist():
            for id in self.hashes.numbers[begins[place] : ends[place]].tolist():
                if self.texts[id] == urls[place]:
                    self._numbers[urls[place]] = UrlId(id)


def _hashes(urls: Sequence[str]) -> PrintArray:
    return np.array([xxh3_64_intdigest(encode(url)) for url in urls], dtype=np.uint64)
