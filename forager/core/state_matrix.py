"""The state matrix: the state of every page in one growing array, so that many pages are scored by one product."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from forager.core.kernels import highest
from forager.core.packed import packing, unpack
from forager.terms import UrlId


class StateMatrix:
    """States by row, and for every URL the row where its state stands. Row 0 is the zero state of unknown pages.

    A live crawl puts the state of each page in a row of its own; a replay adds the states of all recorded versions
    first and then only points its URLs at them.
    """

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self.vectors: NDArray[np.float32] = np.zeros((64, dimension), dtype=np.float32)
        """Do not keep it: it is replaced as it grows."""
        self.rows: NDArray[np.int32] = np.zeros(1024, dtype=np.int32)
        """For each URL its row; 0 if nothing is known. Do not keep it either."""
        self.count = 1

    def __repr__(self) -> str:
        return f"<StateMatrix {self.count - 1} states of {self.dimension} components>"

    def add(self, states: NDArray[np.float32]) -> NDArray[np.int32]:
        """New rows; their numbers."""
        rows = np.arange(self.count, self.count + len(states), dtype=np.int32)
        self.count += len(states)
        if self.count > len(self.vectors):
            grown = np.zeros((max(self.count, 2 * len(self.vectors)), self.dimension), dtype=np.float32)
            grown[: len(self.vectors)] = self.vectors
            self.vectors = grown
        self.vectors[rows] = states
        return rows

    def point(self, url: UrlId, row: int) -> None:
        """The state of this URL stands in that row."""
        self.reserve(url + 1)
        self.rows[url] = row

    def put(self, urls: NDArray[np.int64], states: NDArray[np.float32]) -> None:
        """The states of distinct URLs, each in a row of its own, replacing what was there."""
        self.reserve(highest(urls) + 1)
        known = self.rows[urls] > 0
        self.vectors[self.rows[urls[known]]] = states[known]
        self.rows[urls[~known]] = self.add(states[~known])

    def row(self, url: UrlId) -> int:
        """The row of a URL; 0 if nothing is known."""
        return int(self.rows[url]) if url < len(self.rows) else 0

    def of(self, urls: NDArray[np.int64]) -> NDArray[np.float32]:
        """The states of URLs, copied; unknown ones are zero."""
        self.reserve(highest(urls) + 1)
        return self.vectors[self.rows[urls]]

    def reserve(self, urls: int) -> None:
        """Have room for URL numbers below `urls`."""
        if urls > len(self.rows):
            self.rows = np.concatenate([self.rows, np.zeros(max(urls, len(self.rows)), dtype=np.int32)])

    def save(self) -> bytes:
        return self.saving()()

    def saving(self) -> Callable[[], bytes]:
        """What `save` gives, as of now; it may be packed later, by another thread."""
        used = int(np.flatnonzero(self.rows).max(initial=-1)) + 1
        return packing("state matrix", 1, {"vectors": self.vectors[: self.count], "rows": self.rows[:used]})

    @classmethod
    def load(cls, saved: bytes) -> "StateMatrix":
        held = unpack("state matrix", 1, saved)
        vectors = np.asarray(held["vectors"], dtype=np.float32)
        matrix = cls(vectors.shape[1])
        matrix.add(vectors[1:])
        rows = np.asarray(held["rows"], dtype=np.int32)
        matrix.reserve(len(rows))
        matrix.rows[: len(rows)] = rows
        return matrix
