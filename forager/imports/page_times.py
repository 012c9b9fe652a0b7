"""Pairs of page and time, rising, in which others are looked up, millions at once."""

import numpy as np
from numpy.typing import NDArray

from forager.imports.values import Floats, Ids


class PageTimes:
    """The versions of a table, by page, then by time."""

    def __init__(self, page: Ids, time: Floats) -> None:
        self._times, rank = np.unique(time, return_inverse=True)
        self._key = page * len(self._times) + rank

    def before(self, page: Ids, time: Floats) -> Ids:
        """How many pairs come before each of others."""
        return self._before(page, np.searchsorted(self._times, time))

    def up_to(self, page: Ids, time: Floats) -> Ids:
        """The same, those equal to it counted too."""
        return self._before(page, np.searchsorted(self._times, time, side="right"))

    def places(self, page: Ids, time: Floats) -> Ids:
        """Where others stand; -1 where they do not."""
        place = self.before(page, time)
        found: NDArray[np.bool_] = self.up_to(page, time) > place
        return np.where(found, place, -1)

    def _before(self, page: Ids, rank: Ids) -> Ids:
        return np.searchsorted(self._key, page * len(self._times) + rank)
