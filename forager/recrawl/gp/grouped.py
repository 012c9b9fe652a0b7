"""Simulate the crawl on states, not pages: pages with the same history and the same last visit have the same score.

A tree is evaluated once per distinct state; whole groups of pages are downloaded until k is filled; only downloaded
pages move. A state holds the last visit and the running sums that the tree reads, nothing else. The result equals that
of `recrawl.simulate`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forager.measures.ranking import discounts
from forager.recrawl.gp import kernel, machine
from forager.recrawl.gp.tree import Tree, terminals_of
from forager.recrawl.history import History
from forager.recrawl.log import ChangeLog
from forager.recrawl.patterns import packed, patterns
from forager.recrawl.rhythm import Rhythm
from forager.recrawl.simulate import clock_table, downloads

FloatArray = NDArray[np.float64]
Fields = tuple[int, ...]


def reads_states_only(terminals: frozenset[str]) -> bool:
    """Whether a tree with these terminals can be simulated on groups."""
    return all(field < len(machine.STATE) for name in terminals for field in machine.READS[name])


@dataclass(frozen=True, slots=True)
class Fitness:
    """Means over the cycles after the warm-up."""

    change_rate: float
    ndcg: float
    freshness: float


class GroupedSimulation:
    """A change log made ready to try many trees on; one at a time, in one process."""

    def __init__(self, log: ChangeLog, k: float, warmup: int, rhythm: Rhythm = ()) -> None:
        self.pages, self.cycles = log.pages, log.cycles
        self.warmup, self.k = min(warmup, log.cycles), downloads(log.pages, k)
        self._history = packed(log.changed)
        self._discount = discounts(self.k)
        self._ideal = np.concatenate([[0.0], np.cumsum(self._discount)])
        self._clock = clock_table(log, rhythm)
        coming = log.changed[:, self.warmup :]
        first: NDArray[np.int64] | list[int] = (
            np.where(coming.any(axis=1), coming.argmax(axis=1) + self.warmup, 64 * len(self._history))
            if coming.size
            else []
        )
        self._expiring = np.bincount(np.asarray(first, dtype=np.int64), minlength=64 * len(self._history) + 1)
        self._begin_with(log)
        self._groups: dict[Fields, tuple[FloatArray, NDArray[np.int64], NDArray[np.uint32]]] = {}
        self._make_room()

    def _begin_with(self, log: ChangeLog) -> None:
        """The columns after the warm-up, one for each kind of page that can be told apart by then."""
        history = History(self.pages)
        for cycle in range(self.warmup):
            history.note_all(np.arange(self.pages), float(cycle), log.changed[:, cycle])
        states = history.states(float(self.warmup))
        columns = {
            machine.N: states.n,
            machine.X: states.X,
            machine.RECENT: states.recent,
            machine.RANKED: states.ranked,
            machine.HALVED: states.halved,
            machine.LAST_CHANGE: states.last_change,
            machine.HUB: np.zeros(self.pages) if log.hub is None else log.hub.astype(np.float64),
            machine.INLINKS: np.zeros(self.pages) if log.inlinks is None else log.inlinks.astype(np.float64),
        }
        number, _ = patterns(log.changed[:, 1 : self.warmup])
        for fixed in (columns[machine.HUB], columns[machine.INLINKS]):
            values, place = np.unique(fixed, return_inverse=True)
            number = number * len(values) + place
        _, examples, self._pattern = np.unique(number, return_index=True, return_inverse=True)
        self._start = np.zeros((len(machine.STATE), len(examples)))
        for row, column in columns.items():
            self._start[row] = column[examples]

    def _make_room(self) -> None:
        room = self.pages + self.k
        self._arena = np.empty(self.pages + self.k * max(0, self.cycles - self.warmup), dtype=np.uint32)
        self._states, self._last = np.zeros((room, len(machine.STATE))), np.empty(room)
        self._begin, self._end = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
        self._room = (
            np.empty(room),  # score
            (
                np.empty(self.k, dtype=np.uint32),  # taken
                np.empty(self.k, dtype=np.int32),  # origin
                np.empty(self.k, dtype=np.int32),  # coming
            ),
            np.empty(2 * room, dtype=np.int32),  # heard
            np.empty(2 * room, dtype=np.int32),  # heirs
            np.empty(1 << (2 * self.k).bit_length(), dtype=np.int64),  # index
            np.zeros((self.pages + 63) // 64, dtype=np.uint64),  # marks
            np.empty(self.pages, dtype=np.int32),  # home
        )

    def fitness(self, tree: Tree) -> Fitness:
        """How the crawl goes with this score function."""
        rates, gains, fresh = self.curves(tree)
        if not len(rates):
            return Fitness(0.0, 0.0, 0.0)
        return Fitness(float(rates.mean()), float(gains.mean()), float(fresh.mean()))

    def curves(self, tree: Tree) -> tuple[FloatArray, FloatArray, FloatArray]:
        """ChangeRate, NDCG and freshness of every cycle after the warm-up."""
        steps = machine.program(tree)
        fields = tuple(sorted({field for name in terminals_of(tree) for field in machine.READS[name]}))
        kept = np.zeros(len(machine.STATE))
        kept[list(fields)] = 1.0
        rows = kernel.simulate(
            (steps.code, steps.left, steps.right, steps.number),
            self.warmup,
            self.cycles,
            self.k,
            self._clock,
            self._open(fields),
            kept,
            self._states,
            self._last,
            self._begin,
            self._end,
            self._arena,
            self._history,
            self._expiring.copy(),
            self._discount,
            self._ideal,
            self._room,
        )
        return rows[:, 0], rows[:, 1], 1.0 - rows[:, 2] / max(self.pages, 1)

    def _open(self, fields: Fields) -> int:
        """Put the pages into groups by their state after the warm-up; the number of groups."""
        rows = list(fields)
        if fields not in self._groups:
            distinct, group_of = np.unique(self._start[rows], axis=1, return_inverse=True)
            group = group_of.reshape(-1)[self._pattern] if fields else np.zeros(self.pages, dtype=np.int64)
            arena = np.argsort(group, kind="stable").astype(np.uint32)
            bounds = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=1))])
            self._groups[fields] = distinct[:, : len(bounds) - 1], bounds, arena
        distinct, bounds, arena = self._groups[fields]
        count = len(bounds) - 1
        self._arena[: self.pages] = arena
        self._states[:count] = 0.0
        self._states[:count, rows] = distinct.T
        self._last[:count] = self.warmup - 1.0
        self._begin[:count], self._end[:count] = bounds[:-1], bounds[1:]
        return count
