"""The intervals between visits, with and without an update, from which HACS estimates update rates.

*Observed* updates: an update lies at the visit that saw it. *Interpolated* updates (the paper's scheduler): it lies
halfway between that visit and the one before, and the intervals run between those points (our reading: a visit without
update stays where it was).
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from forager.recrawl.poisson import likeliest_rates

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class Trail:
    """Intervals of all pages in the order they ended; appended to, never changed."""

    def __init__(self, *, interpolated: bool = True, window: float = float("inf")) -> None:
        self.interpolated, self.window = interpolated, window
        self._size = 0
        self._page = np.empty(1024, dtype=np.int64)
        self._end = np.empty(1024)
        self._length = np.empty(1024)
        self._changed = np.empty(1024, dtype=np.bool_)

    def __len__(self) -> int:
        return self._size

    def __repr__(self) -> str:
        return f"<Trail {self._size} intervals>"

    def note(
        self,
        pages: IntArray,
        start: FloatArray,
        before: FloatArray,
        now: float | FloatArray,
        changed: NDArray[np.bool_],
    ) -> FloatArray:
        """Enter the intervals that end with visits now; `start` is where each began, `before` the visit before.

        Returns where the next intervals begin.
        """
        end = np.where(changed & self.interpolated, (before + now) / 2.0, now)
        used = self._size + len(pages)
        if used > len(self._page):
            self._grow(max(used, 2 * len(self._page)))
        at = slice(self._size, used)
        self._page[at], self._end[at], self._length[at], self._changed[at] = pages, end, end - start, changed
        self._size = used
        return end

    def rates(self, pages: int, now: float, only: NDArray[np.bool_] | None = None) -> FloatArray:
        """λ of every page from the intervals that ended within the window; of `only` these pages, 0 elsewhere."""
        page = self._page[: self._size]
        wanted = np.arange(pages) if only is None else np.flatnonzero(only)
        place = np.full(pages, -1)
        place[wanted] = np.arange(len(wanted))
        kept = np.flatnonzero((self._end[: self._size] >= now - self.window) & (place[page] >= 0))
        rates = np.zeros(pages)
        rates[wanted] = likeliest_rates(len(wanted), place[page[kept]], self._length[kept], self._changed[kept])
        return rates

    def columns(self) -> dict[str, NDArray[np.generic]]:
        """What is to be saved."""
        used = slice(0, self._size)
        return {
            "trail_page": self._page[used],
            "trail_end": self._end[used],
            "trail_length": self._length[used],
            "trail_changed": self._changed[used],
        }

    def restore(self, columns: Mapping[str, NDArray[np.generic]]) -> None:
        """Take up what `columns` gave."""
        self._page = np.array(columns["trail_page"], dtype=np.int64)
        self._end, self._length = (np.array(columns[name], np.float64) for name in ("trail_end", "trail_length"))
        self._changed = np.array(columns["trail_changed"], dtype=np.bool_)
        self._size = len(self._page)

    def _grow(self, size: int) -> None:
        self._page = np.resize(self._page, size)
        self._end, self._length = np.resize(self._end, size), np.resize(self._length, size)
        self._changed = np.resize(self._changed, size)
