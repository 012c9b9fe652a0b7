"""What the visits so far tell of every page, updated in O(1) per visit, without a list of visits (GP4C).

Visits may come in cycles or at any times; `cycle` is the unit in which `states` counts time. With a trail, the
intervals between visits are kept as well, for the Poisson likelihood of HACS. The file begins with the kernels that
change a history, its trail and the log of visits.
"""

from collections.abc import Callable, Mapping
from copy import copy, deepcopy
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from forager.arrays import BoolArray, FloatArray, IntArray, RowArray
from forager.kernel import compiled, inner
from forager.recrawl.poisson import INTERPOLATED, INTERVAL, SIZE, Interval, Trail
from forager.recrawl.recrawl_settings import ADAPTIVE, AdaptiveSettings
from forager.recrawl.rhythm import Rhythm
from forager.recrawl.terminals import EMPTY, PageStates

LOGGED = np.dtype([("page", np.int64), ("when", np.float64), ("changed", np.bool_), ("brought", np.int32)], align=True)
"""One row of a log: a visit, and the new documents that it revealed."""

ADDED = 1
"""The counters of a log: rows in use, and visits ever added."""


class Logged(Protocol):
    """A row of a log, as kernels see it."""

    page: int
    when: float
    changed: bool
    brought: int


class Tables(NamedTuple):
    """What a history keeps: n, X and documents; first, last, last change, start of the present interval, last update;
    I_n, Σ i·I_i, G, adaptive interval. Then the adaptive rule (decrease, increase, initial, shortest, longest). With a
    trail also its rows, its counters, and the pages whose rate must be estimated again.
    """

    counts: FloatArray
    times: FloatArray
    sums: FloatArray
    rule: FloatArray
    trail: RowArray
    trail_tally: IntArray
    dirty: BoolArray


class Log(NamedTuple):
    """What a log of visits keeps: its rows, its counters, and for every page the number of its last visit."""

    rows: RowArray
    tally: IntArray
    latest: IntArray


@inner
def see(held: IntArray, page: int, version: int) -> bool:
    """Records the version that a page shows, -1 for none; returns whether it has changed since the visits before.
    Versions rise.
    """
    before = held[page]
    held[page] = max(before, version)
    return bool(version > before >= 0)


@inner
def _end_interval(kept: Tables, page: int, now: float, changed: bool) -> None:
    """Adds the interval from the visit before until now to the trail, in which there must be room."""
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


@inner
def enter(kept: Tables, page: int, now: float, changed: bool, documents: int) -> None:
    """Adds a visit of a page; its first visit detects no change."""
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
    """Adds visits of distinct pages; `documents` may be empty."""
    for i in range(len(pages)):
        brought = documents[i] if len(documents) else 0
        enter(kept, pages[i], when[i], changed[i], brought)


@inner
def log_visit(log: Log, page: int, when: float, changed: bool) -> None:
    """Adds a visit to the log, in which there must be room. A log without rows remembers nothing."""
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


@inner
def log_credit(log: Log, page: int) -> None:
    """Adds a new document to the last visit of a page."""
    if len(log.rows) == 0:
        return
    place = log.tally[SIZE] - log.tally[ADDED] + log.latest[page]
    if log.latest[page] >= 0 and place >= 0:
        log.rows[place].brought += 1


NOTHING: IntArray = np.empty(0, dtype=np.int64)
NO_TRAIL: RowArray = np.empty(0, dtype=INTERVAL)
NO_TALLY: IntArray = np.zeros(2, dtype=np.int64)


class Facts(NamedTuple):
    """What a crawl knows of pages besides their visits; see `PageStates`. Rates are per hour."""

    hub: FloatArray
    inlinks: FloatArray
    news: FloatArray = EMPTY
    hazard: FloatArray = EMPTY
    elsewhere: FloatArray = EMPTY
    length: FloatArray = EMPTY
    rhythm: Rhythm = ()


PageFactsOf = Callable[[slice | IntArray], Facts]


class History:
    """Growable columns, one row per page number; a page that was never visited has n = 0."""

    def __init__(
        self,
        pages: int = 0,
        *,
        cycle: float = 1.0,
        adaptive: AdaptiveSettings = ADAPTIVE,
        trail: Trail | None = None,
        about: PageFactsOf | None = None,
    ) -> None:
        self.cycle, self.adaptive, self.trail, self.about = cycle, adaptive, trail, about
        self._rule = np.array(
            [adaptive.decrease, adaptive.increase, adaptive.initial, adaptive.shortest, adaptive.longest]
        )
        self._size = 0
        self._counts = np.zeros((3, 0))  # n, X, documents
        self._times = np.zeros((5, 0))  # first, last, last change, start of the interval under way, last update (HACS)
        self._sums = np.zeros((4, 0))  # I_n, sum i·I_i, G, adaptive interval
        self._rate = np.zeros(0)
        self._dirty = np.zeros(0, dtype=np.bool_)
        self._rated_at = -np.inf
        self.grow(pages)

    def __len__(self) -> int:
        return self._size

    def __repr__(self) -> str:
        visits = self._counts[0, : self._size]
        return f"<History {self._size} pages, {int(np.count_nonzero(visits))} visited, {int(visits.sum())} visits>"

    @property
    def tables(self) -> Tables:
        """For kernels. Do not keep them: they are replaced as they grow."""
        rows, tally = (NO_TRAIL, NO_TALLY) if self.trail is None else (self.trail.rows, self.trail.tally)
        return Tables(self._counts, self._times, self._sums, self._rule, rows, tally, self._dirty)

    def grow(self, pages: int) -> None:
        """Makes room for page numbers below `pages`."""
        if pages > self._counts.shape[1]:
            room = max(pages, 2 * self._counts.shape[1], 64)
            self._counts, self._times, self._sums = (
                _widened(table, room) for table in (self._counts, self._times, self._sums)
            )
            if self.trail is not None:
                self._rate = np.concatenate([self._rate, np.zeros(room - len(self._rate))])
                self._dirty = np.concatenate([self._dirty, np.zeros(room - len(self._dirty), dtype=np.bool_)])
        self._size = max(self._size, pages)

    def note(self, page: int, now: float, changed: bool, documents: int = 0) -> None:
        """Adds a visit of one page; its first visit can detect nothing, whatever `changed` says."""
        self.grow(page + 1)
        self.make_room(1)
        enter(self.tables, page, now, changed, documents)

    def make_room(self, visits: int) -> None:
        """Makes room for this many more visits."""
        if self.trail is not None:
            self.trail.reserve(visits)

    def note_all(
        self, pages: IntArray, now: float | FloatArray, changed: BoolArray, documents: IntArray | None = None
    ) -> None:
        """Adds visits of distinct pages, at one time or each at its own."""
        if not len(pages):
            return
        self.grow(int(pages.max()) + 1)
        self.make_room(len(pages))
        brought = NOTHING if documents is None else documents
        enter_all(self.tables, pages, np.full(len(pages), now), changed, brought)

    def credit(self, page: int, documents: int = 1) -> None:
        """Adds new documents to a page that was visited before."""
        self.grow(page + 1)
        self._counts[2, page] += documents

    def visited(self, pages: IntArray) -> BoolArray:
        """Which of these pages have a history."""
        self.grow(int(pages.max(initial=-1)) + 1)
        return np.asarray(self._counts[0, pages] > 0)

    @property
    def visited_pages(self) -> IntArray:
        """All pages that have a history, sorted by number."""
        return np.flatnonzero(self._counts[0, : self._size])

    @property
    def any_visits(self) -> bool:
        """Whether any page has a history."""
        return bool(self._counts[0, : self._size].any())

    def surprise(self, page: int) -> bool | None:
        """Whether the last visit of a page saw a change; None if there is no visit before it."""
        return bool(self._sums[0, page]) if self._counts[0, page] > 1 else None

    def last(self, page: int) -> float:
        """The last visit of a page; −inf if there was none."""
        return float(self._times[1, page]) if page < self._size and self._counts[0, page] else -np.inf

    def lasts(self, pages: int) -> FloatArray:
        """The last visits of the pages below a number; −inf for those that had none."""
        self.grow(pages)
        return np.where(self._counts[0, :pages] > 0, self._times[1, :pages], -np.inf)

    def states(self, now: float, part: slice | IntArray = slice(None)) -> PageStates:
        """The columns of the pages in `part` as of now; times in cycles. They may be views: do not write to them."""
        if isinstance(part, slice):
            part = slice(*part.indices(self._size))
        n, X, documents = self._counts[:, part]
        recent, ranked, halved, interval = self._sums[:, part]
        times = self._times[:, part]
        first, last, last_change, _, update = times if self.cycle == 1.0 else times / self.cycle
        known = Facts(EMPTY, EMPTY) if self.about is None else self.about(part)
        hours = self.cycle / 3600.0
        return PageStates(
            now=now / self.cycle,
            last=last,
            first=first,
            n=n,
            X=X,
            recent=recent,
            ranked=ranked,
            halved=halved,
            last_change=last_change,
            documents=documents,
            interval=interval,
            rate=EMPTY if self.trail is None else self._rates(now)[part] * self.cycle,
            update=update,
            news=known.news * hours,
            hazard=known.hazard * hours,
            elsewhere=known.elsewhere,
            length=known.length,
            hub=known.hub,
            inlinks=known.inlinks,
            day=86400.0 / self.cycle if self.cycle != 1.0 else 1.0,
            rhythm=known.rhythm,
        )

    def copied(self) -> "History":
        """A copy of the present state, which another thread can save."""
        other = copy(self)
        other._counts, other._times, other._sums = (
            table[:, : self._size].copy() for table in (self._counts, self._times, self._sums)
        )
        other.trail = deepcopy(self.trail)
        return other

    def columns(self) -> dict[str, NDArray[np.generic]]:
        """The columns to save: the rows of the visited pages."""
        pages = np.flatnonzero(self._counts[0, : self._size])
        tables = {"counts": self._counts, "times": self._times, "sums": self._sums}
        rows: dict[str, NDArray[np.generic]] = {name: table[:, pages] for name, table in tables.items()}
        trail = {} if self.trail is None else self.trail.columns()
        return {"size": np.array(self._size), "pages": pages, **rows, **trail}

    def restore(self, columns: Mapping[str, NDArray[np.generic]]) -> None:
        """Restores what `columns` gave; the intervals of visits made without a trail are lost."""
        pages = np.asarray(columns["pages"], dtype=np.int64)
        self.grow(int(columns["size"]))
        for name, table in (("counts", self._counts), ("times", self._times), ("sums", self._sums)):
            for row, values in zip(table, columns[name], strict=True):  # far faster than all rows at once
                row[pages] = values
        if self.trail is not None:
            if "trail_page" in columns:
                self.trail.restore(columns)
            self._dirty[pages] = True

    def _rates(self, now: float) -> FloatArray:
        """λ of all pages; estimated again only for those visited since the last time, unless visits leave a window."""
        assert self.trail is not None
        if np.isfinite(self.trail.window):
            if now != self._rated_at or self._dirty.any():
                self._rate = self.trail.rates(len(self._rate), now)
        elif self._dirty.any():
            self._rate = np.where(self._dirty, self.trail.rates(len(self._rate), now, self._dirty), self._rate)
        self._rated_at = now
        self._dirty[:] = False
        return self._rate


def _widened(table: FloatArray, room: int) -> FloatArray:
    wide = np.zeros((len(table), room))
    wide[:, : table.shape[1]] = table
    return wide
