"""Simulates the crawl on states instead of pages: pages with the same history and the same last visit have the same
score.

A tree is evaluated once per distinct state; whole groups of pages are downloaded until k is reached; only downloaded
pages change their state. A state holds the last visit and the running sums that the tree reads, nothing else. The
result equals that of `recrawl.simulate`.

The compiled part scores the groups, takes the best, and sorts their pages into new groups. A group holds all pages with
equal state; its pages are side by side in `arena`, in the fixed order. All groups born in one cycle were visited in
that cycle, so a group only ever loses pages, from its front.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from forager.arrays import FloatArray, IntArray
from forager.gp import machine
from forager.gp.machine import HALVED, HUB, INLINKS, LAST_CHANGE, RANKED, RECENT, STATE, N, X
from forager.gp.trees import Tree, terminals_of
from forager.kernel import machine_code
from forager.measures import discounts
from forager.recrawl.change_log import ChangeLog, packed, patterns
from forager.recrawl.history import History
from forager.recrawl.rhythm import Rhythm
from forager.recrawl.simulate import clock_table, downloads

_evaluate = machine_code(machine.evaluate)
_SPREADER = 0x03F79D71B4CB0A89
"""A de Bruijn number: shifted left by 0 to 63 places, it begins with 64 different patterns of 6 bits."""
_PLACES = np.array(sorted(range(64), key=lambda place: (_SPREADER << place & 0xFFFFFFFFFFFFFFFF) >> 58))
"""For each such pattern, how far the number was shifted."""


@njit(cache=True, inline="always")
def first_bit(word):  # type: ignore[no-untyped-def]
    """The position of the lowest bit that is set; 64 for 0."""
    lowest = word & (~word + np.uint64(1))
    return _PLACES[lowest * np.uint64(_SPREADER) >> np.uint64(58)] if word else 64


@njit(cache=True, inline="always")
def _take(group, wanted, filled, start, end, arena, taken, origin):  # type: ignore[no-untyped-def]
    """Takes up to `wanted` pages of one group; returns how many pages are taken then."""
    first = start[group]
    size = min(wanted, end[group] - first)
    for i in range(size):
        taken[filled + i] = arena[first + i]
        origin[filled + i] = group
    start[group] = first + size
    return filled + size


@njit(cache=True)
def _take_merged(groups, wanted, filled, start, end, arena, taken, origin, marks, home):  # type: ignore[no-untyped-def]
    """Takes pages from several groups of one rank, page by page in the fixed order."""
    word, left = -1, np.uint64(0)
    for group in groups:
        for i in range(start[group], end[group]):
            page = arena[i]
            marks[page >> 6] |= np.uint64(1) << np.uint64(page & 63)
            home[page] = group
    for rank in range(filled, filled + wanted):
        while not left:
            word += 1
            left = marks[word]
        page = (word << 6) + first_bit(left)
        left &= left - np.uint64(1)
        taken[rank], origin[rank] = page, home[page]
        start[home[page]] += 1
    marks[:] = 0
    return filled + wanted


@njit(cache=True)
def _take_equals(equals, wanted, filled, last, start, end, arena, taken, origin, marks, home):  # type: ignore[no-untyped-def]
    """Takes up to `wanted` pages from groups of equal score: the longest unvisited first, then in the fixed order."""
    first, full = 0, filled + wanted
    while first < len(equals) and filled < full:
        beyond = first + 1
        while beyond < len(equals) and last[equals[beyond]] == last[equals[first]]:
            beyond += 1
        if beyond - first == 1:
            filled = _take(equals[first], full - filled, filled, start, end, arena, taken, origin)
        else:
            tier = equals[first:beyond]
            size = min(full - filled, np.sum(end[tier] - start[tier]))
            filled = _take_merged(tier, size, filled, start, end, arena, taken, origin, marks, home)
        first = beyond
    return filled


@njit(cache=True)
def select(k, groups, score, last, start, end, arena, choice, marks, home):  # type: ignore[no-untyped-def]
    """Takes the k best pages; returns how many there were."""
    taken, origin, _ = choice
    order = np.argsort(-score[:groups], kind="mergesort")  # stable: of equals the longer unvisited first
    filled, low = 0, 0
    while low < groups and filled < k:
        beyond = low + 1
        while beyond < groups and score[order[beyond]] == score[order[low]]:
            beyond += 1
        if beyond - low == 1:  # the usual case; a call would take longer
            filled = _take(order[low], k - filled, filled, start, end, arena, taken, origin)
        else:
            equals = order[low:beyond]
            filled = _take_equals(equals, k - filled, filled, last, start, end, arena, taken, origin, marks, home)
        low = beyond
    return filled


_WORDS = len(STATE)
_FACTORS = np.array([pow(0x9E3779B97F4A7C15, 2 * place + 1, 1 << 64) for place in range(_WORDS)], dtype=np.uint64)


@njit(cache=True, inline="always")
def _bear(old, new, changed, cycle, kept, states):  # type: ignore[no-untyped-def]
    """The state of a group after a visit; `kept` is 1 for what belongs to a state, 0 for what stays 0."""
    states[new, HUB], states[new, INLINKS] = states[old, HUB], states[old, INLINKS]
    states[new, N] = (states[old, N] + 1.0) * kept[N]
    states[new, X] = (states[old, X] + changed) * kept[X]
    states[new, RECENT] = changed * kept[RECENT]
    states[new, RANKED] = (states[old, RANKED] + states[new, N] * changed) * kept[RANKED]
    states[new, HALVED] = (states[old, HALVED] + changed) / 2.0 * kept[HALVED]
    states[new, LAST_CHANGE] = (states[old, LAST_CHANGE] * (1.0 - changed) + cycle * changed) * kept[LAST_CHANGE]


@njit(cache=True, inline="always")
def _heir(old, born, changed, cycle, kept, states, bits, index):  # type: ignore[no-untyped-def]
    """The group of this cycle that pages of `old` join after a visit: `born` itself if there is no equal group yet."""
    _bear(old, born, changed, float(cycle), kept, states)
    key = np.uint64(0)
    for word in range(_WORDS):
        key += bits[born, word] * _FACTORS[word]  # the high bits of a product depend on all bits of its factors
    key = (key ^ (key >> np.uint64(32))) * np.uint64(0xBF58476D1CE4E5B9)
    mask = len(index) - 1
    at = np.int64(key >> np.uint64(32)) & mask
    while index[at] >> 32 == cycle:  # an entry is its cycle and its group in one number; older ones do not count
        known, different = index[at] & 0xFFFFFFFF, np.uint64(0)
        for word in range(_WORDS):
            different |= bits[known, word] ^ bits[born, word]
        if not different:
            return known
        at = (at + 1) & mask
    index[at] = (cycle << 32) | born
    return born


@njit(cache=True, inline="always")
def _outlook(history, page, since, cycle):  # type: ignore[no-untyped-def]
    """Whether a page changed after `since` up to `cycle`, and the cycle of its next change.

    `history[w, page]` has bit b set if the page changes in cycle 64·w + b.
    """
    everything = np.uint64(0xFFFFFFFFFFFFFFFF)
    at, high = (since + 1) >> 6, cycle >> 6
    word = history[at, page] & everything << np.uint64((since + 1) & 63)
    while at < high and not word:
        at += 1
        word = history[at, page]
    hit = (word & everything >> np.uint64(63 - (cycle & 63)) if at == high else word) != np.uint64(0)
    at = (cycle + 1) >> 6
    word = history[at, page] & everything << np.uint64((cycle + 1) & 63) if at < len(history) else np.uint64(0)
    while at + 1 < len(history) and not word:
        at += 1
        word = history[at, page]
    return np.int64(hit), min((at << 6) + first_bit(word), len(history) << 6)


@njit(cache=True)
def _look(choice, filled, last, cycle, history, expiring, discount, heard, marks, home):  # type: ignore[no-untyped-def]
    """Visits the pages that were taken; returns how many have changed, and their DCG.

    Every page is marked and gets a `home`: twice its group, plus 1 if it has changed; `heard` counts the pages by home.
    The next change of a page that has changed is entered in `expiring`, because then its copy will be out of date
    again. Whether a page has changed is used in arithmetic and never in a branch, because no processor could predict
    the branch. It is written before it is counted, so that no count has to wait for the memory of another page.
    """
    taken, origin, coming = choice
    share = np.arange(2.0)
    hits, gain = np.int64(0), 0.0
    for rank in range(filled):
        page, old = taken[rank], origin[rank]
        hit, coming[rank] = _outlook(history, page, np.int64(last[old]), cycle)
        gain += discount[rank] * share[hit]
        hits += hit
        origin[rank] = 2 * old + hit
    for rank in range(filled):
        page, place = taken[rank], origin[rank]
        expiring[coming[rank]] += place & 1
        heard[place] += 1
        home[page] = place
        marks[page >> 6] |= np.uint64(1) << np.uint64(page & 63)
    return hits, gain


@njit(cache=True)
def _settle(choice, heirs, end, arena, marks, home):  # type: ignore[no-untyped-def]
    """Writes the marked pages into the arena, each behind the `end` of its new group, in the fixed order."""
    taken, origin, _ = choice
    count = 0
    for word in range(len(marks)):
        left = marks[word]
        while left:
            taken[count] = (word << 6) + first_bit(left)
            count += 1
            left &= left - np.uint64(1)
        marks[word] = 0
    for i in range(count):
        origin[i] = heirs[home[taken[i]]]
    for i in range(count):
        place = end[origin[i]]
        arena[place] = taken[i]
        end[origin[i]] = place + 1


@njit(cache=True)
def _closed_up(groups, born, states, last, start, end):  # type: ignore[no-untyped-def]
    """Removes empty groups; returns the number of groups left. Their order stays: the longest unvisited first."""
    alive = 0
    for group in range(born):
        if start[group] < end[group]:
            if alive < group:
                for word in range(_WORDS):
                    states[alive, word] = states[group, word]
                last[alive], start[alive], end[alive] = last[group], start[group], end[group]
            alive += 1
    return alive


@njit(cache=True)
def simulate_groups(  # type: ignore[no-untyped-def]
    program,
    warmup,
    cycles,
    k,
    clock,
    groups,
    kept,
    states,
    last,
    start,
    end,
    arena,
    history,
    expiring,
    discount,
    ideal,
    room,
):
    """All cycles after the warm-up: for each a row of ChangeRate, NDCG and the number of copies out of date.

    `kept` says which parts of `states` the program reads; `expiring` counts the copies that go out of date by cycle, if
    nothing is visited.
    """
    code, left, right, number = program
    score, choice, heard, heirs, index, marks, home = room
    table, bits = states.T, states.view(np.uint64)
    outdated, index[:], heard[:] = 0, -1, 0
    used = end[groups - 1] if groups else 0
    rows = np.empty((max(0, cycles - warmup), 3))
    for cycle in range(warmup, cycles):
        outdated += expiring[cycle]
        best = ideal[min(k, outdated)]
        _evaluate(code, left, right, number, groups, float(cycle), 1.0, clock, table, last, score)
        filled = select(k, groups, score, last, start, end, arena, choice, marks, home)
        hits, gain = _look(choice, filled, last, cycle, history, expiring, discount, heard, marks, home)
        born = groups
        for place in range(2 * groups):
            if heard[place]:
                heir = _heir(place >> 1, born, float(place & 1), cycle, kept, states, bits, index)
                if heir == born:
                    last[born], end[born] = cycle, 0
                    born += 1
                heirs[place] = heir
                end[heir] += heard[place]
                heard[place] = 0
        for group in range(groups, born):
            start[group] = used
            used += end[group]
            end[group] = start[group]
        _settle(choice, heirs, end, arena, marks, home)
        groups = _closed_up(groups, born, states, last, start, end)
        outdated -= hits
        rows[cycle - warmup] = hits / filled, gain / best if best else 0.0, float(outdated)
    return rows


Fields = tuple[int, ...]


def reads_states_only(terminals: frozenset[str]) -> bool:
    """Whether a tree with these terminals can be simulated on groups."""
    return all(field < len(machine.STATE) for name in terminals for field in machine.own_fields(name))


@dataclass(frozen=True, slots=True)
class Fitness:
    """Means over the cycles after the warm-up."""

    change_rate: float
    ndcg: float
    freshness: float


class GroupedSimulation:
    """A change log prepared for trying many trees on it, one at a time, in one process."""

    def __init__(self, log: ChangeLog, k: float, warmup: int, rhythm: Rhythm = ()) -> None:
        self.pages, self.cycles = log.pages, log.cycles
        self.warmup, self.k = min(warmup, log.cycles), downloads(log.pages, k)
        self._history = packed(log.changed)
        self._discount = discounts(self.k)
        self._ideal = np.concatenate([[0.0], np.cumsum(self._discount)])
        self._clock = clock_table(log, rhythm)
        coming = log.changed[:, self.warmup :]
        first: IntArray | list[int] = (
            np.where(coming.any(axis=1), coming.argmax(axis=1) + self.warmup, 64 * len(self._history))
            if coming.size
            else []
        )
        self._expiring = np.bincount(np.asarray(first, dtype=np.int64), minlength=64 * len(self._history) + 1)
        self._begin_with(log)
        self._groups: dict[Fields, tuple[FloatArray, IntArray, NDArray[np.uint32]]] = {}
        self._make_room()

    def _begin_with(self, log: ChangeLog) -> None:
        """The columns after the warm-up, one for each kind of page that can be distinguished by then."""
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
        fields = tuple(sorted({field for name in terminals_of(tree) for field in machine.own_fields(name)}))
        kept = np.zeros(len(machine.STATE))
        kept[list(fields)] = 1.0
        rows = simulate_groups(
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
        """Puts the pages into groups by their state after the warm-up; returns the number of groups."""
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
