"""Simulate the crawl on states, not pages: pages with the same history and the same last visit have the same score.

A tree is evaluated once per distinct state; whole groups of pages are downloaded until k is filled; only downloaded
pages move. A state holds the last visit and the running sums that the tree reads, nothing else. The result equals that
of `recrawl.simulate` exactly.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forager.measures.ranking import discounts
from forager.recrawl.expression import compiled
from forager.recrawl.gp import kernel
from forager.recrawl.gp.tree import Tree, terminals_of
from forager.recrawl.history import History
from forager.recrawl.log import ChangeLog
from forager.recrawl.simulate import downloads
from forager.recrawl.states import States

FloatArray = NDArray[np.float64]
Fields = tuple[int, ...]

_READS: dict[str, Fields] = {
    "n": (kernel.N,),
    "X": (kernel.X,),
    "t": (),
    "cg": (kernel.N, kernel.X),
    "nad": (kernel.N, kernel.X),
    "sad": (kernel.RECENT,),
    "aad": (kernel.N, kernel.RANKED),
    "gad": (kernel.N, kernel.HALVED),
    "T": (),
    "lam": (kernel.X,),
    "azar": (kernel.X,),
    "gain": (kernel.X,),
    "since": (kernel.LAST_CHANGE,),
    "hour": (),
}
"""Which running sums a terminal needs besides the last visit; terminals not named here need the page itself."""


def reads_states_only(terminals: frozenset[str]) -> bool:
    """Whether a tree with these terminals can be simulated on groups."""
    return all(name in _READS for name in terminals)


def packed(changed: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """The change log with 64 cycles in a word: `[w, page]` has bit b set if the page changes in cycle 64·w + b."""
    pages, cycles = changed.shape
    words = np.zeros((max(1, -(-cycles // 64)), pages), dtype=np.uint64)
    for cycle in range(cycles):
        words[cycle // 64] |= changed[:, cycle].astype(np.uint64) << np.uint64(cycle % 64)
    return words


def patterns(changed: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A number for each page such that pages with equal rows have equal numbers, and one page for each number."""
    number = np.zeros(len(changed), dtype=np.int64)
    examples = np.zeros(min(1, len(changed)), dtype=np.int64)
    for word in packed(changed):
        distinct, place = np.unique(word, return_inverse=True)
        _, examples, number = np.unique(number * len(distinct) + place, return_index=True, return_inverse=True)
    return number, examples


@dataclass(frozen=True, slots=True)
class Fitness:
    """Means over the cycles after the warm-up."""

    change_rate: float
    ndcg: float
    freshness: float


class GroupedSimulation:
    """A change log made ready to try many trees on; one at a time, in one process."""

    def __init__(self, log: ChangeLog, k: float, warmup: int) -> None:
        self.pages, self.cycles = log.pages, log.cycles
        self.warmup, self.k = min(warmup, log.cycles), downloads(log.pages, k)
        self.history = packed(log.changed)
        self.discount = discounts(self.k)
        self.ideal = np.concatenate([[0.0], np.cumsum(self.discount)])
        history = History(self.pages)
        for cycle in range(self.warmup):
            history.note_all(np.arange(self.pages), float(cycle), log.changed[:, cycle])
        coming = log.changed[:, self.warmup :]
        first: NDArray[np.int64] | list[int] = (
            np.where(coming.any(axis=1), coming.argmax(axis=1) + self.warmup, self.cycles) if coming.size else []
        )
        self._expiring = np.bincount(np.asarray(first, dtype=np.int64), minlength=self.cycles + 1)
        states = history.states(float(self.warmup))
        self._pattern, examples = patterns(log.changed[:, 1 : self.warmup])
        columns = (states.n, states.X, states.recent, states.ranked, states.halved, states.last_change)
        self._start = np.array([column[examples] for column in columns])
        self._groups: dict[Fields, tuple[FloatArray, NDArray[np.int64], NDArray[np.int32]]] = {}
        room = self.pages + self.k
        self._arena = np.empty(self.pages + self.k * max(0, self.cycles - self.warmup), dtype=np.int32)
        self._sums, self._first, self._last = np.empty((6, room)), np.zeros(room), np.empty(room)
        self._begin, self._end = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
        self._run_group, self._run_from, self._run_size = (np.empty(self.k, dtype=np.int64) for _ in range(3))
        self._flags = np.empty(self.k, dtype=np.uint8)
        self._heirs, self._home = np.empty(2 * room, dtype=np.int32), np.empty(self.pages, dtype=np.int32)
        self._table = np.empty(1 << (2 * self.k).bit_length(), dtype=np.int64)
        self._marks = np.zeros((self.pages + 63) // 64, dtype=np.uint64)

    def fitness(self, tree: Tree) -> Fitness:
        """How the crawl goes with this score function."""
        rates, gains, fresh = self.curves(tree)
        if not len(rates):
            return Fitness(0.0, 0.0, 0.0)
        return Fitness(float(rates.mean()), float(gains.mean()), float(fresh.mean()))

    def curves(self, tree: Tree) -> tuple[FloatArray, FloatArray, FloatArray]:
        """ChangeRate, NDCG and freshness of every cycle after the warm-up."""
        expression = compiled(tree)
        fields = tuple(sorted({field for name in terminals_of(tree) for field in _READS[name]}))
        codes, sums = np.array(fields, dtype=np.int64), self._sums[: len(fields)]
        groups = self._open(fields)
        used = self.pages
        expiring = self._expiring.copy()
        outdated = 0
        self._table[:] = -1
        rows = np.empty((max(0, self.cycles - self.warmup), 3))
        for cycle in range(self.warmup, self.cycles):
            outdated += int(expiring[cycle])
            ideal = self.ideal[min(self.k, outdated)]
            score = expression.scores(self._states(float(cycle), fields, groups))
            groups, used, filled, hits, gain, outdated = kernel.advance(
                cycle,
                self.k,
                np.argsort(score),
                score,
                groups,
                used,
                outdated,
                codes,
                sums,
                sums.view(np.uint64),
                self._last,
                self._begin,
                self._end,
                self._arena,
                self._run_group,
                self._run_from,
                self._run_size,
                self.cycles,
                self.history,
                expiring,
                self.discount,
                self._heirs,
                self._flags,
                self._table,
                self._marks,
                self._home,
            )
            rows[cycle - self.warmup] = hits / filled, gain / ideal if ideal else 0.0, 1.0 - outdated / self.pages
        return rows[:, 0], rows[:, 1], rows[:, 2]

    def _open(self, fields: Fields) -> int:
        """Put the pages into groups by their state after the warm-up; the number of groups."""
        if fields not in self._groups:
            distinct, group_of = np.unique(self._start[list(fields)], axis=1, return_inverse=True)
            group = group_of.reshape(-1)[self._pattern] if fields else np.zeros(self.pages, dtype=np.int64)
            arena = np.argsort(group, kind="stable").astype(np.int32)
            bounds = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=1))])
            self._groups[fields] = distinct[:, : len(bounds) - 1], bounds, arena
        distinct, bounds, arena = self._groups[fields]
        count = len(bounds) - 1
        self._arena[: self.pages] = arena
        self._sums[: len(fields), :count] = distinct
        self._last[:count] = self.warmup - 1.0
        self._begin[:count], self._end[:count] = bounds[:-1], bounds[1:]
        return count

    def _states(self, now: float, fields: Fields, groups: int) -> States:
        columns = {field: self._sums[row, :groups] for row, field in enumerate(fields)}
        none = np.empty(0)
        return States(
            now=now,
            last=self._last[:groups],
            first=self._first[:groups],
            n=columns.get(kernel.N, none),
            X=columns.get(kernel.X, none),
            recent=columns.get(kernel.RECENT, none),
            ranked=columns.get(kernel.RANKED, none),
            halved=columns.get(kernel.HALVED, none),
            last_change=columns.get(kernel.LAST_CHANGE, none),
        )
