"""Pages waiting to be looked at, of one host or of all: candidates, and those seen a moment ago, which rest.

The pool is a few arrays and the kernels that change them, so that a replay can choose page after page without leaving
machine code. It keeps an order: the same calls always give the same pages.
"""

import numpy as np
from numpy.typing import NDArray

from forager.compiling import compiled

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

AWAKE, RESTING, USED = range(3)
"""The tallies of a pool: pages that may be chosen now, pages that rest, downloads since it was filled."""


@compiled
def add(pages: IntArray, resting: IntArray, tally: IntArray, new: IntArray) -> None:
    """These pages may be chosen too, if the pool does not hold them; there must be room."""
    for page in new:
        held = False
        for one in pages[: tally[AWAKE]]:
            held |= one == page
        for one in resting[: tally[RESTING]]:
            held |= one == page
        if not held:
            pages[tally[AWAKE]] = page
            tally[AWAKE] += 1


@compiled
def rest(pages: IntArray, resting: IntArray, until: FloatArray, tally: IntArray, index: int, time: float) -> None:
    """The page at this place is not to be chosen before a time. Those that rest stand in order, the first to wake last."""
    page, place = pages[index], tally[RESTING]
    while place > 0 and (until[place - 1] < time or (until[place - 1] == time and resting[place - 1] < page)):
        until[place], resting[place] = until[place - 1], resting[place - 1]
        place -= 1
    until[place], resting[place] = time, page
    tally[RESTING] += 1
    tally[AWAKE] -= 1
    pages[index] = pages[tally[AWAKE]]


@compiled
def wake(pages: IntArray, resting: IntArray, until: FloatArray, tally: IntArray, now: float) -> None:
    """Pages that have rested long enough come back."""
    while tally[RESTING] > 0 and until[tally[RESTING] - 1] <= now:
        tally[RESTING] -= 1
        pages[tally[AWAKE]] = resting[tally[RESTING]]
        tally[AWAKE] += 1


class Pool:
    """A set of pages in arrays that grow."""

    def __init__(self, pages: IntArray) -> None:
        self.tally = np.array([len(pages), 0, 0])
        self.awake = np.array(pages, dtype=np.int64)
        """Pages that may be chosen now, and room for more."""
        self.resting = np.empty_like(self.awake)
        self.until = np.empty(len(self.awake))

    def __repr__(self) -> str:
        return f"<Pool of {self.tally[AWAKE]} pages, {self.tally[RESTING]} more resting>"

    @property
    def pages(self) -> IntArray:
        """Those that may be chosen now; a view."""
        return self.awake[: self.tally[AWAKE]]

    @property
    def all(self) -> IntArray:
        """Those that rest too."""
        return np.concatenate([self.pages, self.resting[: self.tally[RESTING]]])

    @property
    def used(self) -> int:
        """Downloads since the pool was filled."""
        return int(self.tally[USED])

    def add(self, pages: IntArray) -> None:
        """These pages may be chosen too."""
        if len(pages):
            self.reserve(len(pages))
            add(self.awake, self.resting, self.tally, pages)

    def rest(self, index: int, until: float) -> None:
        """The page at this place is not to be chosen before a time."""
        rest(self.awake, self.resting, self.until, self.tally, index, until)

    def wake(self, now: float) -> None:
        """Pages that have rested long enough come back."""
        wake(self.awake, self.resting, self.until, self.tally, now)

    def use(self) -> None:
        """One of its pages is downloaded."""
        self.tally[USED] += 1

    def reserve(self, more: int) -> None:
        """Have room for so many more pages."""
        room = int(self.tally[AWAKE] + self.tally[RESTING]) + more
        if room > len(self.awake):
            self.awake, self.resting = (np.resize(column, 2 * room) for column in (self.awake, self.resting))
            self.until = np.resize(self.until, 2 * room)
