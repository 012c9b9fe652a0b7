"""The latest visits, as many as there is memory for: what a score function is learned from during the crawl."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from forager.arrays import BoolArray, FloatArray, Int32Array, IntArray, RowArray
from forager.kernel import compiled
from forager.recrawl.change_log import ChangeLog, ShownDocuments
from forager.recrawl.history import ADDED, LOGGED, Log, log_credit, log_visit
from forager.recrawl.poisson import SIZE

MOST = 500_000
"""Visits remembered; 21 bytes each. Ours."""
CYCLES = 500
"""Number of latest cycles that are learned from: five days of quarter hours. Ours."""


@dataclass(frozen=True, slots=True, eq=False)
class Visits:
    """Columns of visits in the order in which they were made."""

    page: IntArray
    when: FloatArray
    changed: BoolArray
    brought: Int32Array
    """New documents that each visit revealed; none for the first visit of a page, which finds a backlog."""

    def __len__(self) -> int:
        return len(self.page)

    def at(self, rows: slice | BoolArray | IntArray) -> "Visits":
        """A copy of some of them."""
        return Visits(
            np.array(self.page[rows]),
            np.array(self.when[rows]),
            np.array(self.changed[rows]),
            np.array(self.brought[rows]),
        )


class VisitLog:
    """Remembers visits; when there are too many, the oldest half is forgotten."""

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self._rows: RowArray = np.empty(1024, dtype=LOGGED)
        self._tally = np.zeros(2, dtype=np.int64)
        self._latest = np.full(1024, -1, dtype=np.int64)
        """Of every page the number of its last visit, counted over all that were ever added; -1: none."""

    def __len__(self) -> int:
        return int(self._tally[SIZE])

    def __repr__(self) -> str:
        return f"<VisitLog {len(self)} visits>"

    @property
    def added(self) -> int:
        """Visits ever added."""
        return int(self._tally[ADDED])

    @property
    def log(self) -> Log:
        """For kernels. Do not keep it: it is replaced as it grows."""
        return Log(self._rows, self._tally, self._latest)

    @property
    def visits(self) -> Visits:
        """A copy of all visits remembered."""
        rows = self._rows[: len(self)]
        return Visits(*(np.array(rows[name]) for name in ("page", "when", "changed", "brought")))

    def make_room(self, pages: int, visits: int) -> None:
        """Makes room for page numbers below `pages` and this many more visits; if they are too many, forgets the oldest
        half.
        """
        if pages > len(self._latest):
            more = max(pages, 2 * len(self._latest)) - len(self._latest)
            self._latest = np.concatenate([self._latest, np.full(more, -1, dtype=np.int64)])
        size = len(self)
        if size + visits > self.most:
            kept = self._rows[size // 2 : size].copy()
            self._rows[: len(kept)] = kept
            self._tally[SIZE] = size = len(kept)
        if size + visits > len(self._rows):
            self._rows = np.resize(self._rows, max(size + visits, 2 * len(self._rows)))

    def add(self, pages: IntArray, when: FloatArray, changed: BoolArray) -> None:
        self.make_room(int(pages.max(initial=-1)) + 1, len(pages))
        _log_all(self.log, pages, when, changed)

    def credit(self, page: int) -> None:
        """Adds a new document to the last visit of a page."""
        if page < len(self._latest):
            log_credit(self.log, page)

    def credit_past(self, documents: Iterable[tuple[int, int, float, float]]) -> None:
        """Credits visits of the past as `credit` would have done then. For each document: its page, the page on which a
        link to it was found (-1: none), when that was, and when the document was fetched.

        A page that was visited before revealed its document itself. A link found on the first visit of another page is
        backlog.
        """
        visits = self.visits
        order = np.lexsort((visits.when, visits.page))
        page, when = visits.page[order], visits.when[order]

        def until(one: int, moment: float) -> IntArray:
            """The visits of a page up to a moment."""
            begin, end = np.searchsorted(page, (one, one + 1))
            return order[begin : begin + np.searchsorted(when[begin:end], moment, side="right")]

        for url, source, met, fetched in documents:
            own = until(url, fetched)
            if len(own) > 1:
                self._rows["brought"][own[-1]] += 1
            elif len(until(source, met)) > 1:
                self._rows["brought"][until(source, fetched)[-1]] += 1


@compiled
def _log_all(log: Log, pages: IntArray, when: FloatArray, changed: BoolArray) -> None:
    for i in range(len(pages)):
        log_visit(log, pages[i], when[i], changed[i])


def change_log(visits: Visits, lists: IntArray, cycle: float, rng: np.random.Generator) -> tuple[ChangeLog, float]:
    """The change log of the latest cycles, and the mean share of its pages that were visited in a cycle; `lists` are
    page numbers.

    What a visit found happened at an unknown time since the visit before, so a random time is drawn. Placing it at the
    visit would favour policies that visit at the same times. The log has documents only if most were on lists, which go
    on showing them; of texts it is unknown how many came and went between two visits. It has only pages seen at least
    twice, because one visit tells nothing of changes.
    """
    first = max(float(visits.when.min(initial=np.inf)), float(visits.when.max(initial=-np.inf)) - CYCLES * cycle)
    late = visits.at(visits.when >= first)
    _, number, counts = np.unique(late.page, return_inverse=True, return_counts=True)
    again = counts[number] > 1
    if not again.any():
        return ChangeLog(np.zeros((0, 0), dtype=np.bool_), cycle=cycle), 0.0
    late = late.at(again)
    late = late.at(np.lexsort((late.when, late.page)))
    pages, number = np.unique(late.page, return_inverse=True)
    cycles = np.floor((late.when - first) / cycle).astype(np.int64)
    repeated = np.flatnonzero(number[1:] == number[:-1]) + 1
    since = np.zeros_like(cycles)
    since[repeated] = cycles[repeated - 1]

    def some_time(rows: IntArray) -> IntArray:
        """A random cycle after the visit before each of these visits, up to the visit itself."""
        gap = cycles[rows] - since[rows]
        return np.asarray(cycles[rows] - np.floor(rng.random(len(rows)) * gap).astype(np.int64))

    seen = repeated[late.changed[repeated]]
    matrix = np.zeros((len(pages), int(cycles.max()) + 1), dtype=np.bool_)
    matrix[number[seen], some_time(seen)] = True
    matrix[:, 0] = False
    log = ChangeLog(matrix, start=first, cycle=cycle, hub=np.isin(pages, lists))
    brought = np.repeat(repeated, late.brought[repeated])
    shown = brought[np.isin(late.page[brought], lists)]
    if 2 * len(shown) > len(brought):
        last = np.full(len(shown), log.cycles)
        documents = ShownDocuments(np.arange(len(shown)), number[shown], some_time(shown), last)
        log = replace(log, documents=documents)
    return log, float(len(late)) / (log.pages * log.cycles)
