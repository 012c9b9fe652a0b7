"""Chance drawn in blocks, so that a kernel can use it: the same numbers in the same order as if drawn one by one."""

import numpy as np
from numpy.typing import NDArray


class Luck:
    """Numbers in [0, 1) from a generator that nobody else uses."""

    def __init__(self, rng: np.random.Generator, most: int = 64) -> None:
        self.rng, self.most = rng, most
        """`most` numbers are drawn at a time."""
        self._drawn, self._next = rng.random(most), 0

    def __repr__(self) -> str:
        return f"<Luck {self.most - self._next} drawn ahead>"

    @property
    def ahead(self) -> NDArray[np.float64]:
        """The next numbers, one at least; those that are used must be told of."""
        if self._next == self.most:
            self._drawn, self._next = self.rng.random(self.most), 0
        return self._drawn[self._next :]

    def used(self, count: int) -> None:
        self._next += count
