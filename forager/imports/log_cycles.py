"""The cycles of a change log: where they begin, how long they are, and how many there are."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forager.errors import InputError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

USUAL = (900.0, 3600.0, 8 * 3600.0, 86_400.0, 7 * 86_400.0)
"""Lengths to pick from when none is given: 15m, 1h, 8h, 1d, 1w."""
MANY = 10_000
"""A length picked by itself makes no more cycles than this, …"""
LARGE = 50_000_000
"""… and no larger log (pages × cycles), if it can: simulations of it take minutes."""
MOST = 60_000
"""More cycles than this are refused."""
_CELLS = 2_000_000_000
"""Pages × cycles: a log is a matrix of as many bytes, and three times that while it is simulated."""


@dataclass(frozen=True, slots=True)
class Cycles:
    """A grid of cycles over time."""

    start: float
    """Seconds since the epoch; nan if the cycles were only counted."""
    length: float
    count: int

    @classmethod
    def of(cls, time: FloatArray, page: IntArray, length: float | None, place: str, pages: int) -> "Cycles":
        """From the first time to the last; without a length, that of `USUAL` nearest to the rhythm of the rows."""
        if not len(time):
            raise InputError(f"{place}: has no rows")
        start, end = float(time.min()), float(time.max())
        chosen = length or usual_length(time, page, pages)
        return cls.checked(start, chosen, int((end - start) // chosen) + 1, place, pages)

    @classmethod
    def counted(cls, number: IntArray, length: float | None, place: str, pages: int) -> "Cycles":
        """Cycles that the log itself numbers."""
        if not len(number):
            raise InputError(f"{place}: has no rows")
        count = int(number.max()) - int(number.min()) + 1  # beyond what a machine word can hold
        return cls.checked(np.nan, length or 86_400.0, count, place, pages)

    @classmethod
    def checked(cls, start: float, length: float, count: int, place: str, pages: int) -> "Cycles":
        """So many cycles for so many pages, if that is not too much."""
        if count > MOST or count * pages > _CELLS:
            advice = f"at most {MOST:,} cycles can be" if np.isnan(start) else "make --cycle longer"
            raise InputError(f"{place}: {pages:,} pages × {count:,} cycles are too many; {advice}")
        return cls(start, length, count)

    def of_moment(self, time: FloatArray) -> IntArray:
        """The cycle in which each moment lies."""
        return np.floor((time - self.start) / self.length).astype(np.int64)


def usual_length(time: FloatArray, page: IntArray, pages: int) -> float:
    """The length of `USUAL` nearest to the median time between two rows of a page, longer if cycles were too many."""
    order = np.lexsort((time, page))
    gap = np.diff(time[order])[np.diff(page[order]) == 0]
    gap = gap[gap > 0.0]
    wish = float(np.median(gap)) if len(gap) else USUAL[3]
    span = float(time.max() - time.min())
    most = min(MANY, LARGE / max(pages, 1))
    enough = [length for length in USUAL if span / length < most] or [USUAL[-1]]
    return min(enough, key=lambda length: abs(np.log(length / wish)))
