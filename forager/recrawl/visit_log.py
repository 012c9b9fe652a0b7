"""The latest visits, as many as memory is given: what a score function is learned from while the crawl runs."""

import numpy as np
from numpy.typing import NDArray

from forager.recrawl.log import ChangeLog

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

MOST = 500_000
"""Visits remembered; 17 bytes each. Ours."""
CYCLES = 500
"""Cycles learned from, the latest: five days of quarter hours. Ours."""


class VisitLog:
    """Columns of visits in the order in which they were made; the oldest half is forgotten when they are too many."""

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self.added = 0
        """Visits ever added."""
        self._size = 0
        self._page = np.empty(1024, dtype=np.int64)
        self._when = np.empty(1024)
        self._changed = np.empty(1024, dtype=np.bool_)

    def __len__(self) -> int:
        return self._size

    def __repr__(self) -> str:
        return f"<VisitLog {self._size} visits>"

    @property
    def visits(self) -> tuple[IntArray, FloatArray, BoolArray]:
        """Page, time and whether it had changed, of every visit remembered."""
        return self._page[: self._size], self._when[: self._size], self._changed[: self._size]

    def add(self, pages: IntArray, when: FloatArray, changed: BoolArray) -> None:
        if self._size + len(pages) > self.most:
            kept = tuple(column[self._size // 2 :].copy() for column in self.visits)
            self._size = len(kept[0])
            self._page[: self._size], self._when[: self._size], self._changed[: self._size] = kept
        used = self._size + len(pages)
        if used > len(self._page):
            room = max(used, 2 * len(self._page))
            self._page, self._when = np.resize(self._page, room), np.resize(self._when, room)
            self._changed = np.resize(self._changed, room)
        at = slice(self._size, used)
        self._page[at], self._when[at], self._changed[at] = pages, when, changed
        self._size = used
        self.added += len(pages)


def change_log(page: IntArray, when: FloatArray, changed: BoolArray, cycle: float) -> tuple[ChangeLog, float]:
    """The change log of the latest cycles and the mean share of its pages visited in a cycle.

    Only pages seen at least twice are in it: one visit tells nothing of changes.
    """
    first = max(float(when.min(initial=np.inf)), float(when.max(initial=-np.inf)) - CYCLES * cycle)
    late = when >= first
    page, when, changed = page[late], when[late], changed[late]
    _, number, counts = np.unique(page, return_inverse=True, return_counts=True)
    again = counts[number] > 1
    if not again.any():
        return ChangeLog(np.zeros((0, 0), dtype=np.bool_), cycle=cycle), 0.0
    _, number = np.unique(page[again], return_inverse=True)
    cycles = np.floor((when[again] - first) / cycle).astype(np.int64)
    log = ChangeLog.of_visits(number.astype(np.int64), cycles, changed[again])
    return log, float(again.sum()) / (log.pages * log.cycles)
