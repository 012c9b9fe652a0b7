"""Simulate recrawl cycles on a change log, page by page: the measure of every policy and the reference for faster ways.

Warm-up: every page is visited in the first cycles. Then in each cycle all pages are scored, the top k visited, and the
histories of those pages alone go on (GP4C, "Fitness").
"""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from forager.measures import age, change_rate, discounts, freshness, ndcg
from forager.recrawl.change_log import ChangeLog
from forager.recrawl.discovery import Discovery, Finder, Greedy
from forager.recrawl.policies import ScoreFunction, history_for
from forager.recrawl.recrawl_settings import DEFAULTS, RecrawlSettings
from forager.recrawl.rhythm import Rhythm, passed
from forager.recrawl.terminals import EMPTY, PageStates, hour_of

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
    finder = Finder(log.documents, pages, warmup) if log.documents is not None else None
    rows: list[tuple[float, float, float, float]] = []
    tops: list[list[float]] = []
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
            chosen = best_pages(score.scores(states), states.last, k)
        changed = outdated_at[chosen] <= cycle
        outdated = int(np.count_nonzero(outdated_at <= cycle))
        brought = None if finder is None else finder.visit(chosen, cycle) * (cycle > 0)  # before, it is a backlog
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
            tops.append([change_rate(changed[: max(1, k * part // 5)]) for part in range(1, 6)])
    table = np.array(rows).reshape(-1, 4)
    contributed *= np.array([[pages], [pages], [1.0]]) / max(1, len(rows))
    discovery = None if finder is None else finder.discovery(young)
    top = np.array(tops).reshape(-1, 5)
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
