"""Saves requests: skips pages that promise too little, but spends a small share of the downloads on exploring them.

All of this is ours. Without exploration a crawl can lock itself in, because a page that is never visited never shows
its worth. The share counts downloads made and downloads skipped, so that a crawl that finds nothing worth a request
goes on exploring instead of resting forever.

How much is skipped depends on success, because a crawl that visits too seldom finds documents late and misses many. The
older documents are when they are found, the lower the threshold is; from `LATE` on it is 0. If documents are found soon
after they appear, the threshold hardly changes.

The pace of the fleet, its mean number of hits per download, also decides when to leave a path: when the best open link
is worth less. This is the marginal value theorem of animal foraging.
"""

from typing import Protocol

import numpy as np

from forager.arrays import RowArray
from forager.kernel import compiled

AGES = 200
"""Number of documents over which their mean age is averaged."""
DOUBT = 10
"""Number of late documents that a crawl is assumed to have found at its start: it must first earn the right to skip
pages.
"""
LATE = 0.06
"""Share of `max_age`: 1.4 h of 24 h. Chosen in replays: nothing is skipped where documents are found hours late, as on
a rewired Newsroom, and as much as usual on the Newsroom itself, where they are found within minutes.
"""


def _after(hits: float, downloads: float, memory: float, count: float) -> tuple[float, float]:
    """Hits and downloads after `count` more downloads; old ones decay."""
    keep = (1 - 1 / memory) ** count
    return hits * keep, downloads * keep + count


def _aged(mean: float, count: float, age: float, max_age: float) -> float:
    """Mean age of documents after one more was found at this age. `count` were found before."""
    if mean <= 0:  # the first one
        mean = LATE * max_age
    return mean + (max(1.0, age) - mean) / min(AGES, DOUBT + count + 1)


after, aged = compiled(_after), compiled(_aged)
"""`_after` and `_aged` for kernels."""


class PaceRow(Protocol):
    """Success and spending of the fleet, for kernels."""

    hits: float  # documents found, decaying
    downloads: float  # downloads, decaying
    age: float  # mean age of documents when they are found, in seconds
    ages: float  # number of these documents
    asked: float  # all downloads
    explored: float  # downloads whose expected documents were below the threshold
    rests: float  # downloads skipped because nothing was worth one


PACE = np.dtype([(name, np.float64) for name in PaceRow.__annotations__])


class PaceFigure:
    """A property that reads and sets a field of the row `pace` of its owner."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, owner: "Paced", kind: object) -> float:
        return float(owner.row[self.name][0])

    def __set__(self, owner: "Paced", value: float) -> None:
        owner.row[self.name][0] = value


class Paced(Protocol):
    """An object that keeps figures in a table of one row."""

    row: RowArray


class Pace:
    """The success of the fleet as running means: hits per download, and the age of documents when found.

    Hits may be counted later than their downloads.
    """

    hits = PaceFigure("hits")
    downloads = PaceFigure("downloads")
    age = PaceFigure("age")
    ages = PaceFigure("ages")

    def __init__(
        self, memory: int, hits: float = 0.0, downloads: float = 0.0, age: float = 0.0, ages: float = 0.0
    ) -> None:
        self.memory = memory
        self.row = np.zeros(1, PACE)
        """The figures for kernels, beside those of `Thrift` on what was spent."""
        self.hits, self.downloads, self.age, self.ages = hits, downloads, age, ages

    def __repr__(self) -> str:
        return f"<Pace {self.mean:.3f} hits per download>"

    @property
    def mean(self) -> float:
        """Hits per download; 0 before the first download."""
        return self.hits / self.downloads if self.downloads else 0.0

    def downloaded(self, count: int) -> None:
        if count:
            self.hits, self.downloads = _after(self.hits, self.downloads, float(self.memory), float(count))

    def hit(self) -> None:
        self.hits += 1

    def found(self, age: float, max_age: float) -> None:
        """Records that a document of this age was found."""
        self.age = _aged(self.age, self.ages, age, max_age)
        self.ages += 1


def _owes(explored: float, explore: float, turns: float) -> bool:
    """Whether too little was explored so far; `turns` are downloads and rests."""
    return explored < explore * turns


def _explores(worth: float, least: float) -> bool:
    """Whether requesting a page of this worth counts as exploring; not if the worth is unknown (nan)."""
    return worth < least or worth <= 0


def _allows(explores: bool, explored: float, explore: float, turns: float) -> bool:
    """Whether a page may be requested: for its worth, or, if that is exploring, because little was explored so far."""
    return not explores or explored < explore * (turns + 1)


def _least(usual: float, age: float, max_age: float) -> float:
    """The threshold of worth, given the mean age of documents when found."""
    if age <= 0:  # no document was found yet, so nothing may be skipped
        return 0.0
    late = age / (LATE * max_age)
    return usual * max(0.0, 1 - late * late)


owes, allows, explores, least_of = compiled(_owes), compiled(_allows), compiled(_explores), compiled(_least)
"""The same rules for kernels; other code calls the plain functions, which are faster there."""


class Thrift:
    """Decides whether a download is worth a request, for the fleet and the recrawl cycle together."""

    spent = PaceFigure("asked")
    explored = PaceFigure("explored")
    rests = PaceFigure("rests")

    def __init__(self, usual: float, explore: float, pace: Pace, max_age: float) -> None:
        """`usual` is the threshold while documents are found young."""
        self.usual, self.explore, self.pace, self.max_age = usual, explore, pace, max_age
        self.topical = 1.0
        """What is left of the threshold in a crawl with a topic, which few documents are on."""
        self.row = pace.row

    def __repr__(self) -> str:
        return f"<Thrift {self.spent:.0f} downloads, {self.explored:.0f} of them to explore, {self.rests:.0f} rests>"

    @property
    def least_worth(self) -> float:
        """The current threshold of worth."""
        return _least(self.usual * self.topical, self.pace.age, self.max_age)

    @property
    def owes(self) -> bool:
        """Whether too little was explored so far; then exploring comes before everything else."""
        return _owes(self.explored, self.explore, self.spent + self.rests)

    def allows(self, worth: float) -> bool:
        """Whether a page of this worth may be requested; also if the worth is unknown (nan). Changes nothing."""
        return _allows(_explores(worth, self.least_worth), self.explored, self.explore, self.spent + self.rests)

    def spend(self, worth: float) -> None:
        """Records the download of a page of this worth; 0 if it was only explored."""
        self.spent += 1
        self.explored += _explores(worth, self.least_worth)

    def rested(self, downloads: float = 1.0) -> None:
        """Records a rest because nothing was worth a download, with the number of downloads that it skipped."""
        self.rests += downloads
