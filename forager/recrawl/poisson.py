"""The update rate λ of a page by maximum likelihood, from visits at irregular times (HACS).

With t_c the lengths of the intervals in which an update was seen and t_u those without, λ solves

    Σ t_c / (exp(λ t_c) − 1) = Σ t_u

Since 1/λ − t/2 ≤ t/(exp(λt) − 1) ≤ 1/λ, the root lies between m/(Σ t_u + Σ t_c/2) and m/Σ t_u for m updates.

The intervals between visits are kept in one of two readings. *Observed*: an update happened at the visit that saw it.
*Interpolated* (the paper's scheduler): an update happened halfway between that visit and the one before, and the
intervals run between those points (our reading: a visit without update stays where it was).
"""

import math
from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from forager.arrays import BoolArray, FloatArray, IntArray, RowArray
from forager.kernel import compiled

_NEWTON_STEPS = 60
"""More than ever needed: from below the root of a falling convex function, Newton's method only rises."""
_NEARLY = 1e-8
"""When a step of Newton's method is this small a share of λ, all digits are right, because the error shrinks
quadratically.
"""


@compiled
def likeliest_rate(length: FloatArray, times: FloatArray, quiet: float, before: float) -> float:
    """λ of one page by Newton's method, which starts at `before` if that is larger than the lower bound.

    Updates were seen in intervals of these lengths, in each of them `times` times; `quiet` is the time without. An
    update in an interval of length 0, between two visits at the same moment, says nothing of the rate. If every
    interval shows an update (m = n) the likelihood has no maximum; then λ = r·n/T with r = −ln(0.5/(n + 0.5)).
    """
    updates, busy = 0.0, 0.0
    for kind in range(len(length)):
        if length[kind] > 0.0:
            updates, busy = updates + times[kind], busy + times[kind] * length[kind]
    if not updates:
        return 0.0
    if quiet <= 0.0:
        return -math.log(0.5 / (updates + 0.5)) * updates / busy
    least = updates / (quiet + busy / 2.0)  # never above the solution; from there on it is reached from below
    rate = max(before, least)
    for _ in range(_NEWTON_STEPS):
        surplus, slope = -quiet, 0.0
        for kind in range(len(length)):
            if length[kind] > 0.0:
                term = length[kind] / math.expm1(min(rate * length[kind], 700.0))
                surplus += times[kind] * term
                slope += times[kind] * term * (length[kind] + term)
        step = surplus / max(slope, 1e-300)
        rate = max(rate + step, least)
        if abs(step) <= _NEARLY * rate:
            break
    return rate


def likeliest_rates(pages: int, page: IntArray, length: FloatArray, changed: BoolArray) -> FloatArray:
    """λ of many pages, from columns with one entry per interval; 0 for pages without updates."""
    order = np.argsort(page, kind="stable")
    return _rates(np.searchsorted(page[order], np.arange(pages + 1)), length[order], changed[order])


@compiled
def _rates(begin: IntArray, length: FloatArray, changed: BoolArray) -> FloatArray:
    """λ of each page; `begin` says where its intervals begin."""
    rates = np.zeros(len(begin) - 1)
    for page in range(len(rates)):
        own = length[begin[page] : begin[page + 1]]
        saw = changed[begin[page] : begin[page + 1]]
        seen, quiet = own[saw], own[~saw]
        rates[page] = likeliest_rate(seen, np.ones(len(seen)), quiet.sum(), 0.0)
    return rates


def chance_of_update(rate: FloatArray, update: FloatArray, now: float, horizon: float) -> FloatArray:
    """p = 1 − exp(−λ (now + e − τ)), the probability of an update within `horizon` from now."""
    return 1.0 - np.exp(-rate * (now + horizon - update))


INTERVAL = np.dtype(
    [("page", np.int64), ("end", np.float64), ("length", np.float64), ("changed", np.bool_)], align=True
)
"""One row of a trail: the time between two visits of a page, and whether it brought an update."""
SIZE, INTERPOLATED = range(2)
"""The counters of a trail: rows in use, and whether an update is placed halfway between two visits."""
COLUMNS = ("page", "end", "length", "changed")


class Interval(Protocol):
    """A row of a trail, as kernels see it."""

    page: int
    end: float
    length: float
    changed: bool


class Trail:
    """The intervals of all pages in the order in which they ended; `history.enter` appends them, and none ever changes."""

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
        """Makes room for this many more intervals."""
        used = len(self) + more
        if used > len(self.rows):
            self.rows = np.resize(self.rows, max(used, 2 * len(self.rows)))

    def rates(self, pages: int, now: float, only: BoolArray | None = None) -> FloatArray:
        """λ of every page from the intervals that ended within the window; of `only` these pages, 0 for the others."""
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
        """The columns to save."""
        return {f"trail_{name}": np.array(self.rows[name][: len(self)]) for name in COLUMNS}

    def restore(self, columns: Mapping[str, NDArray[np.generic]]) -> None:
        """Restores what `columns` gave."""
        self.rows = np.empty(max(1, len(columns["trail_page"])), dtype=INTERVAL)
        self.tally[SIZE] = len(columns["trail_page"])
        for name in COLUMNS:
            self.rows[name][: len(self)] = columns[f"trail_{name}"]
