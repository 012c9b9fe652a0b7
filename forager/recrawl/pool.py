"""Pages waiting to be looked at, of one host or of all: candidates, and those seen a moment ago, which rest."""

from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]


class Pool:
    """A set of pages that keeps an order, so that the same calls always give the same pages."""

    def __init__(self, pages: IntArray) -> None:
        self.pages = pages
        """Those that may be chosen now."""
        self.used = 0
        """Downloads since the pool was filled."""
        self._inside = set(pages.tolist())
        self._resting: list[tuple[float, int]] = []

    def __repr__(self) -> str:
        return f"<Pool of {len(self.pages)} pages, {len(self._resting)} more resting>"

    def add(self, pages: IntArray) -> None:
        """These pages may be chosen too."""
        new = [page for page in dict.fromkeys(pages.tolist()) if page not in self._inside]
        if new:
            self._inside.update(new)
            self.pages = np.concatenate([self.pages, np.array(new, dtype=np.int64)])

    def rest(self, index: int, until: float) -> None:
        """The page at this place is not to be chosen before a time."""
        heappush(self._resting, (until, int(self.pages[index])))
        self.pages[index] = self.pages[-1]
        self.pages = self.pages[:-1]

    def wake(self, now: float) -> None:
        """Pages that have rested long enough come back."""
        while self._resting and self._resting[0][0] <= now:
            self.pages = np.append(self.pages, heappop(self._resting)[1])
