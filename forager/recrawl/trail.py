"""The intervals between visits, with and without an update, from which HACS estimates update rates.

*Observed* updates: an update lies at the visit that saw it. *Interpolated* updates (the paper's scheduler): it lies
halfway between that visit and the one before, and the intervals run between those points (our reading: a visit without
update stays where it was).
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from forager.recrawl.noting import INTERVAL, SIZE
from forager.recrawl.poisson import likeliest_rates

FloatArray = NDArray[np.float64]
COLUMNS = ("page", "end", "length", "changed")


class Trail:
    """Intervals of all pages in the order they ended; `noting.enter` appends them, and none is ever changed."""

    def __init__(self, *, interpolated: bool = True, window: float = float("inf")) -> None:
        self.interpolated, self.window = interpolated, window
        self.rows: NDArray[np.void] = np.empty(1024, dtype=INTERVAL)
        """The intervals, and room for more. Do not keep it: it is replaced as it grows."""
        self.tally = np.array([0, interpolated], dtype=np.int64)

    def __len__(self) -> int:
        return int(self.tally[SIZE])

    def __repr__(self) -> str:
        return f"<Trail {len(self)} intervals>"

    def reserve(self, more: int) -> None:
        """Have room for so many more intervals."""
        used = len(self) + more
        if used > len(self.rows):
            self.rows = np.resize(self.rows, max(used, 2 * len(self.rows)))

    def rates(self, pages: int, now: float, only: NDArray[np.bool_] | None = None) -> FloatArray:
        """λ of every page from the intervals that ended within the window; of `only` these pages, 0 elsewhere."""
        rows = self.rows[: len(self)]
        page = rows["page"]
        wanted = np.arange(pages) if only is None else np.flatnonzero(only)
        place = np.full(pages, -1)
        place[wanted] = np.arange(len(wanted))
        kept = np.flatnonzero((rows["end"] >= now - self.window) & (place[page] >= 0))
        rates = np.zeros(pages)
        rates[wanted] = likeliest_rates(len(wanted), place[page[kept]], rows["length"][kept], rows["changed"][kept])
        return rates

    def columns(self) -> dict[str, NDArray[np.generic]]:
        """What is to be saved."""
        return {f"trail_{name}": np.array(self.rows[name][: len(self)]) for name in COLUMNS}

    def restore(self, columns: Mapping[str, NDArray[np.generic]]) -> None:
        """Take up what `columns` gave."""
        self.rows = np.empty(max(1, len(columns["trail_page"])), dtype=INTERVAL)
        self.tally[SIZE] = len(columns["trail_page"])
        for name in COLUMNS:
            self.rows[name][: len(self)] = columns[f"trail_{name}"]
