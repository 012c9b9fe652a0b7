"""All known URLs and their numbers.

Those that a crawl was opened with are one block of text and are found by their hashes, which are kept in order: nothing
has to be made of a million URLs before the first is asked for. What was asked for once, or came later, is in a dictionary.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from forager.store.texts import Texts
from forager.terms import Url, UrlId


@dataclass(frozen=True, slots=True)
class Hashes:
    """The hashes of the first URLs, rising, and the numbers of those URLs."""

    values: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))
    numbers: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))

    def joined(self, urls: Sequence[str]) -> "Hashes":
        """With those of further URLs, whose numbers follow."""
        count = len(self.values)
        values = np.concatenate([self.values, _hashes(urls)])
        numbers = np.concatenate([self.numbers, np.arange(count, count + len(urls), dtype=np.int32)])
        order = np.argsort(values, kind="stable")
        return Hashes(values[order], numbers[order])


class Addresses:
    """Every URL at its number, dense from 0."""

    def __init__(self, texts: Texts | None = None, hashes: Hashes | None = None) -> None:
        """The URLs that are known from the start, with a hash for each."""
        self.texts, self.hashes = texts or Texts(), hashes or Hashes()
        self._numbers: dict[Url, UrlId] = {}

    def __repr__(self) -> str:
        return f"<Addresses {len(self)}, {len(self._numbers)} at hand>"

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, id: UrlId) -> Url:
        return Url(self.texts[id])

    def append(self, url: Url) -> UrlId:
        """The number of a new URL."""
        id = self._numbers[url] = UrlId(len(self.texts))
        self.texts.append(url)
        return id

    def extend(self, urls: Sequence[Url]) -> None:
        """Enter many new ones."""
        self._numbers.update(zip(urls, map(UrlId, range(len(self), len(self) + len(urls))), strict=True))
        self.texts.extend(urls)

    def find(self, url: Url) -> UrlId | None:
        return self.find_all([url])[0]

    def find_all(self, urls: Sequence[Url]) -> list[UrlId | None]:
        """The number of each URL; None for those that are not known."""
        found = list(map(self._numbers.get, urls))
        if len(self.hashes.values) and None in found:
            self._recall([url for url, id in zip(urls, found, strict=True) if id is None])
            return list(map(self._numbers.get, urls))
        return found

    def _recall(self, urls: Sequence[Url]) -> None:
        """Put those of these URLs at hand that were known from the start."""
        hashes = _hashes(urls)
        begins, ends = (np.searchsorted(self.hashes.values, hashes, side) for side in ("left", "right"))
        for place in np.flatnonzero(begins < ends).tolist():
            for id in self.hashes.numbers[begins[place] : ends[place]].tolist():
                if self.texts[id] == urls[place]:
                    self._numbers[urls[place]] = UrlId(id)


def _hashes(urls: Sequence[str]) -> NDArray[np.uint64]:
    return np.array([xxh3_64_intdigest(url.encode("utf-8", "surrogatepass")) for url in urls], dtype=np.uint64)
