"""What visits teach: kernels that change the columns of a history, its trail and the log of visits."""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from forager.compiling import compiled

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

INTERVAL = np.dtype(
    [("page", np.int64), ("end", np.float64), ("length", np.float64), ("changed", np.bool_)], align=True
)
"""One row of a trail: the time between two visits of a page, and whether it brought an update."""
LOGGED = np.dtype([("page", np.int64), ("when", np.float64), ("changed", np.bool_), ("brought", np.int32)], align=True)
"""One row of a log: a visit, and the new documents that it revealed."""

SIZE, INTERPOLATED = range(2)
"""The tallies of a trail: how many rows are used, and whether an update lies halfway between two visits."""
ADDED = 1
"""The tallies of a log: how many rows are used, and how many visits were ever added."""


class Interval(Protocol):
    """A row of a trail, as the kernels see it."""

    page: int
    end: float
    length: float
    changed: bool


class Logged(Protocol):
    """A row of a log, as the kernels see it."""

    page: int
    when: float
    changed: bool
    brought: int


class Tables(NamedTuple):
    """What a history keeps: n, X and documents; first, last, last change, start of the interval under way, last update; I_n,
    Σ i·I_i, G, adaptive interval. Then the adaptive rule (decrease, increase, initial, shortest, longest), and, where there
    is a trail, its rows, its tallies, and of which pages the rate is to be estimated anew."""

    counts: FloatArray
    times: FloatArray
    sums: FloatArray
    rule: FloatArray
    trail: NDArray[np.void]
    trail_tally: IntArray
    dirty: BoolArray


class Log(NamedTuple):
    """What a log of visits keeps: its rows, its tallies, and of every page the number of its last visit."""

    rows: NDArray[np.void]
    tally: IntArray
    latest: IntArray


@compiled
def see(held: IntArray, page: int, version: int) -> bool:
    """A page shows a version, or none if that is -1; whether it has changed since the visit before."""
    before = held[page]
    if version >= 0:
        held[page] = version
    return version >= 0 and before >= 0 and version != before


@compiled
def _end_interval(kept: Tables, page: int, now: float, changed: bool) -> None:
    """Enter the interval between the visit before and one now into the trail, in which there must be room."""
    times = kept.times
    end = (times[1, page] + now) / 2.0 if changed and kept.trail_tally[INTERPOLATED] else now
    row: Interval = kept.trail[kept.trail_tally[SIZE]]
    row.page = page
    row.end = end
    row.length = end - times[3, page]
    row.changed = changed
    kept.trail_tally[SIZE] += 1
    times[3, page] = end
    if changed:
        times[4, page] = end
    kept.dirty[page] = True


@compiled
def enter(kept: Tables, page: int, now: float, changed: bool, documents: int) -> None:
    """Enter a visit of a page; its first visit detects no change."""
    counts, times, sums, rule = kept.counts, kept.times, kept.sums, kept.rule
    new = counts[0, page] == 0
    saw = changed and not new
    if new:
        times[0, page] = times[2, page] = times[3, page] = times[4, page] = now
    elif len(kept.trail):
        _end_interval(kept, page, now, changed)
    counts[0, page] += 1
    counts[1, page] += saw
    counts[2, page] += documents
    times[1, page] = now
    if saw:
        times[2, page] = now
    sums[0, page] = saw
    sums[1, page] += counts[0, page] * saw
    sums[2, page] = (sums[2, page] + saw) / 2.0
    if new:
        sums[3, page] = rule[2]
    else:
        longer = sums[3, page] * (1.0 - rule[0] if saw else 1.0 + rule[1])
        sums[3, page] = min(max(longer, rule[3]), rule[4])


@compiled
def enter_all(kept: Tables, pages: IntArray, when: FloatArray, changed: BoolArray, documents: IntArray) -> None:
    """Enter visits of distinct pages; `documents` may be empty."""
    for i in range(len(pages)):
        brought = documents[i] if len(documents) else 0
        enter(kept, pages[i], when[i], changed[i], brought)


@compiled
def log_visit(log: Log, page: int, when: float, changed: bool) -> None:
    """Remember a visit; there must be room. A log without rows remembers nothing."""
    if len(log.rows) == 0:
        return
    row: Logged = log.rows[log.tally[SIZE]]
    row.page = page
    row.when = when
    row.changed = changed
    row.brought = 0
    log.latest[page] = log.tally[ADDED]
    log.tally[SIZE] += 1
    log.tally[ADDED] += 1


@compiled
def log_credit(log: Log, page: int) -> None:
    """The last visit of a page turned out to have revealed a new document."""
    if len(log.rows) == 0:
        return
    place = log.tally[SIZE] - log.tally[ADDED] + log.latest[page]
    if log.latest[page] >= 0 and place >= 0:
        log.rows[place].brought += 1
