"""The simulated crawl page by page, compiled: for trees that read what is a page's own, and for the finding of documents.

The same crawl as `recrawl.simulate`, for logs small enough to score every page in every cycle.
"""

from math import expm1, log

import numpy as np
from numba import njit
from numpy.typing import NDArray

from forager.arrays import FloatArray, IntArray
from forager.gp import machine
from forager.gp.machine import (
    DOCUMENTS,
    HALVED,
    HUB,
    INLINKS,
    LAST,
    LAST_CHANGE,
    NEWS,
    RANKED,
    RATE,
    RECENT,
    UPDATE,
    N,
    X,
    evaluate,
)
from forager.gp.trees import Tree, terminals_of
from forager.kernel import compiled
from forager.measures import discounts
from forager.recrawl.change_log import ChangeLog
from forager.recrawl.document_watch import ESTIMATES, Watch, watch_of, watch_visit
from forager.recrawl.rhythm import Rhythm
from forager.recrawl.simulate import clock_table, downloads
from forager.recrawl.terminals import TRAILED, WATCHED

_NEWTON_STEPS = 60
_NEARLY = 1e-8
"""A step of Newton's method, as a share of λ, after which no digit is wrong: the error shrinks by squaring."""


@njit(cache=True, error_model="numpy")
def _likeliest_rate(length, times, kinds, quiet, before):  # type: ignore[no-untyped-def]
    """λ of one page, as `poisson.likeliest_rates` finds it, by Newton's method from what it was `before`.

    Its updates were seen in `kinds` different lengths of intervals, each so many `times`; `quiet` is the time without.
    """
    updates, busy = 0.0, 0.0
    for kind in range(kinds):
        updates, busy = updates + times[kind], busy + times[kind] * length[kind]
    if not updates or (quiet <= 0.0 and busy <= 0.0):
        return 0.0
    if quiet <= 0.0:
        return -log(0.5 / (updates + 0.5)) * updates / busy
    least = updates / (quiet + busy / 2.0)  # never above the solution; from there on it is reached from below
    rate = max(before, least)
    for _ in range(_NEWTON_STEPS):
        surplus, slope = -quiet, 0.0
        for kind in range(kinds):
            if length[kind] > 0.0:
                term = length[kind] / expm1(min(rate * length[kind], 700.0))
                surplus += times[kind] * term
                slope += times[kind] * term * (length[kind] + term)
        step = surplus / max(slope, 1e-300)
        rate = max(rate + step, least)
        if abs(step) <= _NEARLY * rate:
            break
    return rate


@njit(cache=True)
def _note_update(length, times, kinds, span):  # type: ignore[no-untyped-def]
    """Enter an interval with an update; how many different lengths there are then."""
    for kind in range(kinds):
        if length[kind] == span:
            times[kind] += 1.0
            return kinds
    length[kinds], times[kinds] = span, 1.0
    return kinds + 1


@njit(cache=True)
def _best(score, last, k):  # type: ignore[no-untyped-def]
    """The k highest scores, best first; ties: longer unvisited, then lower row."""
    threshold = np.partition(score, len(score) - k)[len(score) - k]
    rows = np.flatnonzero(score >= threshold)
    rows = rows[np.argsort(last[rows], kind="mergesort")]
    return rows[np.argsort(-score[rows], kind="mergesort")][:k]


@compiled
def _simulate(
    program: tuple[IntArray, IntArray, IntArray, FloatArray],
    warmup: int,
    k: int,
    clock: FloatArray,
    following: NDArray[np.uint16],
    discount: FloatArray,
    ideal: FloatArray,
    table: FloatArray,
    rated: bool,
    watched: bool,
    watch: Watch,
) -> tuple[FloatArray, IntArray]:
    """Rows of ChangeRate, NDCG and freshness by cycle after the warm-up, and the cycle in which each document was found."""
    code, left, right, number = program
    begin, document, first, last, found = watch.begin, watch.document, watch.first, watch.last, watch.found
    cycles, pages = following.shape
    entry = watch.entry
    outdated_at = np.zeros(pages, dtype=np.int64)
    length, times = np.empty((2, pages if rated else 0, cycles))
    kinds, quiet, since = np.zeros(pages, dtype=np.int64), np.zeros(pages), np.zeros(pages)
    score = np.empty(pages)
    rows = np.empty((max(0, cycles - warmup), 3))
    for cycle in range(cycles):
        outdated = 0
        for one in range(pages):
            if outdated_at[one] <= cycle:
                outdated += 1
        if cycle < warmup:
            chosen = np.arange(pages)
        else:
            evaluate(code, left, right, number, pages, float(cycle), watch.hours, clock, table, table[LAST], score)
            chosen = _best(score, table[LAST], k)
        hits, gain = 0, 0.0
        for rank, page in enumerate(chosen):
            changed = outdated_at[page] <= cycle and cycle > 0
            hits += changed
            if changed and cycle >= warmup:
                gain += discount[rank]
            if rated and cycle > 0:
                end = (table[LAST, page] + cycle) / 2.0 if changed else float(cycle)
                if changed:
                    kinds[page] = _note_update(length[page], times[page], kinds[page], end - since[page])
                    table[UPDATE, page] = end
                else:
                    quiet[page] += end - since[page]
                since[page] = end
                table[RATE, page] = _likeliest_rate(
                    length[page], times[page], kinds[page], quiet[page], table[RATE, page]
                )
            table[N, page] += 1.0
            table[X, page] += changed
            table[RECENT, page] = changed
            table[RANKED, page] += table[N, page] * changed
            table[HALVED, page] = (table[HALVED, page] + changed) / 2.0
            table[LAST, page] = cycle
            if changed:
                table[LAST_CHANGE, page] = cycle
            outdated_at[page] = following[cycle, page] if following[cycle, page] < cycles else cycles + 1
            if watched:
                table[DOCUMENTS, page] += watch_visit(watch, int(page), cycle, changed) * (cycle > 0)
                continue
            while entry[page] < begin[page + 1] and first[entry[page]] <= cycle:
                at = entry[page]
                if last[at] >= cycle and found[document[at]] < 0:
                    found[document[at]] = cycle
                    table[DOCUMENTS, page] += cycle > 0  # the first visit finds a backlog, which tells no pace
                entry[page] += 1
        if watched:
            table[NEWS : NEWS + ESTIMATES] = watch.sums[:ESTIMATES]
        if cycle >= warmup:
            best = ideal[min(k, outdated)]
            rows[cycle - warmup] = hits / k, gain / best if best else 0.0, 1.0 - (outdated - hits) / pages
    return rows, found


class PagewiseSimulation:
    """A change log made ready to try many trees on; one at a time, in one process."""

    def __init__(self, world: ChangeLog, k: float, warmup: int, rhythm: Rhythm = ()) -> None:
        self.pages, self.warmup, self.k = world.pages, min(warmup, world.cycles), downloads(world.pages, k)
        self._following = world.next_change()
        self._discount = discounts(self.k)
        self._ideal = np.concatenate([[0.0], np.cumsum(self._discount)])
        self._clock = clock_table(world, rhythm)
        self._table = np.zeros((len(machine.FIELDS), self.pages))
        for row, known in ((HUB, world.hub), (INLINKS, world.inlinks)):
            self._table[row] = 0.0 if known is None else known
        self._watch = watch_of(world, self._clock[1])
        self._appeared = np.empty(0, np.int64) if world.documents is None else world.documents.appeared()

    def run(self, tree: Tree) -> tuple[FloatArray, IntArray]:
        """Rows of ChangeRate, NDCG and freshness by cycle, and the cycle in which each document was found (−1: never)."""
        steps, names, watch = machine.program(tree), terminals_of(tree), self._watch
        changing = ("entry", "before", "found", "home", "visited", "sums", "everywhere")
        rows, found = _simulate(
            (steps.code, steps.left, steps.right, steps.number),
            self.warmup,
            self.k,
            self._clock,
            self._following,
            self._discount,
            self._ideal,
            self._table.copy(),
            not names.isdisjoint(TRAILED),
            not names.isdisjoint(WATCHED),
            watch._replace(**{name: getattr(watch, name).copy() for name in changing}),
        )
        return rows, found

    def worth(self, tree: Tree, young: float) -> float:
        """Documents found, each discounted linearly by its delay, as a share of all: the discovery fitness."""
        found = self.run(tree)[1]
        counted = self._appeared >= self.warmup
        delay = (found - self._appeared)[counted & (found >= 0)]
        return float((1.0 - delay[delay < young] / young).sum() / max(1, np.count_nonzero(counted)))
