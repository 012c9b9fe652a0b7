"""The fitness of a tree: simulate the crawl with it and measure (GP4C), in one process or in several; the results are
the same, in the same order."""

import multiprocessing
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from forager.arrays import FloatArray
from forager.gp.evolve import Measurer
from forager.gp.gp_settings import OF_DOCUMENTS, GPSettings, Measure
from forager.gp.grouped import GroupedSimulation, reads_states_only
from forager.gp.pagewise import PagewiseSimulation
from forager.gp.trees import Tree, terminals_of
from forager.recrawl.change_log import ChangeLog
from forager.recrawl.policies import Formula, ScoreFunction
from forager.recrawl.recrawl_settings import DEFAULTS, RecrawlSettings
from forager.recrawl.rhythm import Rhythm
from forager.recrawl.simulate import simulate
from forager.recrawl.terminals import ALL, BASIC, EXTENDED, TRAILED

MOST_TRAILED = 4_000_000
"""Pages × cycles up to which HACS' terminals are offered: they take ten times as long as all others together; ours."""
_ROW: dict[Measure, int] = {"changerate": 0, "ndcg": 1, "freshness": 2}


class Judge:
    """Measures trees on one log. Made ready at the first question, so it travels cheaply to other processes.

    `late` is the share by which visits shorten the summed delay of documents, one never seen counting as `young`: 1 − late /
    young. Where lists show documents, that is the same number as `discovery`; where they do not, every change of a page is a
    document, lost at the next one.
    """

    def __init__(self, log: ChangeLog, settings: GPSettings, rhythm: Rhythm = ()) -> None:
        self.log, self.settings, self.rhythm = log.with_texts() if settings.fitness == "late" else log, settings, rhythm
        self._others = [Judge(self.log, replace(settings, k=k, more_k=()), rhythm) for k in settings.more_k]
        self._grouped: GroupedSimulation | None = None
        self._pagewise: PagewiseSimulation | None = None

    def by_page(self, score: Tree | ScoreFunction, recrawl: RecrawlSettings = DEFAULTS) -> FloatArray:
        """What each page contributes to the fitness of a tree, or of any rule; their mean is the fitness.

        `recrawl` tells how histories are kept that the rule reads.
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
    """The terminals trees may read on this log: of the set that was asked for, those that can be told in reasonable time."""
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
    """A measurer for each judge, by name; with one process, measured right here."""
    if processes <= 1:
        yield {name: _measurer_here(judge) for name, judge in judges.items()}
        return
    with _deaf_to_ctrl_c():
        workers = multiprocessing.get_context("spawn").Pool(processes, _begin, (judges,))
    with workers as pool:

        def measurer(name: str) -> Measurer:
            def measure(trees: Sequence[Tree]) -> list[float]:
                return pool.map(_measure, [(name, tree) for tree in trees], chunksize=4)

            return measure

        yield {name: measurer(name) for name in judges}


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Processes started meanwhile never hear Ctrl-C, not even while they load: it is for this one, which ends them."""
    heard = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, heard)


def _measurer_here(judge: Judge) -> Measurer:
    def measure(trees: Sequence[Tree]) -> list[float]:
        return [judge(tree) for tree in trees]

    return measure
