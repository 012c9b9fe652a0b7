"""Which of some pages to look at first: by the new documents expected, or by a score function of their histories."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from forager.recrawl.cycle import first_of, of_each, top
from forager.recrawl.history import History
from forager.recrawl.policies import ScoreFunction

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


class Expecting(Protocol):
    """What is asked of the visit statistics: the new documents expected of a page."""

    def worth(self, urls: IntArray, now: float) -> tuple[FloatArray, BoolArray]:
        """For each page the documents expected of a download now, and whether it is a link that just appeared."""

    def rank(self, urls: IntArray, now: float) -> FloatArray:
        """What each page is ordered by: its worth, but links that just appeared and what changes seldom further forward."""

    def pick(self, urls: IntArray, now: float, leaning: FloatArray, luck: float) -> tuple[int, float, bool, float]:
        """The page that promises most: its index and its worth first. `leaning` holds a factor for each, or nothing."""

    def most_promising(
        self, urls: IntArray, now: float, leaning: FloatArray, size: int, *, plain: bool = False
    ) -> IntArray:
        """So many of these pages, which rise by number, that promise most; `plain`: by worth alone."""

    def fresh(self, links: IntArray, now: float) -> IntArray:
        """Those of these links that just appeared and are worth a download."""

    def visited(self, urls: IntArray) -> BoolArray:
        """Which pages somebody has seen."""


class Thrift(Protocol):
    """Decides whether a download is worth a request."""

    @property
    def least_worth(self) -> float:
        """What a page must promise now."""

    @property
    def owes(self) -> bool:
        """Whether less than its share was explored."""

    def allows(self, worth: float) -> bool: ...


class Preference(Protocol):
    """Chooses among known pages."""

    @property
    def steady(self) -> bool:
        """Pages far from the best stay so for a while, unless they are visited."""

    def best(self, known: IntArray, groups: IntArray | None, now: float, size: int) -> IntArray:
        """The pages among which to choose for a while: of each group about so many."""

    def pick(self, pages: IntArray, now: float, luck: float) -> tuple[int, float]:
        """The index of the page to look at first and its worth in documents; nan: worth a look whatever it promises."""

    def wanted(self, pages: IntArray, now: float) -> int:
        """How many of these pages are worth a look."""


@dataclass(frozen=True, slots=True)
class ByWorth:
    """As the visit statistics order pages: the most new documents first, more or less."""

    expecting: Expecting
    leaning: Callable[[IntArray], FloatArray]
    """A factor for each page by what else is known of it, or nothing."""
    thrift: Thrift
    steady: bool = True

    def best(self, known: IntArray, groups: IntArray | None, now: float, size: int) -> IntArray:
        leaning = self.leaning(known)
        if groups is None:
            return self.expecting.most_promising(known, now, leaning, size)
        keys = self.expecting.rank(known, now)
        if len(leaning):
            keys *= leaning
        own = groups[known]
        return known[of_each(own, np.lexsort((known, -keys, own)), size)]

    def pick(self, pages: IntArray, now: float, luck: float) -> tuple[int, float]:
        index, worth, _, _ = self.expecting.pick(pages, now, self.leaning(pages), luck)
        return index, worth

    def wanted(self, pages: IntArray, now: float) -> int:
        return int(np.count_nonzero(self.expecting.worth(pages, now)[0] >= self.thrift.least_worth))


@dataclass(frozen=True, slots=True)
class Reordered:
    """By worth, but of the pages seen before that are worth a request the one that a score function puts first.

    What was learned beside a crawl can change the order in which it looks at pages, not how much it asks for.
    """

    score: ScoreFunction
    history: History
    worthy: ByWorth
    steady: bool = True

    def best(self, known: IntArray, groups: IntArray | None, now: float, size: int) -> IntArray:
        return self.worthy.best(known, groups, now, size)

    def pick(self, pages: IntArray, now: float, luck: float) -> tuple[int, float]:
        index, worth = self.worthy.pick(pages, now, luck)
        seen = self.history.visited(pages)
        if not seen[index] or worth < self.worthy.thrift.least_worth:
            return index, worth
        places = np.flatnonzero(seen)
        worths, _ = self.worthy.expecting.worth(pages[places], now)
        worthwhile = worths >= self.worthy.thrift.least_worth
        places, worths = places[worthwhile], worths[worthwhile]
        states = self.history.states(now, pages[places])
        scores = np.where(states.t < 1.0, -np.inf, self.score.scores(states))
        if not len(scores) or scores.max() == -np.inf:
            return index, worth
        first = first_of(scores, states.last, pages[places])
        return int(places[first]), float(worths[first])

    def wanted(self, pages: IntArray, now: float) -> int:
        return self.worthy.wanted(pages, now)


@dataclass(frozen=True, slots=True)
class ByPolicy:
    """Pages with a history as the score function says; one without, if it promises more documents than the page chosen so.

    A page is looked at once in a cycle, as in the papers: a function that does not begin at 0 would ask for one page without
    end. What a page promises is the one measure that both kinds have. Without it, the backlog of pages never seen would keep
    the function from ever looking again at the lists that bring the news.
    """

    score: ScoreFunction
    history: History
    unseen: ByWorth
    steady: bool = False

    def best(self, known: IntArray, groups: IntArray | None, now: float, size: int) -> IntArray:
        never = known[~self.history.visited(known)]
        seen = top(self.history, self.score, now, size, groups=groups).pages
        return np.concatenate([self.unseen.best(never, groups, now, size), seen])

    def pick(self, pages: IntArray, now: float, luck: float) -> tuple[int, float]:
        seen = self.history.visited(pages)
        others, places = np.flatnonzero(~seen), np.flatnonzero(seen)
        best, worth, fresh = 0, 0.0, False
        if len(others):
            index, worth, fresh, _ = self.unseen.expecting.pick(
                pages[others], now, self.unseen.leaning(pages[others]), luck
            )
            best = int(others[index])
        if not len(places) or (fresh and worth >= self.unseen.thrift.least_worth):
            return best, worth
        states = self.history.states(now, pages[places])
        scores = np.where(states.t < 1.0, -np.inf, self.score.scores(states))
        first = first_of(scores, states.last, pages[places])
        chosen = int(places[first])
        if scores[first] == -np.inf:
            return best, worth
        if worth >= self.unseen.thrift.least_worth:
            promised, _ = self.unseen.expecting.worth(pages[chosen : chosen + 1], now)
            if worth >= promised[0]:
                return best, worth
        return chosen, math.nan

    def wanted(self, pages: IntArray, now: float) -> int:
        seen = self.history.visited(pages)
        scores = self.score.scores(self.history.states(now, pages[seen]))
        return self.unseen.wanted(pages[~seen], now) + int(np.count_nonzero(scores > -np.inf))
