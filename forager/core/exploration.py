"""Saves requests: skips pages with too few expected documents, but spends a small share of downloads on exploring them.

All of this is ours. Without exploration a crawl can lock itself in, because a page that is never visited never shows
its worth. The share is of downloads made plus downloads skipped: a crawl that finds nothing worth a request continues
to explore, otherwise it would rest forever. Thrift depends on success: a crawl that visits too seldom finds documents
late and misses many. So the older documents are on average when found, the lower the threshold; from `LATE` on it is 0.
If they are found soon after they appeared, it changes little.

The pace of the fleet, its mean number of hits per download, also decides when to leave a path: when its best open link
is worth less. This is the marginal value theorem of animal foraging.
"""

from typing import Protocol

import numpy as np

from forager.arrays import RowArray
from forager.kernel import compiled

AGES = 200
"""Number of documents over which their mean age is taken."""
DOUBT = 10
"""Number of late documents that a crawl counts with before it has found any: thrift must be earned (ours)."""
LATE = 0.06
"""Share of `max_age`, 1.4 h of 24 h. Chosen in replays: no thrift where documents are found hours late, as on a rewired
Newsroom, and full thrift on the Newsroom, where they are found within minutes."""


def _after(hits: float, downloads: float, memory: float, count: float) -> tuple[float, float]:
    """Hits and downloads after `count` more downloads; old ones decay."""
    keep = (1 - 1 / memory) ** count
    return hits * keep, downloads * keep + count


def _aged(mean: float, count: float, age: float, max_age: float) -> float:
    """Mean age of documents after `count` of them and one more of this age were found."""
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
    """Property that reads and sets a field of the row `pace` of its owner."""

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
    """Success of the fleet as running means: hits per download, and the age of documents when found.

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
        """Notes that a document of this age was found."""
        self.age = _aged(self.age, self.ages, age, max_age)
        self.ages += 1


def _owes(explored: float, explore: float, turns: float) -> bool:
    """Whether too little was explored; `turns` are downloads and rests."""
    return explored < explore * turns


def _explores(worth: float, least: float) -> bool:
    """Whether requesting a page with this many expected documents counts as exploring; not if they are unknown (nan)."""
    return worth < least or worth <= 0


def _allows(explores: bool, explored: float, explore: float, turns: float) -> bool:
    """Whether to request a page, either for its worth or, if that `explores`, because little was explored."""
    return not explores or explored < explore * (turns + 1)


def _least(usual: float, age: float, max_age: float) -> float:
    """Threshold of expected documents, given the mean age of documents when found."""
    if age <= 0:  # who has found nothing yet cannot afford thrift
        return 0.0
    late = age / (LATE * max_age)
    return usual * max(0.0, 1 - late * late)


owes, allows, explores, least_of = compiled(_owes), compiled(_allows), compiled(_explores), compiled(_least)
"""The same rules for kernels; other code calls the plain functions, which is faster there."""


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
        """Current threshold of expected documents."""
        return _least(self.usual * self.topical, self.pace.age, self.max_age)

    @property
    def owes(self) -> bool:
        """Whether too little was explored; then exploring comes before everything else."""
        return _owes(self.explored, self.explore, self.spent + self.rests)

    def allows(self, worth: float) -> bool:
        """Whether this many expected documents are worth a request; unknown worth (nan) is. Changes nothing."""
        return _allows(_explores(worth, self.least_worth), self.explored, self.explore, self.spent + self.rests)

    def spend(self, worth: float) -> None:
        """Notes the download of a page of this worth; 0: only to explore."""
        self.spent += 1
        self.explored += _explores(worth, self.least_worth)

    def rested(self, downloads: float = 1.0) -> None:
        """Notes a rest because nothing was worth a download, with the number of downloads that it skipped."""
        self.rests += downloads
