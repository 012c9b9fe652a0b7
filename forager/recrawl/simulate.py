"""Simulates recrawl cycles on a change log, page by page: the measure of every policy, and the reference for faster
simulations.

Warm-up: every page is visited in each of the first cycles. Then in each cycle all pages are scored, the top k are
visited, and only the histories of those pages go on (GP4C, "Fitness"). If documents appear on pages, the simulation
also tells which of them the visits reveal, and how soon.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from forager.arrays import FloatArray, IntArray
from forager.kernel import compiled
from forager.measures import age, change_rate, discounts, freshness, ndcg
from forager.recrawl.change_log import ChangeLog, ShownDocuments
from forager.recrawl.document_watch import ESTIMATES, Watch, unfound, visit_all, watch_of
from forager.recrawl.policies import ScoreFunction, history_for, reads_of, rhythm_of_score
from forager.recrawl.recrawl_settings import DEFAULTS, RecrawlSettings
from forager.recrawl.rhythm import Rhythm, passed
from forager.recrawl.terminals import EMPTY, WATCHED, PageStates, hour_of


@dataclass(frozen=True, slots=True)
class Discovery:
    """Documents that appeared after the warm-up, and how soon they were found."""

    documents: int
    delays: FloatArray
    """For those found while young: cycles from the first possible sighting to the visit."""
    young: float
    """Cycles after which a document is no news any more."""
    by_page: FloatArray = field(default_factory=lambda: np.empty(0))
    """What each page contributes to `worth` by the documents that it is the first to show; the mean of these is
    `worth`.
    """

    @property
    def coverage(self) -> float:
        return len(self.delays) / self.documents if self.documents else 0.0

    @property
    def delay_mean(self) -> float:
        """nan if none was found, like the median."""
        return float(self.delays.mean()) if len(self.delays) else np.nan

    @property
    def delay_median(self) -> float:
        return float(np.median(self.delays)) if len(self.delays) else np.nan

    @property
    def worth(self) -> float:
        """Documents found, each discounted linearly by its delay, as a share of all: the discovery fitness."""
        return float((1.0 - self.delays / self.young).sum()) / self.documents if self.documents else 0.0


def discovery_of(documents: ShownDocuments, watch: Watch, warmup: int, young: float) -> Discovery:
    """What the visits so far revealed of the documents that appeared after the warm-up."""
    pages, appeared = len(watch.visited), documents.appeared()
    counted = appeared >= warmup
    count = int(np.count_nonzero(counted))
    delay = np.where(counted & (watch.found >= 0), watch.found - appeared, np.inf)
    order = np.lexsort((documents.page, documents.first, documents.document))
    shown_first_by = documents.page[order[np.unique(documents.document[order], return_index=True)[1]]]
    worth = np.bincount(shown_first_by, np.maximum(0.0, 1.0 - delay / young), pages)
    return Discovery(count, delay[delay < young], young, worth.astype(np.float64) * (pages / max(1, count)))


class Greedy:
    """Knows what every page shows: takes the page with the most documents not found yet, then the next, and so on.

    Ties go to the lower row. This is the oracle of discovery; being greedy, it is not quite the best possible.
    """

    def choose(self, watch: Watch, cycle: int, k: int) -> IntArray:
        """The k pages of this cycle."""
        at, page = unfound(watch, cycle)
        taken: list[int] = []
        for _ in range(k):
            count = np.bincount(page, minlength=len(watch.visited))
            count[taken] = -1
            taken.append(int(count.argmax()))
            left = ~np.isin(watch.document[at], watch.document[at[page == taken[-1]]])
            at, page = at[left], page[left]
        return np.array(taken, dtype=np.int64)

    def scores(self, states: PageStates) -> FloatArray:
        """Any order; simulations call `choose` instead."""
        return states.t


@dataclass(frozen=True, slots=True)
class Curves:
    """What a policy achieved, cycle by cycle after the warm-up."""

    change_rate: FloatArray
    ndcg: FloatArray
    freshness: FloatArray
    """Share of copies that are current after the cycle's visits."""
    age: FloatArray
    """Mean number of cycles since the copies went out of date, after the visits."""
    top: FloatArray
    """ChangeRate and NDCG of the best 1/5, 2/5 … 5/5 of the schedule, `[cycle, figure, part]`."""
    discovery: Discovery | None = None
    by_page: FloatArray = field(default_factory=lambda: np.zeros((3, 0)))
    """What each page contributes to ChangeRate, NDCG and freshness, a row each; the mean over the pages is the figure."""


class Oracle:
    """Knows what changed: pages out of date come first, and among them those whose next copy will stay current longest."""

    def __init__(self, log: ChangeLog) -> None:
        self.next_change = log.next_change()

    def scores(self, states: PageStates) -> FloatArray:
        now = int(states.now)
        outdated = self.next_change[states.last.astype(np.int64), np.arange(len(states))] <= now
        lasting: FloatArray = self.next_change[now].astype(np.float64)
        return np.where(outdated, lasting, lasting - 2.0 * len(self.next_change)).astype(np.float64)


def clock_of(log: ChangeLog) -> tuple[float, float]:
    """Cycles in a day, and how many had passed in its week when the log begins; 0 if its start is unknown."""
    day = 86_400.0 / log.cycle
    return day, 0.0 if np.isnan(log.start) else log.start / log.cycle % (7.0 * day)


def clock_table(log: ChangeLog, rhythm: Rhythm) -> FloatArray:
    """For kernels, for every cycle: the hour of the day, and the busy time that has passed."""
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
    """Runs the policy over the log; the rows of the log are the fixed order that breaks ties."""
    pages, warmup, k = log.pages, min(settings.warmup, log.cycles), downloads(log.pages, settings.k)
    following = log.next_change()
    outdated_at = np.zeros(pages)
    history = history_for(score, pages, settings)
    watched = not WATCHED.isdisjoint(reads_of(score))
    documents, watch = log.documents, None
    if watched or documents is not None:
        watch = watch_of(log, clock_table(log, rhythm_of_score(score))[1], lengths=watched)
    rows: list[tuple[float, float, float, float]] = []
    tops: list[list[list[float]]] = []
    contributed, discount = np.zeros((3, pages)), discounts(k)
    everything = np.arange(pages)
    day, phase = clock_of(log)
    hub, inlinks = (EMPTY if known is None else known.astype(np.float64) for known in (log.hub, log.inlinks))
    for cycle in range(log.cycles):
        if cycle < warmup:
            chosen = everything
        elif watch is not None and isinstance(score, Greedy):
            chosen = score.choose(watch, cycle, k)
        else:
            states = replace(history.states(float(cycle)), hub=hub, inlinks=inlinks, day=day, phase=phase)
            if watch is not None and watched:
                news, hazard, elsewhere, length = watch.sums[:ESTIMATES]
                states = replace(states, news=news, hazard=hazard, elsewhere=elsewhere, length=length)
            chosen = best_pages(score.scores(states), states.last, k)
        changed = outdated_at[chosen] <= cycle
        outdated = int(np.count_nonzero(outdated_at <= cycle))
        brought = None if watch is None else visit_all(watch, chosen, cycle, changed) * (cycle > 0)  # first a backlog
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
    discovery = None if watch is None or documents is None else discovery_of(documents, watch, warmup, young)
    top = np.array(tops).reshape(-1, 2, 5)
    return Curves(table[:, 0], table[:, 1], table[:, 2], table[:, 3], top, discovery, contributed)


@compiled
def best_pages(scores: FloatArray, last: FloatArray, k: int) -> IntArray:
    """The rows of the k highest scores, best first. Ties go to the page unvisited longest, then to the lower row. −inf
    is never taken.
    """
    k = min(k, len(scores))
    if k == 0:
        return np.empty(0, dtype=np.int64)
    threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
    rows = np.flatnonzero(scores >= threshold)
    rows = rows[np.argsort(last[rows], kind="mergesort")]
    rows = rows[np.argsort(-scores[rows], kind="mergesort")][:k]
    return rows[scores[rows] > -np.inf]
