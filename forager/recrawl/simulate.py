"""Simulate recrawl cycles on a change log, page by page: the measure of every policy and the reference for faster ways.

Warm-up: every page is visited in the first cycles. Then in each cycle all pages are scored, the top k visited, and the
histories of those pages alone go on (GP4C, "Fitness").
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from forager.measures.freshness import age, freshness
from forager.measures.ranking import change_rate, ndcg
from forager.recrawl.log import ChangeLog, Documents
from forager.recrawl.policies import ScoreFunction, history_for
from forager.recrawl.settings import DEFAULTS, RecrawlSettings
from forager.recrawl.states import EMPTY, States

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Curves:
    """What a policy achieved, cycle by cycle after the warm-up."""

    change_rate: FloatArray
    ndcg: FloatArray
    freshness: FloatArray
    """Share of copies that are current after the cycle's visits."""
    age: FloatArray
    """Mean cycles since the copies went out of date, after the visits."""
    top: FloatArray
    """ChangeRate of the best 1/5, 2/5 … 5/5 of the schedule, one row per cycle."""
    discovery: "Discovery | None" = None


@dataclass(frozen=True, slots=True)
class Discovery:
    """Documents that appeared after the warm-up and how soon they were found."""

    documents: int
    delays: FloatArray
    """Of those found while young: cycles from the first possible sighting to the visit."""
    young: float
    """Cycles after which a document is no news any more."""

    @property
    def coverage(self) -> float:
        return len(self.delays) / self.documents if self.documents else 0.0

    @property
    def worth(self) -> float:
        """Documents found, each discounted linearly by its delay, as a share of all: the discovery fitness."""
        return float((1.0 - self.delays / self.young).sum()) / self.documents if self.documents else 0.0


class Oracle:
    """Knows what changed: pages out of date first, among them those whose next copy will stay current longest."""

    def __init__(self, log: ChangeLog) -> None:
        self.next_change = log.next_change()

    def scores(self, states: States) -> FloatArray:
        now = int(states.now)
        outdated = self.next_change[states.last.astype(np.int64), np.arange(len(states))] <= now
        lasting: FloatArray = self.next_change[now].astype(np.float64)
        return np.where(outdated, lasting, lasting - 2.0 * len(self.next_change)).astype(np.float64)


class Greedy:
    """Knows what every page shows: the page with the most documents not found yet first, then the next; and so on.

    Ties: the lower row. The oracle of discovery; greedy, so not quite the best possible.
    """

    def choose(self, finder: "Finder", cycle: int, k: int) -> IntArray:
        """The k pages of this cycle."""
        at, page = finder.shown_unfound(cycle)
        taken: list[int] = []
        for _ in range(k):
            count = np.bincount(page, minlength=len(finder.begin) - 1)
            count[taken] = -1
            taken.append(int(count.argmax()))
            left = ~np.isin(finder.document[at], finder.document[at[page == taken[-1]]])
            at, page = at[left], page[left]
        return np.array(taken, dtype=np.int64)

    def scores(self, states: States) -> FloatArray:
        """Any order; simulations ask `choose` instead."""
        return states.t


def clock_of(log: ChangeLog) -> tuple[float, float]:
    """Cycles in a day, and how many of them were over when the log begins; unknown starts count as midnight."""
    day = 86_400.0 / log.cycle
    return day, 0.0 if np.isnan(log.start) else log.start / log.cycle % day


def downloads(pages: int, k: float) -> int:
    """How many pages a cycle visits: the share k of all, at least one."""
    return min(pages, max(1, round(k * pages)))


def simulate(
    log: ChangeLog, score: ScoreFunction, settings: RecrawlSettings = DEFAULTS, *, young: float = 24.0
) -> Curves:
    """Run the policy over the log; rows of the log are the fixed order that breaks ties."""
    pages, warmup, k = log.pages, min(settings.warmup, log.cycles), downloads(log.pages, settings.k)
    following = log.next_change()
    outdated_at = np.zeros(pages)
    history = history_for(score, pages, settings)
    finder = Finder(log.documents, pages, warmup) if log.documents is not None else None
    rows: list[tuple[float, float, float, float]] = []
    tops: list[list[float]] = []
    everything = np.arange(pages)
    day, phase = clock_of(log)
    hub, inlinks = (EMPTY if known is None else known.astype(np.float64) for known in (log.hub, log.inlinks))
    for cycle in range(log.cycles):
        if cycle < warmup:
            chosen = everything
        elif finder is not None and isinstance(score, Greedy):
            chosen = score.choose(finder, cycle, k)
        else:
            states = replace(history.states(float(cycle)), hub=hub, inlinks=inlinks, day=day, phase=phase)
            chosen = best(score.scores(states), states.last, k)
        changed = outdated_at[chosen] <= cycle
        outdated = int(np.count_nonzero(outdated_at <= cycle))
        brought = None if finder is None else finder.visit(chosen, cycle)
        history.note_all(chosen, float(cycle), changed, brought)
        outdated_at[chosen] = np.where(following[cycle, chosen] < log.cycles, following[cycle, chosen], np.inf)
        if cycle >= warmup:
            fresh, old = freshness(outdated_at, cycle), age(outdated_at, cycle)
            rows.append((change_rate(changed), ndcg(changed, outdated), fresh, old))
            tops.append([change_rate(changed[: max(1, k * part // 5)]) for part in range(1, 6)])
    table = np.array(rows).reshape(-1, 4)
    discovery = None if finder is None else finder.discovery(young)
    return Curves(table[:, 0], table[:, 1], table[:, 2], table[:, 3], np.array(tops).reshape(-1, 5), discovery)


def best(scores: FloatArray, last: FloatArray, k: int) -> IntArray:
    """The rows of the k highest scores, best first; ties: longer unvisited, then lower row. −inf is never taken."""
    k = min(k, int(np.count_nonzero(scores > -np.inf)))
    if k == 0:
        return np.empty(0, dtype=np.int64)
    threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
    candidates = np.flatnonzero(scores >= threshold)
    order = np.lexsort((last[candidates], -scores[candidates]))  # stable: lower rows first among equals
    return candidates[order[:k]]


class Finder:
    """Which documents the visits reveal: all that a page shows when it is visited."""

    def __init__(self, documents: Documents, pages: int, warmup: int) -> None:
        order = np.argsort(documents.page, kind="stable")
        self.document, self.first, self.last = documents.document[order], documents.first[order], documents.last[order]
        self.begin = np.searchsorted(documents.page[order], np.arange(pages + 1))
        count = int(documents.document.max(initial=-1)) + 1
        self.appeared = np.full(count, np.iinfo(np.int64).max)
        np.minimum.at(self.appeared, documents.document, documents.first)
        self.found = np.full(count, -1, dtype=np.int64)
        self.warmup = warmup

    def visit(self, pages: IntArray, cycle: int) -> IntArray:
        """Visit pages in this order; how many documents each was the first to reveal."""
        counts = self.begin[pages + 1] - self.begin[pages]
        entry = np.repeat(self.begin[pages] - np.cumsum(counts) + counts, counts) + np.arange(int(counts.sum()))
        shown = (self.first[entry] <= cycle) & (self.last[entry] >= cycle) & (self.found[self.document[entry]] < 0)
        documents, where = np.unique(self.document[entry[shown]], return_index=True)
        self.found[documents] = cycle
        visitor = np.repeat(np.arange(len(pages)), counts)[shown]
        return np.bincount(visitor[where], minlength=len(pages))

    def shown_unfound(self, cycle: int) -> tuple[IntArray, IntArray]:
        """What is shown in this cycle and was not found before: the places of the entries, and the page of each."""
        shown = (self.first <= cycle) & (self.last >= cycle) & (self.found[self.document] < 0)
        at = np.flatnonzero(shown)
        return at, np.searchsorted(self.begin, at, side="right") - 1

    def discovery(self, young: float) -> Discovery:
        counted = self.appeared >= self.warmup
        delays = (self.found - self.appeared)[counted & (self.found >= 0)].astype(np.float64)
        return Discovery(int(np.count_nonzero(counted)), delays[delays < young], young)
