"""Simulate recrawl cycles on a change log, page by page: the measure of every policy and the reference for faster ways.

Warm-up: every page is visited in the first cycles. Then in each cycle all pages are scored, the top k visited, and the
histories of those pages alone go on (GP4C, "Fitness"). Where documents appear on pages, it also tells which the visits
reveal, and how soon.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from forager.arrays import FloatArray, IntArray
from forager.measures import age, change_rate, discounts, freshness, ndcg
from forager.recrawl.change_log import ChangeLog, ShownDocuments
from forager.recrawl.document_watch import ESTIMATES, watch_of, watch_visit
from forager.recrawl.policies import ScoreFunction, history_for, reads_of, rhythm_of_score
from forager.recrawl.recrawl_settings import DEFAULTS, RecrawlSettings
from forager.recrawl.rhythm import Rhythm, passed
from forager.recrawl.terminals import EMPTY, WATCHED, PageStates, hour_of


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
    """ChangeRate and NDCG of the best 1/5, 2/5 … 5/5 of the schedule, `[cycle, figure, part]`."""
    discovery: Discovery | None = None
    by_page: FloatArray = field(default_factory=lambda: np.zeros((3, 0)))
    """What each page contributes to ChangeRate, NDCG and freshness, a row each; the mean over the pages is the figure."""


class Oracle:
    """Knows what changed: pages out of date first, among them those whose next copy will stay current longest."""

    def __init__(self, log: ChangeLog) -> None:
        self.next_change = log.next_change()

    def scores(self, states: PageStates) -> FloatArray:
        now = int(states.now)
        outdated = self.next_change[states.last.astype(np.int64), np.arange(len(states))] <= now
        lasting: FloatArray = self.next_change[now].astype(np.float64)
        return np.where(outdated, lasting, lasting - 2.0 * len(self.next_change)).astype(np.float64)


def clock_of(log: ChangeLog) -> tuple[float, float]:
    """Cycles in a day, and how many were over in its week when the log begins; unknown starts count as 0."""
    day = 86_400.0 / log.cycle
    return day, 0.0 if np.isnan(log.start) else log.start / log.cycle % (7.0 * day)


def clock_table(log: ChangeLog, rhythm: Rhythm) -> FloatArray:
    """For kernels, of every cycle: the hour of the day, and the busy time that has passed."""
    day, phase = clock_of(log)
    cycles = np.arange(float(log.cycles))
    hours = np.array([hour_of(cycle, day, phase) for cycle in range(log.cycles)])
    return np.array([hours, passed(rhythm, (cycles + phase) / (day / 24.0)) * (day / 24.0)])


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
    watched = not WATCHED.isdisjoint(reads_of(score))
    watch = watch_of(log, clock_table(log, rhythm_of_score(score))[1]) if watched else None
    finder = Finder(log.documents, pages, warmup) if log.documents is not None else None
    rows: list[tuple[float, float, float, float]] = []
    tops: list[list[list[float]]] = []
    contributed, discount = np.zeros((3, pages)), discounts(k)
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
            if watch is not None:
                news, hazard, elsewhere, length = watch.sums[:ESTIMATES]
                states = replace(states, news=news, hazard=hazard, elsewhere=elsewhere, length=length)
            chosen = best_pages(score.scores(states), states.last, k)
        changed = outdated_at[chosen] <= cycle
        outdated = int(np.count_nonzero(outdated_at <= cycle))
        brought = None if finder is None else finder.visit(chosen, cycle) * (cycle > 0)  # before, it is a backlog
        if watch is not None:
            for page, moved in zip(chosen.tolist(), changed.tolist(), strict=True):
                watch_visit(watch, page, cycle, moved)
        history.note_all(chosen, float(cycle), changed, brought)
        outdated_at[chosen] = np.where(following[cycle, chosen] < log.cycles, following[cycle, chosen], np.inf)
        if cycle >= warmup:
            fresh, old = freshness(outdated_at, cycle), age(outdated_at, cycle)
            rows.append((change_rate(changed), ndcg(changed, outdated), fresh, old))
            contributed[2] += outdated_at > cycle
            if len(chosen) and outdated:
                contributed[0, chosen] += changed / len(chosen)
                contributed[1, chosen] += (
                    changed * discount[: len(chosen)] / discount[: min(len(chosen), outdated)].sum()
                )
            parts = [changed[: max(1, k * part // 5)] for part in range(1, 6)]
            tops.append([[change_rate(part) for part in parts], [ndcg(part, outdated) for part in parts]])
    table = np.array(rows).reshape(-1, 4)
    contributed *= np.array([[pages], [pages], [1.0]]) / max(1, len(rows))
    discovery = None if finder is None else finder.discovery(young)
    top = np.array(tops).reshape(-1, 2, 5)
    return Curves(table[:, 0], table[:, 1], table[:, 2], table[:, 3], top, discovery, contributed)


def best_pages(scores: FloatArray, last: FloatArray, k: int) -> IntArray:
    """The rows of the k highest scores, best first; ties: longer unvisited, then lower row. −inf is never taken."""
    k = min(k, int(np.count_nonzero(scores > -np.inf)))
    if k == 0:
        return np.empty(0, dtype=np.int64)
    threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
    candidates = np.flatnonzero(scores >= threshold)
    order = np.lexsort((last[candidates], -scores[candidates]))  # stable: lower rows first among equals
    return candidates[order[:k]]
