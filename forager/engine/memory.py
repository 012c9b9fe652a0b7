"""What a crawl remembers of pages between visits, in bounded memory: when they were published, and what lists showed.

When a page was published is judged by what it says, what a feed announced, and when its link was first seen, weighed by
trust. What drops out of memory is not lost: the store knows it.

Pages that are too old are recognised by their place in an archive, because many lists, and most sitemaps, name pages in
the order of their dates. Only few of the pages need to be visited: in a list that goes from new to old, all pages after
one of last week are older still. Only pages whose addresses have the same form are compared, because others stand
elsewhere on the page. The direction of lists is learned from neighbours with known dates, for all lists of one form of
address together; a list with a date that contradicts it tells nothing. It is also learned how deep in such lists young
pages stand; pages below that depth are taken to be old before any of them is visited. Some of these are still visited
now and then, to see whether this is true.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeVar

import numpy as np

from forager.arrays import Int32Array, IntArray
from forager.pages.page import Page
from forager.pages.trust import DAY, Trust
from forager.pages.urls import host, site
from forager.store.protocol import Known
from forager.store.store import Store
from forager.terms import Dated, DateSource, Url, UrlId

K = TypeVar("K")
V = TypeVar("V")

SIGHTINGS = 10_000
"""Number of pages whose last sighting, or whose links, are kept: about 10 MB with the links of usual pages. Ours."""
_MOST_TEXTS = 200_000
"""Number of texts remembered in a crawl in which each text is a document: about 20 MB. Ours."""
_FIRST_TEXTS = 20_000


def remember(known: dict[K, V], key: K, value: V, most: int) -> None:
    """Keeps a value as the latest, and forgets the oldest one if there are too many."""
    known.pop(key, None)
    known[key] = value
    if len(known) > most:
        del known[next(iter(known))]


class FirstTexts:
    """Remembers which page of a host showed a text first, to recognise copies; about 2 MB."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, int], Url] = {}

    def stood_elsewhere(self, url: Url, text_print: int) -> bool:
        """Whether another page of the host showed this text before; a fingerprint of 0 stands for no text."""
        if not text_print:
            return False
        first = self._first.setdefault((host(url), text_print), url)
        if len(self._first) > _FIRST_TEXTS:
            del self._first[next(iter(self._first))]
        return first != url


class Dating:
    """Chooses the publication date to believe, and learns which sources are wrong on which site."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.trust = Trust()
        self._announced: dict[UrlId, float] = {}
        self._first: dict[UrlId, float] = {}
        """When the pages that revealed others were first kept."""
        self._texts: dict[int, None] = {}
        """Prints of texts seen, where texts are the documents."""

    def __repr__(self) -> str:
        return f"<Dating by {self.trust!r}, {len(self._announced)} dates announced>"

    def announce(self, id: UrlId, published: float) -> None:
        """Records the date that a feed or news sitemap gives for a known page; the first one counts."""
        self._announced.setdefault(id, published)

    def kept(self, before: Known, now: float) -> None:
        """Records that a version of a page is stored: its first version dates the links that appear on it later."""
        if before.version is None:
            self._first.setdefault(before.id, now)

    async def published(self, known: Known, page: Page, now: float) -> Dated | None:
        """Returns the date to believe: from the page, from the feed that announced it, or of the first sighting of its
        link.
        """
        stated = self._announced.get(known.id) if known.published is None else known.published
        announced = None if stated is None else Dated(stated, DateSource.FEED)
        others = (announced, await self._first_sighting(known))
        return self.trust.published(site(known.url), page, others, now, new=known.version is None)

    async def published_text(self, known: Known, page: Page, now: float) -> Dated | None:
        """Returns the date to believe where each new text is a document; None if the text was seen before, on any page."""
        texts = self._texts
        is_new = page.text_print not in texts
        remember(texts, page.text_print, None, _MOST_TEXTS)
        if not is_new:
            return None
        stated = page.published_but({DateSource.TEXT})  # a day that a text mentions is not its own date
        if known.version is None:
            return stated or await self._first_sighting(known)
        return stated if stated is not None and now - stated.time < DAY else Dated(now, DateSource.FIRST_SEEN)

    async def _first_sighting(self, known: Known) -> Dated | None:
        """Returns when its link appeared; None if it was there already when the linking page was first visited."""
        if known.source is None:
            return None
        first = self._first.get(known.source)
        if first is None:
            versions = await self.store.versions(known.source)
            if not versions:
                return None
            first = self._first[known.source] = versions[0][1]
        return None if first >= known.found else Dated(known.found, DateSource.FIRST_SEEN)


class ShownLinks:
    """Remembers every link that the stored versions of the lists visited last have shown; the store knows those of the
    others.

    A link that a list never had makes a new version, so nothing else that the list showed needs to be kept.
    """

    def __init__(self, store: Store, most: int = SIGHTINGS) -> None:
        self.store, self.most = store, most
        self._shown: dict[UrlId, Int32Array] = {}  # in the order in which they were asked for

    async def new(self, id: UrlId, links: IntArray) -> int:
        """Counts the links that no stored version of a page showed."""
        shown = self._shown.get(id)
        if shown is None:
            shown = (await self.store.links_shown(id)).astype(np.int32)
        remember(self._shown, id, shown, self.most)
        return np.setdiff1d(links, shown).size

    def kept(self, id: UrlId, links: IntArray) -> None:
        """Records that a version with these links is stored."""
        if id in self._shown:
            self._shown[id] = np.union1d(self._shown[id], links).astype(np.int32)


PAIRS = 4
"""Pairs of dated pages after which the order of the lists of one form is believed, if hardly any pair contradicts it."""
CONTRARY = 20
"""In other lists of the form, one pair in this many may contradict the order."""
APART = 3600.0
"""Two dates have an order if they are this many seconds apart: what is written first may be published later."""
ENTRIES = 200_000
"""Entries of lists that are remembered, and as many dates: about 20 MB each. Ours."""

OLD_MOST = 8
"""A depth is believed after this many old pages were visited no deeper, and as many more for each young page found
there or deeper.
"""
DEEPEST = 200
"""Number of depths that are distinguished."""
NONE = 1 << 30
"""Deeper than any list."""

NEWEST_FIRST, OLDEST_FIRST, UNKNOWN = -1, 1, 0


@dataclass(slots=True)
class _Row:
    """The pages of one form in one list, in order."""

    ids: Sequence[UrlId]
    form: str
    """The form of the list's own address."""
    places: list[int] = field(default_factory=list)
    """The places of pages with known dates, in ascending order."""
    dates: list[float] = field(default_factory=list)
    old_places: range = range(0)
    """Places of the pages that `old` returned."""

    def put(self, place: int, date: float) -> Iterable[int]:
        """Enters a date; returns in which directions it and its neighbours go."""
        index = bisect_left(self.places, place)
        self.places.insert(index, place)
        self.dates.insert(index, date)
        return (way for pair in pairwise(self.dates[max(0, index - 1) : index + 2]) if (way := _way(*pair)))

    def goes(self, way: int) -> bool:
        """Whether no two neighbours go in the other direction."""
        return all(_way(*pair) != -way for pair in pairwise(self.dates))

    def depth(self, place: int, way: int) -> int:
        """Counts the pages of the list that are newer than the one at a place."""
        return place if way == NEWEST_FIRST else len(self.ids) - 1 - place

    def old(self, way: int, before: float, floor: int) -> tuple[Sequence[UrlId], float] | None:
        """Returns the pages that are older than one from before a time, or stand below a floor, and the latest date
        that they can have; None if it returned all of them before.
        """
        known = [
            (self.depth(place, way) + 1, date + APART) for place, date in zip(self.places, self.dates, strict=True)
        ]
        below, latest = min((one for one in known if one[1] < before), default=(len(self.ids), before))
        if floor < below:
            below, latest = floor, before - 1.0
        found = range(below, len(self.ids)) if way == NEWEST_FIRST else range(len(self.ids) - below)
        if len(found) <= len(self.old_places):
            return None
        self.old_places = found
        return self.ids[found.start : found.stop], latest


def _way(first: float, second: float) -> int:
    return UNKNOWN if abs(second - first) < APART else OLDEST_FIRST if second > first else NEWEST_FIRST


def _floor(old: Sequence[int], young: Sequence[int]) -> int:
    """Returns the depth from which on pages are taken to be old; `NONE` if there is none."""
    above, below = 0, sum(young)
    for depth in range(DEEPEST):
        above += old[depth]
        if above >= OLD_MOST * (1 + below):
            return depth
        below -= young[depth]
    return NONE


class ArchiveOrder:
    """Learns the order of lists from dates, and concludes which pages are old."""

    def __init__(self) -> None:
        self._lists: dict[UrlId, list[_Row]] = {}  # in the order in which they were read
        self._at: defaultdict[UrlId, list[tuple[_Row, int]]] = defaultdict(list)
        self._ways: defaultdict[str, dict[int, int]] = defaultdict(lambda: {NEWEST_FIRST: 0, OLDEST_FIRST: 0})
        self._depths: defaultdict[str, tuple[list[int], list[int]]] = defaultdict(
            lambda: ([0] * DEEPEST, [0] * DEEPEST)
        )
        """By form of lists: old and young pages seen at each depth."""
        self._floors: defaultdict[str, int] = defaultdict(lambda: NONE)
        self._dates: dict[UrlId, float] = {}
        self._entries = 0

    def __repr__(self) -> str:
        return f"<ArchiveOrder of {len(self._lists)} lists with {self._entries} entries>"

    def read(
        self, id: UrlId, form: str, groups: Iterable[Sequence[UrlId]], before: float
    ) -> list[tuple[Sequence[UrlId], float]]:
        """Enters a list: its pages in order, grouped by form of address. Returns the same as `dated`."""
        is_new = id not in self._lists
        self._forget(id)
        found = self._lists[id] = [_Row(ids, form) for ids in groups if len(ids) > 1]
        for row in found:
            self._entries += len(row.ids)
            for place, page in enumerate(row.ids):
                self._at[page].append((row, place))
                if page in self._dates:
                    self._enter(row, place, self._dates[page], before, teaches=is_new)
        while self._entries > ENTRIES and len(self._lists) > 1:
            self._forget(next(iter(self._lists)))
        return self._old(found, before)

    def dated(self, id: UrlId, date: float, before: float) -> list[tuple[Sequence[UrlId], float]]:
        """Enters the date of a page. Returns pages from before a time, and the latest date that they can have."""
        if id in self._dates:
            return []
        self._dates[id] = date
        if len(self._dates) > ENTRIES:
            del self._dates[next(iter(self._dates))]
        where = self._at.get(id, ())
        for row, place in where:
            self._enter(row, place, date, before, teaches=True)
        return self._old([row for row, _ in where], before)

    def _enter(self, row: _Row, place: int, date: float, before: float, *, teaches: bool) -> None:
        for way in row.put(place, date):
            self._ways[row.form][way] += teaches
        way = self._way_of(row.form)
        if way and teaches:
            old, young = self._depths[row.form]
            depth = min(row.depth(place, way), DEEPEST - 1)
            (old if date < before else young)[depth] += 1
            self._floors[row.form] = _floor(old, young)

    def _old(self, rows: Iterable[_Row], before: float) -> list[tuple[Sequence[UrlId], float]]:
        found = []
        for row in rows:
            way = self._way_of(row.form)
            said = row.old(way, before, self._floors[row.form]) if way and row.goes(way) else None
            if said is not None:
                found.append(said)
        return found

    def _way_of(self, form: str) -> int:
        """Returns the direction of the lists of a form."""
        ways = self._ways[form]
        way = max(ways, key=lambda one: ways[one])
        return way if ways[way] >= max(PAIRS, CONTRARY * ways[-way]) else UNKNOWN

    def _forget(self, id: UrlId) -> None:
        for row in self._lists.pop(id, ()):
            self._entries -= len(row.ids)
            for page in row.ids:
                left = [where for where in self._at[page] if where[0] is not row]
                if left:
                    self._at[page] = left
                else:
                    del self._at[page]
