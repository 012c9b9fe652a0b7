"""New documents that the visits of recrawl cycles reveal, and how soon each was found."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from forager.recrawl.change_log import ShownDocuments
from forager.recrawl.terminals import PageStates

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Discovery:
    """Documents that appeared after the warm-up and how soon they were found."""

    documents: int
    delays: FloatArray
    """Of those found while young: cycles from the first possible sighting to the visit."""
    young: float
    """Cycles after which a document is no news any more."""
    by_page: FloatArray = field(default_factory=lambda: np.empty(0))
    """What each page contributes to `worth` by the documents that it is the first to show; their mean is `worth`."""

    @property
    def coverage(self) -> float:
        return len(self.delays) / self.documents if self.documents else 0.0

    @property
    def delay_mean(self) -> float:
        """nan if none was found, as for the median."""
        return float(self.delays.mean()) if len(self.delays) else np.nan

    @property
    def delay_median(self) -> float:
        return float(np.median(self.delays)) if len(self.delays) else np.nan

    @property
    def worth(self) -> float:
        """Documents found, each discounted linearly by its delay, as a share of all: the discovery fitness."""
        return float((1.0 - self.delays / self.young).sum()) / self.documents if self.documents else 0.0


class Finder:
    """Which documents the visits reveal: all that a page shows when it is visited. Time does not run backwards.

    What a page showed at its last visit was found then or before, so only what appeared there since can be new.
    """

    def __init__(self, documents: ShownDocuments, pages: int, warmup: int) -> None:
        order = np.lexsort((documents.first, documents.page))
        self.document, self.page = documents.document[order], documents.page[order]
        self.first, self.last = documents.first[order], documents.last[order]
        self._begun = np.argsort(self.first, kind="stable")
        self._starts = self.first[self._begun]
        self._next = 0
        self._standing = np.empty(0, dtype=np.int64)
        self._seen = np.searchsorted(self.page, np.arange(pages))
        span = int(self.first.max(initial=0)) + 2
        self._span, self._key = span, self.page * span + np.maximum(self.first, -1) + 1
        self.appeared = documents.appeared()
        self.found = np.full(len(self.appeared), -1, dtype=np.int64)
        self.pages, self.warmup = pages, warmup

    def visit(self, pages: IntArray, cycle: int) -> IntArray:
        """Visit pages in this order; how many documents each was the first to reveal."""
        begin = self._seen[pages]
        end = np.searchsorted(self._key, pages * self._span + min(cycle + 1, self._span - 1), side="right")
        self._seen[pages] = end
        counts = end - begin
        entry = np.repeat(begin - np.cumsum(counts) + counts, counts) + np.arange(int(counts.sum()))
        shown = (self.last[entry] >= cycle) & (self.found[self.document[entry]] < 0)
        documents, where = np.unique(self.document[entry[shown]], return_index=True)
        self.found[documents] = cycle
        visitor = np.repeat(np.arange(len(pages)), counts)[shown]
        return np.bincount(visitor[where], minlength=len(pages))

    def shown_unfound(self, cycle: int) -> tuple[IntArray, IntArray]:
        """What is shown in this cycle and was not found before: the places of the entries, and the page of each."""
        begun = int(np.searchsorted(self._starts, cycle, side="right"))
        at = np.concatenate([self._standing, self._begun[self._next : begun]])
        at = np.sort(at[(self.last[at] >= cycle) & (self.found[self.document[at]] < 0)])
        self._next, self._standing = begun, at
        return at, self.page[at]

    def discovery(self, young: float) -> Discovery:
        counted = self.appeared >= self.warmup
        documents = int(np.count_nonzero(counted))
        delay = np.where(counted & (self.found >= 0), self.found - self.appeared, np.inf)
        worth = np.maximum(0.0, 1.0 - delay / young)
        by_page = np.bincount(self._home(), worth, self.pages).astype(np.float64) * (self.pages / max(1, documents))
        return Discovery(documents, delay[delay < young], young, by_page)

    def _home(self) -> IntArray:
        """Of every document the page that is the first to show it; of several the one with the lowest row."""
        order = np.lexsort((self.page, self.first, self.document))
        return self.page[order[np.unique(self.document[order], return_index=True)[1]]]


class Greedy:
    """Knows what every page shows: the page with the most documents not found yet first, then the next; and so on.

    Ties: the lower row. The oracle of discovery; greedy, so not quite the best possible.
    """

    def choose(self, finder: Finder, cycle: int, k: int) -> IntArray:
        """The k pages of this cycle."""
        at, page = finder.shown_unfound(cycle)
        taken: list[int] = []
        for _ in range(k):
            count = np.bincount(page, minlength=finder.pages)
            count[taken] = -1
            taken.append(int(count.argmax()))
            left = ~np.isin(finder.document[at], finder.document[at[page == taken[-1]]])
            at, page = at[left], page[left]
        return np.array(taken, dtype=np.int64)

    def scores(self, states: PageStates) -> FloatArray:
        """Any order; simulations ask `choose` instead."""
        return states.t
