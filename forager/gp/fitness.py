"""The fitness of a tree: simulates the crawl with it and measures the result (GP4C), in one process or several. The
results are the same, in the same order.

Trees that read what single pages have of their own, and all trees when documents are searched for, are simulated page
by page, compiled: the same crawl as `recrawl.simulate`, for logs small enough to score every page in every cycle. All
other trees are measured on groups of pages (see `grouped`).
"""

import multiprocessing
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from multiprocessing.pool import Pool

import numpy as np
from numba import njit
from numpy.typing import NDArray

from forager.arrays import FloatArray, IntArray
from forager.gp import machine
from forager.gp.evolve import Measurer
from forager.gp.gp_settings import OF_DOCUMENTS, GPSettings, Measure
from forager.gp.grouped import GroupedSimulation, reads_states_only
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
from forager.recrawl.poisson import likeliest_rate
from forager.recrawl.policies import Formula, ScoreFunction
from forager.recrawl.recrawl_settings import DEFAULTS, RecrawlSettings
from forager.recrawl.rhythm import Rhythm
from forager.recrawl.simulate import best_pages, clock_table, downloads, simulate
from forager.recrawl.terminals import ALL, BASIC, EXTENDED, TRAILED, WATCHED


@njit(cache=True)
def _note_update(length, times, kinds, span):  # type: ignore[no-untyped-def]
    """Adds an interval with an update; returns the number of different lengths."""
    for kind in range(kinds):
        if length[kind] == span:
            times[kind] += 1.0
            return kinds
    length[kinds], times[kinds] = span, 1.0
    return kinds + 1


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
    """Rows of ChangeRate, NDCG and freshness by cycle after the warm-up, and the cycle in which each document was
    found.
    """
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
            chosen = best_pages(score, table[LAST], k)
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
                different = kinds[page]
                table[RATE, page] = likeliest_rate(
                    length[page, :different], times[page, :different], quiet[page], table[RATE, page]
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
                    table[DOCUMENTS, page] += (
                        cycle > 0
                    )  # the first visit finds a backlog, which tells nothing of the pace
                entry[page] += 1
        if watched:
            table[NEWS : NEWS + ESTIMATES] = watch.sums[:ESTIMATES]
        if cycle >= warmup:
            best = ideal[min(k, outdated)]
            rows[cycle - warmup] = hits / k, gain / best if best else 0.0, 1.0 - (outdated - hits) / pages
    return rows, found


class PagewiseSimulation:
    """A change log prepared for trying many trees on it, one at a time, in one process."""

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


MOST_TRAILED = 4_000_000
"""Up to this many pages × cycles the terminals of HACS are offered: they take ten times as long as all others together;
ours.
"""
_ROW: dict[Measure, int] = {"changerate": 0, "ndcg": 1, "freshness": 2}


class Judge:
    """Measures trees on one log. It prepares the log when first used, so that it is cheap to send to other processes.

    `late` is the share by which visits shorten the summed delay of documents, where one that is never seen counts as
    `young`: 1 − late / young. If lists show documents, this equals `discovery`; otherwise every change of a page is a
    document, lost at the next change.
    """

    def __init__(self, log: ChangeLog, settings: GPSettings, rhythm: Rhythm = ()) -> None:
        self.log, self.settings, self.rhythm = log.with_texts() if settings.fitness == "late" else log, settings, rhythm
        self._others = [Judge(self.log, replace(settings, k=k, more_k=()), rhythm) for k in settings.more_k]
        self._grouped: GroupedSimulation | None = None
        self._pagewise: PagewiseSimulation | None = None

    def by_page(self, score: Tree | ScoreFunction, recrawl: RecrawlSettings = DEFAULTS) -> FloatArray:
        """What each page contributes to the fitness of a tree, or of any rule; the mean of these is the fitness.

        `recrawl` says how the histories are kept that the rule reads.
        """
        own = self._by_page(score, recrawl)
        return np.asarray(np.mean([own, *(other.by_page(score, recrawl) for other in self._others)], axis=0))

    def _by_page(self, score: Tree | ScoreFunction, recrawl: RecrawlSettings) -> FloatArray:
        wanted, young = replace(recrawl, k=self.settings.k, warmup=self.settings.warmup), self.settings.young
        rule = Formula.of(score, self.rhythm) if isinstance(score, tuple) else score
        curves = simulate(self.log, rule, wanted, young=young)
        if self.settings.fitness not in OF_DOCUMENTS:
            return np.asarray(curves.by_page[_ROW[self.settings.fitness]])
        return np.zeros(self.log.pages) if curves.discovery is None else curves.discovery.by_page

    def __call__(self, tree: Tree) -> float:
        """The fitness of a tree; higher is better."""
        return float(np.mean([self._fitness(tree), *(other(tree) for other in self._others)]))

    def _fitness(self, tree: Tree) -> float:
        measure, settings = self.settings.fitness, self.settings
        if measure in OF_DOCUMENTS or not reads_states_only(terminals_of(tree)):
            self._pagewise = self._pagewise or PagewiseSimulation(self.log, settings.k, settings.warmup, self.rhythm)
            if measure in OF_DOCUMENTS:
                return self._pagewise.worth(tree, settings.young)
            rows, _ = self._pagewise.run(tree)
            return float(rows[:, _ROW[measure]].mean()) if len(rows) else 0.0
        self._grouped = self._grouped or GroupedSimulation(self.log, settings.k, settings.warmup, self.rhythm)
        fitness = self._grouped.fitness(tree)
        return {"changerate": fitness.change_rate, "ndcg": fitness.ndcg, "freshness": fitness.freshness}[measure]


def terminal_set(settings: GPSettings, log: ChangeLog, rhythm: Rhythm = ()) -> tuple[str, ...]:
    """The terminals that trees may read on this log: those of the requested set that can be computed in reasonable
    time.
    """
    names = {"basic": BASIC, "all": ALL, "extended": EXTENDED}[settings.terminals]
    told = {
        "docs": log.documents is not None,
        "pace": log.documents is not None,
        "hour": log.cycle < 86_400.0,
        "busy": len(rhythm) > 0,
        **dict.fromkeys(TRAILED, log.pages * log.cycles <= MOST_TRAILED),
        **dict.fromkeys(("elsewhere", "len"), log.documents is not None and (log.hub is None or bool(log.hub.any()))),
        "hub": log.hub is not None and len(np.unique(log.hub)) > 1,
        "inlinks": log.inlinks is not None and len(np.unique(log.inlinks)) > 1,
    }
    return tuple(name for name in names if told.get(name, True))


_judges: dict[str, Judge] = {}
"""What a worker process was given when it started; empty in the main process."""


def _begin(judges: dict[str, Judge]) -> None:
    _judges.update(judges)


def _measure(task: tuple[str, Tree]) -> float:
    name, tree = task
    return _judges[name](tree)


@contextmanager
def measurers(judges: dict[str, Judge], processes: int) -> Iterator[dict[str, Measurer]]:
    """A measurer for each judge, by name; with one process, measures in this process."""
    if processes <= 1:
        yield {name: partial(_measure_here, judge) for name, judge in judges.items()}
        return
    with _deaf_to_ctrl_c():
        workers = multiprocessing.get_context("spawn").Pool(processes, _begin, (judges,))
    with workers as pool:
        yield {name: partial(_measure_there, pool, name) for name in judges}


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Lets processes that are started meanwhile ignore Ctrl-C, even while they load; this process handles it and ends
    them.
    """
    heard = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, heard)


def _measure_here(judge: Judge, trees: Sequence[Tree]) -> list[float]:
    return [judge(tree) for tree in trees]


def _measure_there(pool: Pool, name: str, trees: Sequence[Tree]) -> list[float]:
    return pool.map(_measure, [(name, tree) for tree in trees], chunksize=4)
