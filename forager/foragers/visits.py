"""Visit statistics: what all visits, of every forager and of the recrawl cycle, have taught about each page."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from forager.foragers.expectation import chances, rates, returning, worth_of_one, worths
from forager.foragers.glance import GLANCE
from forager.foragers.kernels import highest
from forager.foragers.noting import (
    note_arrived,
    note_credit,
    note_going,
    note_links,
    note_shown,
    note_signal,
    note_visit,
    weigh,
)
from forager.foragers.ranking import fresh_links, most_promising, pick, ranks
from forager.foragers.saving import packing, unpack
from forager.foragers.settings import ExpectationSettings
from forager.foragers.sighting import NO_LINKS, Finding
from forager.foragers.table import BACKLOG, FRESH, HUB, LISTS, LOOK, MEANS, PAGE, PRIORS, SPREAD, TEXT
from forager.terms import UrlId

IntArray = NDArray[np.int64]


class VisitStatistics:
    """One row per URL, growing. Asking changes nothing; `going`, `visit` and `credit` do."""

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
        self.reserve(1024)

    def __repr__(self) -> str:
        return f"<VisitStatistics of {int((self._table['visits'] > 0).sum())} pages, {len(self.hubs)} lists>"

    @property
    def columns(self) -> tuple[NDArray[np.void], NDArray[np.float64], NDArray[np.void], IntArray, IntArray]:
        """For kernels: the table of pages, the means, the priors, the known pages and the lists. Do not keep them."""
        return self._table, self._means, self._priors, self._known, self._hubs

    @property
    def glances(self) -> NDArray[np.void]:
        """For kernels: what is kept of pages so that they are ranked faster. Do not keep it."""
        return self._glances

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

    def visit(
        self, url: UrlId, when: float, *, ok: bool = True, hub: bool = False, links: NDArray[np.int64] = NO_LINKS
    ) -> tuple[bool, int]:
        """Enter a visit; whether it was the first, and how many of its links nobody had met.

        Not `ok`: nobody can say whether there is a page, so it is worth trying again.
        """
        self.reserve(max(url, highest(links)) + 1)
        table = self._table
        first = note_visit(table, url, when, ok, hub, self._means, self._priors, self._known, self._hubs)
        return first, note_links(table, links, url, when, first, self._means, self._known) if len(links) else 0

    def shown(self, url: UrlId, when: float, links: NDArray[np.int64], *, first: bool) -> None:
        """Enter links whose documents a page shows itself; `first`: nobody had visited it before."""
        self.reserve(max(url, highest(links)) + 1)
        note_shown(self._table, links, url, when, first, self._means, self._known)

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
        return note_credit(self._table, finding.url, finding.revealed_by, self._means)

    def reserve(self, urls: int) -> None:
        """Have room for URL numbers below `urls`."""
        if urls <= len(self._table):
            return
        grown = np.zeros(max(urls, 2 * len(self._table)), dtype=PAGE)
        for never in ("last", "asked", "met", "signal"):
            grown[never] = -np.inf
        grown["revealer"] = -1
        grown[: len(self._table)] = self._table
        self._table, self._glances = grown, np.zeros(len(grown), dtype=GLANCE)
        self._known, self._hubs = (np.resize(column, len(grown) + 1) for column in (self._known, self._hubs))

    def end_at(self, now: float) -> None:
        """Nothing that is known happened later than this."""
        for moment in ("last", "asked", "met", "signal"):
            np.minimum(self._table[moment], now, out=self._table[moment])

    def save(self) -> bytes:
        return self.saving()()

    def saving(self) -> Callable[[], bytes]:
        """What `save` gives, as of now; it may be packed later, by another thread."""
        return packing("visit statistics", 3, {"table": self._table, "means": self._means, "hubs": self.hubs})

    @classmethod
    def load(cls, saved: bytes, settings: ExpectationSettings, max_age: float = 86_400.0) -> "VisitStatistics":
        held = unpack("visit statistics", 3, saved)
        loaded = cls(settings, max_age)
        loaded._table = np.asarray(held["table"], dtype=PAGE)
        loaded._glances = np.zeros(len(loaded._table), dtype=GLANCE)
        loaded._means = np.asarray(held["means"], dtype=np.float64)
        table = loaded._table
        known = np.flatnonzero((table["visits"] > 0) | (table["failures"] > 0) | (table["met"] > -np.inf))
        loaded._known, loaded._hubs = (
            np.resize(np.concatenate([[len(urls)], urls]), len(loaded._table) + 1) for urls in (known, held["hubs"])
        )
        return loaded
