"""The update rate λ of a page by maximum likelihood from visits at irregular times (HACS).

With t_c the lengths of the intervals in which an update was seen and t_u those without, λ solves

    Σ t_c / (exp(λ t_c) − 1) = Σ t_u

Since 1/λ − t/2 ≤ t/(exp(λt) − 1) ≤ 1/λ, the root lies between m/(Σ t_u + Σ t_c/2) and m/Σ t_u for m updates.

The intervals between visits, with and without an update, are kept in one of two readings. *Observed* updates: an update
lies at the visit that saw it. *Interpolated* updates (the paper's scheduler): it lies halfway between that visit and
the one before, and the intervals run between those points (our reading: a visit without update stays where it was).
"""

from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from forager.arrays import BoolArray, FloatArray, IntArray, RowArray

NEWTON_STEPS = 60
"""More than is ever needed; from below the root of a falling convex function Newton only climbs."""


def likeliest_rates(pages: int, page: IntArray, length: FloatArray, changed: BoolArray) -> FloatArray:
    """λ of many pages by Newton's method, from columns with one entry per interval; 0 for pages without updates.

    Where every interval shows an update (m = n) the likelihood has no maximum; λ = r·n/T with r = −ln(0.5/(n + 0.5)).
    An update in no time at all, between two visits of the same moment, says nothing of the rate.
    """
    length = np.maximum(length, 0.0)
    changed = changed & (length > 0.0)
    quiet = np.bincount(page[~changed], weights=length[~changed], minlength=pages)
    page, length = page[changed], length[changed]
    updates = np.bincount(page, minlength=pages)
    busy = np.bincount(page, weights=length, minlength=pages)
    rates = np.zeros(pages)
    saturated = (updates > 0) & (quiet <= 0.0) & (busy > 0.0)
    rates[saturated] = -np.log(0.5 / (updates[saturated] + 0.5)) * updates[saturated] / busy[saturated]
    open_ = (updates > 0) & (quiet > 0.0)
    rates[open_] = updates[open_] / (quiet[open_] + busy[open_] / 2.0)
    kept = open_[page]
    page, length = page[kept], length[kept]
    for _ in range(NEWTON_STEPS):
        exponent = np.minimum(rates[page] * length, 700.0)
        term = length / np.expm1(exponent)
        surplus = np.bincount(page, weights=term, minlength=pages) - quiet
        slope = np.bincount(page, weights=term * (length + term), minlength=pages)
        step = np.where(open_, surplus / np.maximum(slope, 1e-300), 0.0)
        rates += step
        moving = np.abs(step) > 1e-13 * rates
        if not moving.any():
            break
        kept = moving[page]
        page, length, open_ = page[kept], length[kept], open_ & moving
    return rates


def chance_of_update(rate: FloatArray, update: FloatArray, now: float, horizon: float) -> FloatArray:
    """p = 1 − exp(−λ (now + e − τ)), the probability of an update by `horizon` from now."""
    return 1.0 - np.exp(-rate * (now + horizon - update))


INTERVAL = np.dtype(
    [("page", np.int64), ("end", np.float64), ("length", np.float64), ("changed", np.bool_)], align=True
)
"""One row of a trail: the time between two visits of a page, and whether it brought an update."""
SIZE, INTERPOLATED = range(2)
"""The tallies of a trail: how many rows are used, and whether an update lies halfway between two visits."""
COLUMNS = ("page", "end", "length", "changed")


class Interval(Protocol):
    """A row of a trail, as the kernels see it."""

    page: int
    end: float
    length: float
    changed: bool


class Trail:
    """Intervals of all pages in the order they ended; `history.enter` appends them, and none is ever changed."""

    def __init__(self, *, interpolated: bool = True, window: float = float("inf")) -> None:
        self.interpolated, self.window = interpolated, window
        self.rows: RowArray = np.empty(1024, dtype=INTERVAL)
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

    def rates(self, pages: int, now: float, only: BoolArray | None = None) -> FloatArray:
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
