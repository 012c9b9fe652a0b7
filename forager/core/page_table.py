"""The page table: what all visits, of every forager and of the recrawl cycle, showed of each page."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from forager.arrays import widened
from forager.core.expectation import chances, rates, returning, worth_of_one, worths
from forager.core.glance import GLANCE
from forager.core.kernels import highest
from forager.core.pace import PACE
from forager.core.packed import pack, unpack
from forager.core.page_row import BACKLOG, FRESH, HUB, LISTS, LOOK, MEANS, PAGE, PRIORS, SPREAD, TEXT
from forager.core.parameters import ExpectationSettings
from forager.core.promise import fresh_links, most_promising, pick, ranks
from forager.core.sighting import NO_LINKS, Finding
from forager.core.updates import (
    Mind,
    note_arrived,
    note_going,
    note_shown,
    note_signal,
    record_credit,
    record_one,
    weigh,
)
from forager.recrawl.history import History
from forager.recrawl.poisson import Trail
from forager.recrawl.visit_log import VisitLog
from forager.recrawl.visit_updates import LOGGED, Log
from forager.terms import UrlId

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

KIND, FORM = "visit statistics", 4
OLDER = 3
"""The format without histories, which were kept by themselves."""
NO_ROWS: NDArray[np.int32] = np.empty(0, np.int32)
NO_VECTORS: NDArray[np.float32] = np.empty((0, 0), np.float32)
NO_APPEAL: FloatArray = np.empty(0)
NO_PACE: NDArray[np.void] = np.zeros(1, PACE)
NO_LOG = Log(np.empty(0, dtype=LOGGED), np.zeros(2, np.int64), np.empty(0, np.int64))


class PageTable:
    """One row per URL, growing. Asking changes nothing; `going`, `record` and `credit` do.

    A version has a number of its own, and a page gets a new version when it changes in the sense of the settings
    (`visits.change`: a new link for lists, another text for the rest). So a change is another version than at the visit
    before, live and on a tape alike.
    """

    def __init__(self, settings: ExpectationSettings, max_age: float = 86_400.0) -> None:
        """`max_age` is the age in seconds from which on a document is no news."""
        self.settings, self.max_age = settings, max_age
        self._priors = np.array(
            [
                (
                    settings.prior_hours,
                    settings.prior_links,
                    settings.prior_weight,
                    settings.fresh_first,
                    settings.lift_most,
                    max_age,
                    settings.retry_after,
                    1 - 1 / settings.lift_memory,
                    1 - 1 / settings.backlog_memory,
                    settings.breadth,
                    settings.text_breadth,
                )
            ],
            dtype=PRIORS,
        )
        pages, links = settings.prior_weight * settings.prior_hours, settings.prior_weight * settings.prior_links
        self._means = np.full((MEANS, 2), settings.prior_weight)
        self._means[HUB] = settings.hub_rate * pages, pages
        self._means[TEXT] = settings.text_rate * pages, pages
        self._means[FRESH] = settings.fresh_share * links, links
        self._means[BACKLOG:SPREAD, 0] *= settings.backlog_worth
        self._means[SPREAD:LISTS] = 0.0
        self._means[LISTS:LOOK, 0] *= settings.list_share
        self._means[LOOK, 0] *= settings.hub_rate * max_age / 3600
        self._table = np.empty(0, dtype=PAGE)
        self._glances = np.empty(0, dtype=GLANCE)
        self._known, self._hubs = np.zeros(1, np.int64), np.zeros(1, np.int64)
        self._met = np.empty(0, np.int64)
        self._held = np.empty(0, np.int64)
        self.history = History(about=self.about)
        """What score functions read: visits, changes and when they were."""
        self.log: VisitLog | None = None
        """The visits themselves, if somebody learns from them."""
        self.reserve(1024)

    def __repr__(self) -> str:
        return f"<PageTable of {int((self._table['visits'] > 0).sum())} pages, {len(self.hubs)} lists>"

    def mind(
        self,
        rows: NDArray[np.int32] = NO_ROWS,
        vectors: NDArray[np.float32] = NO_VECTORS,
        appeal: NDArray[np.float64] = NO_APPEAL,
        appeal_share: float = 0.0,
        pace: NDArray[np.void] = NO_PACE,
    ) -> Mind:
        """For kernels, with what others know. Do not keep it: arrays are replaced as they grow."""
        return Mind(
            self._table,
            self._means,
            self._priors,
            self._known,
            self._hubs,
            self._glances,
            self._held,
            self.history.tables,
            NO_LOG if self.log is None else self.log.log,
            rows,
            vectors,
            appeal,
            appeal_share,
            pace,
        )

    def keep_histories(self, history: History, log: VisitLog | None = None) -> None:
        """From now on histories are kept in this form, with a trail or without, and visits in a log, if there is one."""
        history.restore(self.history.columns())
        history.about = self.about
        self.history, self.log = history, log
        self.make_room(0)

    @property
    def size(self) -> int:
        """There is room for URL numbers below this."""
        return len(self._table)

    @property
    def hubs(self) -> NDArray[np.int64]:
        """The known list pages, in the order in which they became known; a view."""
        return self._hubs[1 : 1 + self._hubs[0]]

    def worth(self, urls: NDArray[np.int64], now: float) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """For each page the new documents expected of a download now, and whether it is a fresh link."""
        self.reserve(highest(urls) + 1)
        return worths(self._table, urls, self._means, self._priors, now)

    def worth_of(self, url: UrlId, now: float) -> float:
        """The new documents expected of one page."""
        self.reserve(url + 1)
        return worth_of_one(self._table, url, self._means, self._priors, now)

    def rank(self, urls: NDArray[np.int64], now: float) -> NDArray[np.float64]:
        """For each page what it is ordered by."""
        self.reserve(highest(urls) + 1)
        return ranks(self._table, urls, self._means, self._priors, now)

    def pick(
        self, urls: NDArray[np.int64], now: float, leaning: NDArray[np.float64], luck: float
    ) -> tuple[int, float, bool, float]:
        """The page that promises most: its index, its worth, whether it is a fresh link; and the largest worth of any.

        `leaning` holds a factor for each page, or nothing; `luck` in [0, 1) breaks ties. There must be room for them.
        """
        return pick(self._table, urls, self._means, self._priors, self._glances, now, leaning, luck)

    def most_promising(
        self, urls: NDArray[np.int64], now: float, leaning: NDArray[np.float64], size: int, *, plain: bool = False
    ) -> NDArray[np.int64]:
        """The `size` of these pages that promise most, by rising number, as `urls` are; among equals the lower numbers.

        `plain`: by worth alone; `leaning` holds a factor for each page, or nothing.
        """
        self.reserve(highest(urls) + 1)
        return most_promising(self._table, urls, self._means, self._priors, self._glances, now, leaning, plain, size)

    def fresh(self, links: NDArray[np.int64], now: float) -> NDArray[np.int64]:
        """Those of these links that just appeared and are worth a download."""
        self.reserve(highest(links) + 1)
        return fresh_links(self._table, links, self._means, self._priors, now)

    def chance(self, urls: NDArray[np.int64], now: float) -> NDArray[np.float64]:
        """For each page the chance that it has any news now."""
        self.reserve(highest(urls) + 1)
        return chances(self._table, urls, self._means, self._priors, now)

    def rate(self, urls: NDArray[np.int64]) -> NDArray[np.float64]:
        """For each page its news per hour."""
        self.reserve(highest(urls) + 1)
        return rates(self._table, urls, self._means, self._priors)

    def hits(self) -> NDArray[np.float64]:
        """By URL number, the documents that each page has revealed; a copy."""
        return np.array(self._table["hits"])

    def visited(self, urls: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which pages somebody has seen."""
        self.reserve(highest(urls) + 1)
        return np.asarray(self._table["visits"][urls] > 0)

    def returns(self, urls: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which pages can bring news again: lists, and texts that did so before."""
        self.reserve(highest(urls) + 1)
        return returning(self._table, urls)

    def about(self, urls: slice | NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Of some pages: 1 for lists of links, else 0; and how many pages link there."""
        self.reserve((urls.stop if isinstance(urls, slice) else highest(urls) + 1) or 0)
        pages = self._table[urls]
        return pages["hub"].astype(np.float64), pages["links_in"].astype(np.float64)

    def revealer(self, url: UrlId) -> UrlId:
        """The page on which a link here was met first; -1 if it never was."""
        return UrlId(int(self._table["revealer"][url])) if url < len(self._table) else UrlId(-1)

    def going(self, url: UrlId, now: float) -> None:
        """Somebody is on the way: the page is worth nothing to others for the moment."""
        self.reserve(url + 1)
        note_going(self._table, url, now)

    def arrived(self, url: UrlId) -> bool:
        """The way ended at a shared copy: as if nobody had gone. Whether that copy is of the page's first visit."""
        self.reserve(url + 1)
        return note_arrived(self._table, url)

    def record(
        self,
        url: UrlId,
        when: float,
        *,
        version: int = -1,
        ok: bool = True,
        hub: bool = False,
        made: bool = True,
        links: NDArray[np.int64] = NO_LINKS,
    ) -> tuple[bool, int]:
        """Record a visit; whether it was the first, and how many of its links nobody had met.

        Not `ok`: nobody can say whether there is a page, so it is worth trying again. Not `made`: the server was not asked.
        """
        self.reserve(max(url, highest(links)) + 1)
        self.make_room(1)
        return record_one(self.mind(), url, when, version, ok, hub, made, links)

    def shown(self, url: UrlId, when: float, links: NDArray[np.int64], *, first: bool) -> None:
        """Enter links whose documents a page shows itself; `first`: nobody had visited it before."""
        self.reserve(max(url, highest(links)) + 1)
        note_shown(self._table, links, url, when, first, self._means, self._known)

    def recall(self, pages: IntArray, when: FloatArray, changed: BoolArray) -> None:
        """Enter visits of distinct pages in their histories alone: such as an archive or the store knows of."""
        self.reserve(highest(pages) + 1)
        self.history.note_all(pages, when, changed)
        if self.log is not None:
            self.log.add(pages, when, changed)

    def holds(self, page: int, version: int) -> None:
        """Our copy of a page is of this version, as the store says."""
        self.reserve(page + 1)
        self._held[page] = version

    def met(self) -> NDArray[np.int64]:
        """The pages that were visited or seen as a link, by rising number; do not change it."""
        before, known = len(self._met), int(self._known[0])
        if known > before:
            late = np.sort(self._known[1 + before : 1 + known])
            self._met = np.sort(np.concatenate([self._met, late]), kind="stable")  # merges two runs that rise
        return self._met

    def met_after(self, count: int) -> NDArray[np.int64]:
        """The same without the first so many, in the order in which they became known."""
        return self._known[1 + count : 1 + self._known[0]].copy()

    def promise(self, urls: NDArray[np.int64], published: NDArray[np.float64], now: float) -> None:
        """Dates that a feed or news sitemap gives for links just met: young ones are fresh, old ones backlog."""
        self.reserve(highest(urls) + 1)
        self._table["fresh"][urls] = now - published <= self.max_age

    def foretell(self, url: UrlId, hours: float, hits: float) -> None:
        """Somebody else watched a page that nobody has visited yet, for so many hours, and saw news so many times."""
        self.reserve(url + 1)
        if not self._table["visits"][url]:
            self._table["hours"][url] += hours
            self._table["hits"][url] += hits
            weigh(self._means, TEXT, hits, hours, 1.0)

    def signal(self, links: NDArray[np.int64], when: float) -> None:
        """A page with these links just had news: its neighbours may have some too."""
        self.reserve(highest(links) + 1)
        note_signal(self._table, links, when)

    def credit(self, finding: Finding) -> bool:
        """A document was accepted: it pays the page that revealed it, unless it stood there before anybody looked.

        Whether it was paid.
        """
        if finding.revealed_by < 0:
            return False
        self.reserve(max(finding.url, finding.revealed_by) + 1)
        return record_credit(self.mind(), finding.url, finding.revealed_by)

    def reserve(self, urls: int) -> None:
        """Have room for URL numbers below `urls`."""
        self.history.grow(urls)
        if urls <= len(self._table):
            return
        grown = np.zeros(max(urls, 2 * len(self._table)), dtype=PAGE)
        for never in ("last", "asked", "met", "signal"):
            grown[never] = -np.inf
        grown["revealer"] = -1
        grown[: len(self._table)] = self._table
        self._table, self._glances = grown, np.zeros(len(grown), dtype=GLANCE)
        self._known, self._hubs = (widened(column, len(grown) + 1) for column in (self._known, self._hubs))
        self._held = np.concatenate([self._held, np.full(len(grown) - len(self._held), -1, dtype=np.int64)])
        self.make_room(0)

    def make_room(self, visits: int) -> None:
        """Have room for so many more visits."""
        self.history.make_room(visits)
        if self.log is not None:
            self.log.make_room(len(self._table), visits)

    def end_at(self, now: float) -> None:
        """Nothing that is known happened later than this."""
        for moment in ("last", "asked", "met", "signal"):
            np.minimum(self._table[moment], now, out=self._table[moment])

    def save(self) -> bytes:
        return self.saving()()

    def saving(self) -> Callable[[], bytes]:
        """What `save` gives, as of now; it may be packed later, by another thread. The log is not in it: the store has all
        visits."""
        held = {"table": self._table, "means": self._means, "hubs": self.hubs, "held": self._held}
        copied, history = {name: np.array(column) for name, column in held.items()}, self.history.copied()
        return lambda: pack(KIND, FORM, copied | history.columns())

    @classmethod
    def load(cls, saved: bytes, settings: ExpectationSettings, max_age: float = 86_400.0) -> "PageTable":
        held = unpack(KIND, FORM, saved, older=(OLDER,))
        loaded = cls(settings, max_age)
        loaded._table = np.asarray(held["table"], dtype=PAGE)
        loaded._glances = np.zeros(len(loaded._table), dtype=GLANCE)
        loaded._means = np.asarray(held["means"], dtype=np.float64)
        table = loaded._table
        known = np.flatnonzero((table["visits"] > 0) | (table["failures"] > 0) | (table["met"] > -np.inf))
        loaded._known, loaded._hubs = (
            widened(np.concatenate([[len(urls)], urls]), len(loaded._table) + 1) for urls in (known, held["hubs"])
        )
        loaded._held = np.full(len(table), -1, dtype=np.int64)
        if "held" in held:
            loaded.restore(held)
        return loaded

    def restore(self, columns: Mapping[str, NDArray[np.generic]]) -> None:
        """Take up histories and the versions held, saved with the table or, by an earlier version, by themselves."""
        if "trail_page" in columns and self.history.trail is None:
            self.history = History(trail=Trail(), about=self.about)
        self.history.restore(columns)
        held = np.asarray(columns["held"], dtype=np.int64)
        self.reserve(len(held))
        self._held[: len(held)] = held
