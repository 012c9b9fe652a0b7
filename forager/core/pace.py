"""When to leave a path: when its best open link is worth less than what the fleet earns on average.

This is the marginal value theorem of foraging animals: leave the patch when it pays less than the average place.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from forager.compiling import compiled

AGES = 200
"""Documents over which their mean age is taken."""


def _after(hits: float, downloads: float, memory: float, count: float) -> tuple[float, float]:
    """Hits and downloads after so many more downloads, the old ones fading."""
    keep = (1 - 1 / memory) ** count
    return hits * keep, downloads * keep + count


def _aged(mean: float, age: float) -> float:
    """The mean age of documents after one more of this age was found."""
    return mean + (max(0.0, age) - mean) / AGES


after, aged = compiled(_after), compiled(_aged)
"""The same for kernels."""


class PaceRow(Protocol):
    """How well the fleet does and what it spends, as kernels see it."""

    hits: float  # documents found, fading, …
    downloads: float  # … in so many downloads, fading too
    age: float  # mean age of documents when they are found, in seconds
    asked: float  # downloads of all time, …
    explored: float  # … those of them that promised too little, …
    rests: float  # … and those that were not made, because nothing was worth one


PACE = np.dtype([(name, np.float64) for name in PaceRow.__annotations__])


class PaceFigure:
    """A figure of somebody who keeps it in the row `pace`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, owner: "Paced", kind: object) -> float:
        return float(owner.row[self.name][0])

    def __set__(self, owner: "Paced", value: float) -> None:
        owner.row[self.name][0] = value


class Paced(Protocol):
    """Who keeps figures in a table of one row."""

    row: NDArray[np.void]


class Pace:
    """How well the fleet does: hits per download, and how old documents are when they are found, as running means.

    Hits may come later than their downloads.
    """

    hits = PaceFigure("hits")
    downloads = PaceFigure("downloads")
    age = PaceFigure("age")

    def __init__(self, memory: int, hits: float = 0.0, downloads: float = 0.0, age: float = 0.0) -> None:
        self.memory = memory
        self.row = np.zeros(1, PACE)
        """The figures as kernels see them; what was spent stands beside them, see `Thrift`."""
        self.hits, self.downloads, self.age = hits, downloads, age

    def __repr__(self) -> str:
        return f"<Pace {self.mean:.3f} hits per download>"

    @property
    def mean(self) -> float:
        """Hits per download; 0 before anything was downloaded."""
        return self.hits / self.downloads if self.downloads else 0.0

    def downloaded(self, count: int) -> None:
        if count:
            self.hits, self.downloads = _after(self.hits, self.downloads, float(self.memory), float(count))

    def hit(self) -> None:
        self.hits += 1

    def found(self, age: float) -> None:
        """A document of this age was found."""
        self.age = _aged(self.age, age)
