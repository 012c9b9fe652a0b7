"""The page table: what all visits, of foragers and of the recrawl cycle, showed of each page."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from forager.arrays import BoolArray, ByteArray, Float32Array, FloatArray, Int32Array, IntArray, RowArray, widened
from forager.core.addresses import Forms
from forager.core.best_pages import GLANCE, fresh_links, most_promising, pick
from forager.core.expectation import chances, ranks, rates, returning, worths
from forager.core.exploration import PACE
from forager.core.findings import NO_LINKS, Finding
from forager.core.packed import pack, unpack
from forager.core.page_row import (
    BACKLOG,
    FRESH,
    HAZARD,
    HUB,
    LISTS,
    LOOK,
    MEANS,
    OLD,
    OUTLOOK,
    PAGE,
    PASSED,
    PRIORS,
    RHYTHM,
    SPREAD,
    STALE,
    TEXT,
    Mind,
    highest,
)
from forager.core.parameters import ExpectationSettings
from forager.core.updates import (
    note_arrived,
    note_going,
    note_shown,
    note_signal,
    record_credit,
    record_visit,
    weigh,
)
from forager.recrawl.history import LOGGED, Facts, History, Log, PageFactsOf
from forager.recrawl.list_estimates import ELSEWHERE_LEAST, FIRST_GONE, FIRST_HOURS, HAZARD_HOURS, HAZARD_LEAST
from forager.recrawl.poisson import Trail
from forager.recrawl.visit_log import VisitLog
from forager.terms import Url, UrlId

KIND, FORM = "visit statistics", 4
OLDER = 3
"""The format without histories, which were saved separately."""
MOMENTS = ("last", "before", "asked", "met", "signal", "paid_at")
"""The columns that hold times; -inf for never."""
OLD_SHARE = 0.02
"""Initial share of new documents among pages that are too old by their date."""
NO_ROWS: Int32Array = np.empty(0, np.int32)
NO_VECTORS: Float32Array = np.empty((0, 0), np.float32)
NO_APPEAL: FloatArray = np.empty(0)
NO_PACE: RowArray = np.zeros(1, PACE)
NO_MARKS: ByteArray = np.empty((0, 0), np.uint8)
NO_LOG = Log(np.empty(0, dtype=LOGGED), np.zeros(2, np.int64), np.empty(0, np.int64))


class Introduced(NamedTuple):
    """What is known of a page before the first visit."""

    url: Url
    is_list: bool
    """Whether it is announced as a list: a feed or a sitemap."""
    is_main: bool
    """Whether it is a seed, or a list that a seed announces."""
    published: float | None
    """The date from a feed or news sitemap."""


class PageTable:
    """One row per URL; the table grows. `going`, `record` and `credit` change it, queries do not.

    Versions have numbers. A page gets a new version when it changes as defined by the settings (`visits.change`: a new
    link for lists, another text for the rest). So a change is a version that differs from that of the previous visit,
    live and on a tape alike.
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
                    settings.main_rate,
                    settings.hub_rate,
                    settings.hub_weight,
                    settings.place_weight,
                    settings.patience,
                    settings.text_rate * settings.prior_weight * settings.prior_hours,
                    settings.rhythm,
                )
            ],
            dtype=PRIORS,
        )
        self.impatient = self._priors.copy()
        """The priors of a crawl that is about to end."""
        self.impatient["patience"] = 0.0
        pages, links = settings.prior_weight * settings.prior_hours, settings.prior_weight * settings.prior_links
        self._means = np.full((MEANS, 2), settings.prior_weight)
        self._means[HUB] = settings.hub_rate * pages, pages
        self._means[TEXT] = settings.text_rate * pages, pages
        self._means[FRESH] = settings.fresh_share * links, links
        self._means[BACKLOG:SPREAD, 0] *= settings.backlog_worth
        self._means[SPREAD:LISTS] = 0.0
        self._means[LISTS:LOOK, 0] *= settings.list_share
        self._means[OLD, 0] *= OLD_SHARE
        self._means[HAZARD:] = 0.0
        self._means[PASSED:RHYTHM, 0] = np.arange(RHYTHM - PASSED)
        self._table = np.empty(0, dtype=PAGE)
        self._glances, self._scratch = np.empty(0, dtype=GLANCE), _scratch(0)
        self._outlook = np.full(OUTLOOK, np.nan)
        self._known, self._hubs = np.zeros(1, np.int64), np.zeros(1, np.int64)
        self._met = np.empty(0, np.int64)
        self._held = np.empty(0, np.int64)
        self.history = History(about=_facts_of(self))
        """What score functions read: visits, changes and their times."""
        self.log: VisitLog | None = None
        """The single visits, if functions are learned from them."""
        self.forms = Forms()
        self.addresses: Callable[[int], Iterable[Introduced]] | None = None
        """Returns what is known before the first visit of all pages from a number on; None if unknown."""
        self.reserve(1024)

    def __repr__(self) -> str:
        return f"<PageTable of {int((self._table['visits'] > 0).sum())} pages, {len(self.hubs)} lists>"

    def mind(
        self,
        rows: Int32Array = NO_ROWS,
        vectors: Float32Array = NO_VECTORS,
        appeal: FloatArray = NO_APPEAL,
        appeal_share: float = 0.0,
        pace: RowArray = NO_PACE,
        marks: ByteArray = NO_MARKS,
        prospects: FloatArray = NO_APPEAL,
    ) -> Mind:
        """The input of the kernels. Do not keep it: the arrays are replaced as they grow."""
        self._outlook[STALE] = 1.0
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
            marks,
            prospects,
            self._outlook,
            self._scratch,
        )

    def keep_histories(self, history: History, log: VisitLog | None = None) -> None:
        """Sets how histories are kept: with or without a trail, and with a log of visits, if any."""
        history.restore(self.history.columns())
        history.about = _facts_of(self)
        self.history, self.log = history, log
        self.make_room(0)

    @property
    def size(self) -> int:
        """There is room for URL numbers below this."""
        return len(self._table)

    @property
    def hubs(self) -> IntArray:
        """The known lists, in the order in which they became known; a view."""
        return self._hubs[1 : 1 + self._hubs[0]]

    def worth(self, urls: IntArray, now: float) -> tuple[FloatArray, BoolArray]:
        """For each page its worth, and whether it is a fresh link."""
        self.reserve(highest(urls) + 1)
        return worths(self.mind(), urls, now)

    def rank(self, urls: IntArray, now: float) -> FloatArray:
        """The promise of each page."""
        self.reserve(highest(urls) + 1)
        return ranks(self.mind(), urls, now)

    def pick(self, urls: IntArray, now: float, leaning: FloatArray, luck: float) -> tuple[int, float, bool, float]:
        """The most promising page: its index, its worth, whether it is a fresh link; and the largest worth of any page.

        `leaning` holds a factor for each page, or is empty; `luck` breaks ties. There must be room for these pages.
        """
        return pick(self.mind(), urls, now, leaning, luck, np.inf)

    def most_promising(
        self, urls: IntArray, now: float, leaning: FloatArray, size: int, *, plain: bool = False
    ) -> IntArray:
        """The `size` most promising pages, sorted by number like `urls`; the lower numbers among equals.

        `plain`: by worth alone. `leaning` holds a factor for each page, or is empty.
        """
        self.reserve(highest(urls) + 1)
        return most_promising(self.mind(), urls, now, leaning, plain, size)

    def fresh(self, links: IntArray, now: float) -> IntArray:
        """The links that just appeared and are worth a download."""
        self.reserve(highest(links) + 1)
        return fresh_links(self.mind(), links, now)

    def youngest(self, links: IntArray, most: int) -> IntArray:
        """The `most` links with the latest dates, in the order of `links`."""
        if len(links) <= most:
            return links
        self.reserve(highest(links) + 1)
        order = np.argsort(-self._table["latest"][links], kind="stable")  # unknown dates come last
        return np.asarray(links[np.sort(order[:most])])

    def chance(self, urls: IntArray, now: float) -> FloatArray:
        """For each page the probability that it has any news now."""
        self.reserve(highest(urls) + 1)
        return chances(self.mind(), urls, now)

    def rate(self, urls: IntArray) -> FloatArray:
        """For each page its news per hour."""
        self.reserve(highest(urls) + 1)
        return rates(self.mind(), urls)

    def hits(self) -> FloatArray:
        """For each URL number, the documents that the page has revealed; a copy."""
        return np.array(self._table["hits"])

    def visited(self, urls: IntArray) -> BoolArray:
        """Which pages have been visited."""
        self.reserve(highest(urls) + 1)
        return np.asarray(self._table["visits"][urls] > 0)

    def returns(self, urls: IntArray) -> BoolArray:
        """Which pages can bring news again: lists, and texts that did so before."""
        self.reserve(highest(urls) + 1)
        return returning(self.mind(), urls)

    def about(self, urls: slice | IntArray) -> Facts:
        """What score functions read of pages besides their visits."""
        self.reserve((urls.stop if isinstance(urls, slice) else highest(urls) + 1) or 0)
        pages, means, lists = self._table[urls], self._means, self._table["hub"][urls]
        news = rates(self.mind(), np.arange(len(self._table))[urls])
        usual = max(HAZARD_LEAST, (means[HAZARD, 0] + FIRST_GONE) / (means[HAZARD, 1] + FIRST_HOURS))
        hazard = (pages["gone"] + HAZARD_HOURS * usual) / (pages["stood_hours"] + HAZARD_HOURS)
        return Facts(
            lists.astype(np.float64),
            pages["links_in"].astype(np.float64),
            news,
            np.where(lists, np.maximum(HAZARD_LEAST, hazard), news),
            np.where(lists, pages["elsewhere"] / (pages["hits"] + ELSEWHERE_LEAST), 0.0),
            np.maximum(pages["length"], 1).astype(np.float64),
            tuple(np.diff(means[PASSED:RHYTHM, 0]).tolist()),
        )

    def lasts(self, count: int) -> FloatArray:
        """When each of the first `count` pages was last visited; -inf for never."""
        self.reserve(count)
        return np.array(self._table["last"][:count])

    def is_list(self, url: UrlId) -> bool:
        """Whether a visit has shown that a page is a list."""
        return bool(url < len(self._table) and self._table["hub"][url])

    def revealer(self, url: UrlId) -> UrlId:
        """The page on which a link to this page was first found; -1 if none."""
        return UrlId(int(self._table["revealer"][url])) if url < len(self._table) else UrlId(-1)

    def going(self, url: UrlId, now: float) -> None:
        """Records that a visit is under way, so that meanwhile the page is worth nothing to others."""
        self.reserve(url + 1)
        note_going(self.mind(), url, now)

    def arrived(self, url: UrlId) -> bool:
        """Records that a shared copy was used instead of a visit; returns whether that copy is of the page's first
        visit.
        """
        self.reserve(url + 1)
        return note_arrived(self.mind(), url)

    def record(
        self,
        url: UrlId,
        when: float,
        *,
        version: int = -1,
        ok: bool = True,
        hub: bool = False,
        made: bool = True,
        links: IntArray = NO_LINKS,
    ) -> tuple[bool, int]:
        """Records a visit; returns whether it was the first, and how many of its links were unknown.

        Not `ok`: it is unknown whether there is a page, so it is worth trying again. Not `made`: the server was not
        asked.
        """
        self.reserve(max(url, highest(links)) + 1)
        self.meet_addresses()
        self.make_room(1)
        return record_visit(self.mind(), url, when, version, ok, hub, made, links)

    def shown(self, url: UrlId, when: float, links: IntArray, *, first: bool) -> None:
        """Adds links whose documents a page shows itself; `first`: the page was never visited before."""
        self.reserve(max(url, highest(links)) + 1)
        note_shown(self.mind(), links, url, when, first)

    def recall(self, pages: IntArray, when: FloatArray, changed: BoolArray) -> None:
        """Adds visits of distinct pages only to their histories, such as visits from an archive or the store."""
        self.reserve(highest(pages) + 1)
        self.history.note_all(pages, when, changed)
        if self.log is not None:
            self.log.add(pages, when, changed)

    def holds(self, page: int, version: int) -> None:
        """Sets the version that a page showed last, from the store."""
        self.reserve(page + 1)
        self._held[page] = version

    def met(self) -> IntArray:
        """The pages that were visited or found as a link, sorted by number; do not change the array."""
        before, known = len(self._met), int(self._known[0])
        if known > before:
            late = np.sort(self._known[1 + before : 1 + known])
            self._met = np.sort(np.concatenate([self._met, late]), kind="stable")  # merges two sorted runs
        return self._met

    def met_after(self, count: int) -> IntArray:
        """These pages without the first `count`, in the order in which they became known."""
        return self._known[1 + count : 1 + self._known[0]].copy()

    def meet_addresses(self) -> None:
        """Learns from the addresses of new pages."""
        if self.addresses is None:
            return
        told = list(self.addresses(self.forms.count))
        if told:
            begin = self.forms.count
            self.take_places(begin, *self.forms.add(one.url for one in told))
            for number, one in enumerate(told, begin):
                self._table["listed"][number], self._table["main"][number] = one.is_list, one.is_main
                if one.published is not None:
                    self._table["latest"][number], self._table["announced"][number] = one.published, True

    def take_places(self, begin: int, places: IntArray, latest: FloatArray) -> None:
        """Sets, from page `begin` on, the first page of the same form, and the latest date by the address."""
        end = begin + len(places)
        self.reserve(end)
        self._table["place"][begin:end] = places
        self._table["latest"][begin:end] = np.fmin(self._table["latest"][begin:end], latest)

    def name_main(self, urls: IntArray) -> None:
        """Marks these pages as seeds."""
        self.reserve(highest(urls) + 1)
        self._table["main"][urls] = True

    def date(self, urls: IntArray, published: FloatArray) -> None:
        """Sets the dates that a feed or news sitemap gives for known pages."""
        self.reserve(highest(urls) + 1)
        self._table["latest"][urls], self._table["announced"][urls] = published, True

    def bound(self, urls: IntArray, latest: FloatArray | float) -> None:
        """Sets the latest possible date of these pages, unless a feed or news sitemap gave a date."""
        self.reserve(highest(urls) + 1)
        self.meet_addresses()
        latest = np.broadcast_to(latest, urls.shape)
        stated = self._table["announced"][urls]
        self._table["latest"][urls[~stated]] = np.fmin(self._table["latest"][urls[~stated]], latest[~stated])

    def lean_to_topic(self, urls: IntArray, shares: FloatArray) -> None:
        """Sets the share of the documents of these lists that is on topic, or the probability that these unread pages
        are.
        """
        self.reserve(highest(urls) + 1)
        self._table["topical"][urls] = shares

    def topical(self, url: UrlId) -> float:
        """The value set by `lean_to_topic`; 1 if none was."""
        return float(self._table["topical"][url]) if url < len(self._table) else 1.0

    def foretell(self, url: UrlId, hours: float, hits: float) -> None:
        """Adds what an archive saw of a never-visited page: the hours of watching and the number of news."""
        self.reserve(url + 1)
        if not self._table["visits"][url]:
            self._table["hours"][url] += hours
            self._table["hits"][url] += hits
            weigh(self._means, TEXT, hits, hours, 1.0)

    def signal(self, links: IntArray, when: float) -> None:
        """Records that a page with these links just had news, so that its neighbours may have some too."""
        self.reserve(highest(links) + 1)
        note_signal(self.mind(), links, when)

    def credit(self, finding: Finding) -> bool:
        """Credits an accepted document to the page that revealed it, unless it was there before the first visit.

        Returns whether it was credited.
        """
        if finding.revealed_by < 0:
            return False
        self.reserve(max(finding.url, finding.revealed_by) + 1)
        return record_credit(self.mind(), finding.url, finding.revealed_by, finding.published)

    def reserve(self, urls: int) -> None:
        """Makes room for URL numbers below `urls`."""
        self.history.grow(urls)
        if urls <= len(self._table):
            return
        grown = _blank_rows(max(urls, 2 * len(self._table)))
        grown[: len(self._table)] = self._table
        self._table, self._glances = grown, np.zeros(len(grown), dtype=GLANCE)
        self._scratch = _scratch(len(grown))
        self._known, self._hubs = (widened(column, len(grown) + 1) for column in (self._known, self._hubs))
        self._held = np.concatenate([self._held, np.full(len(grown) - len(self._held), -1, dtype=np.int64)])
        self.make_room(0)

    def make_room(self, visits: int) -> None:
        """Makes room for this many more visits."""
        self.history.make_room(visits)
        if self.log is not None:
            self.log.make_room(len(self._table), visits)

    def end_at(self, now: float) -> None:
        """Moves all times after this one back to it."""
        for moment in MOMENTS:
            np.minimum(self._table[moment], now, out=self._table[moment])

    def save(self) -> bytes:
        return self.saving()()

    def saving(self) -> Callable[[], bytes]:
        """The work of `save`, for the present state; another thread may do it later. The log is left out, because the
        store has all visits.
        """
        held = {
            "table": self._table,
            "means": self._means,
            "hubs": self.hubs,
            "held": self._held,
            "known": self.met_after(0),
        }
        copied, history = {name: np.array(column) for name, column in held.items()}, self.history.copied()
        return lambda: pack(KIND, FORM, copied | history.columns())

    @classmethod
    def load(cls, saved: bytes, settings: ExpectationSettings, max_age: float = 86_400.0) -> "PageTable":
        held = unpack(KIND, FORM, saved, older=(OLDER,))
        loaded = cls(settings, max_age)
        loaded._table = _in_form(held["table"])
        loaded._glances = np.zeros(len(loaded._table), dtype=GLANCE)
        loaded._scratch = _scratch(len(loaded._table))
        loaded._means[: len(held["means"])] = held["means"]
        table = loaded._table
        known = held.get("known")
        if known is None:  # an earlier version did not keep the order in which pages became known
            known = np.flatnonzero((table["visits"] > 0) | (table["failures"] > 0) | (table["met"] > -np.inf))
        loaded._known, loaded._hubs = (
            widened(np.concatenate([[len(urls)], urls]), len(loaded._table) + 1) for urls in (known, held["hubs"])
        )
        loaded._held = np.full(len(table), -1, dtype=np.int64)
        if "held" in held:
            loaded.restore(held)
        return loaded

    def restore(self, columns: Mapping[str, NDArray[np.generic]]) -> None:
        """Restores histories and versions, saved with the table or, by an earlier version, separately."""
        if "trail_page" in columns and self.history.trail is None:
            self.history = History(trail=Trail(), about=_facts_of(self))
        self.history.restore(columns)
        held = np.asarray(columns["held"], dtype=np.int64)
        self.reserve(len(held))
        self._held[: len(held)] = held


def _facts_of(pages: PageTable) -> PageFactsOf:
    """What a history asks of its page table. It does not keep the table in memory, so that the table is free at once."""
    table = ref(pages)

    def about(urls: slice | IntArray) -> Facts:
        asked = table()
        assert asked is not None
        return asked.about(urls)

    return about


def _blank_rows(count: int) -> RowArray:
    """Rows of this many pages of which nothing is known."""
    blank = np.zeros(1, dtype=PAGE)
    blank["revealer"], blank["latest"], blank["urgency"] = -1, np.nan, 1.0
    blank["topical"] = 1.0
    for never in MOMENTS:
        blank[never] = -np.inf
    rows = np.repeat(blank, count)  # far faster than filling each column
    rows["place"] = np.arange(count)
    return rows


def _scratch(pages: int) -> FloatArray:
    """Room for the figures of a choice, which may name each page up to three times."""
    return np.empty((4, 3 * pages))


def _in_form(table: NDArray[Any]) -> RowArray:
    """A saved table, perhaps with fewer columns, in the current format."""
    whole = _blank_rows(len(table))
    for name in set(table.dtype.names or ()) & set(PAGE.names or ()):
        whole[name] = table[name]
    if "came" not in (table.dtype.names or ()):  # an earlier version did not tell these apart
        lists, gaps = whole["hub"], np.maximum(whole["visits"] - 1, 1)
        whole["came"], whole["seen_hours"] = whole["hits"] * lists, whole["hours"] * lists
        whole["hit_hours"] = whole["hours"] * np.minimum(1.0, whole["hits"] / gaps) * ~lists
    whole["from_list"] = (whole["revealer"] >= 0) & whole["hub"][whole["revealer"]]
    return whole
