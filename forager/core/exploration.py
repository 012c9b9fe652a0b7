"""Few requests: a page that promises too little is not asked for, but a small share of downloads explores all the same.

All of it is ours. Without the share a crawl can lock itself in: what is never looked at never shows its worth. The share
is of the downloads that were made and of those that were not: a crawl that finds nothing worth a request goes on
exploring, or it would rest for ever. And thrift is for those who can afford it: a crawl that looks too seldom finds
documents late, and misses many. The older they are on average, the less a page must promise, and from `LATE` on nothing;
found soon after they appeared, they change little.
"""

from forager.compiling import compiled
from forager.core.pace import Pace, PaceFigure

LATE = 0.06
"""Share of `max_age`, 1.4 h of 24 h. Chosen in replays: no thrift where documents are found hours late, as on a rewired
Newsroom, and all of it on the Newsroom, where they are found within minutes."""


def _owes(explored: float, explore: float, turns: float) -> bool:
    """Whether less than a share was explored; `turns` are downloads and rests."""
    return explored < explore * turns


def _allows(worth: float, least: float, explored: float, explore: float, turns: float) -> bool:
    """Whether a page that promises so much may be asked for, or else one more may be explored."""
    return not worth < least or explored < explore * (turns + 1)


def _explores(worth: float, least: float) -> bool:
    """Whether asking for such a page is exploring."""
    return worth < least or worth <= 0


def _least(usual: float, age: float, max_age: float) -> float:
    """What a page must promise if documents are so old on average when they are found."""
    late = age / (LATE * max_age)
    return usual * max(0.0, 1 - late * late)


owes, allows, explores, least_of = compiled(_owes), compiled(_allows), compiled(_explores), compiled(_least)
"""The same rules for kernels; elsewhere a plain function is called faster."""


class Thrift:
    """Decides whether a download is worth a request; one for the fleet and the recrawl cycle together."""

    spent = PaceFigure("asked")
    explored = PaceFigure("explored")
    rests = PaceFigure("rests")

    def __init__(self, usual: float, explore: float, pace: Pace, max_age: float) -> None:
        """`usual` is what a page must promise while documents are found young."""
        self.usual, self.explore, self.pace, self.max_age = usual, explore, pace, max_age
        self.row = pace.row

    def __repr__(self) -> str:
        return f"<Thrift {self.spent:.0f} downloads, {self.explored:.0f} of them to explore, {self.rests:.0f} rests>"

    @property
    def least_worth(self) -> float:
        """What a page must promise now."""
        return _least(self.usual, self.pace.age, self.max_age)

    @property
    def owes(self) -> bool:
        """Whether less than its share was explored: then exploring goes before everything else."""
        return _owes(self.explored, self.explore, self.spent + self.rests)

    def allows(self, worth: float) -> bool:
        """Whether so many expected documents are worth a request; asking changes nothing. Unknown worth (nan) is."""
        return _allows(worth, self.least_worth, self.explored, self.explore, self.spent + self.rests)

    def spend(self, worth: float) -> None:
        """A page of this worth was downloaded; 0: just to explore."""
        self.spent += 1
        self.explored += _explores(worth, self.least_worth)

    def rested(self, downloads: float = 1.0) -> None:
        """Nothing was worth a download for a while, in which so many might have been made."""
        self.rests += downloads
