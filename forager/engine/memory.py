"""What a crawl remembers of pages between visits, in bounded memory: when they were published, and what lists showed.

When a page was published is judged by what it says, what a feed announced, and when we first met its link, weighed by
trust. Whatever dropped out of memory is no loss: the store knows it.
"""

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
"""Pages whose last sighting, or whose links, are kept: about 10 MB with the links of usual pages. Ours."""
_MOST_TEXTS = 200_000
"""Texts remembered where each is a document: about 20 MB. Ours."""
_FIRST_TEXTS = 20_000


def remember(known: dict[K, V], key: K, value: V, most: int) -> None:
    """Keeps a value as the latest, and forgets the oldest one if there are too many."""
    known.pop(key, None)
    known[key] = value
    if len(known) > most:
        del known[next(iter(known))]


class FirstTexts:
    """Which page of a host showed a text first, to tell copies: some 2 MB."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, int], Url] = {}

    def stood_elsewhere(self, url: Url, text_print: int) -> bool:
        """Whether another page of the host showed this text before; a print of 0 is no text."""
        if not text_print:
            return False
        first = self._first.setdefault((host(url), text_print), url)
        if len(self._first) > _FIRST_TEXTS:
            del self._first[next(iter(self._first))]
        return first != url


class Dating:
    """Chooses the publication date to believe, and learns which sources lie where."""

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
        """A feed or news sitemap gives a date for a page that was known before; the first one counts."""
        self._announced.setdefault(id, published)

    def kept(self, before: Known, now: float) -> None:
        """A version of a page is kept: its first one dates the links that appear on it later."""
        if before.version is None:
            self._first.setdefault(before.id, now)

    async def published(self, known: Known, page: Page, now: float) -> Dated | None:
        """The date to believe: from the page, from the feed that announced it, or our first sighting."""
        stated = self._announced.get(known.id) if known.published is None else known.published
        announced = None if stated is None else Dated(stated, DateSource.FEED)
        others = (announced, await self._first_sighting(known))
        return self.trust.published(site(known.url), page, others, now, new=known.version is None)

    async def published_text(self, known: Known, page: Page, now: float) -> Dated | None:
        """The same where each new text is a document: one that a known page has now is new, unless it stood elsewhere."""
        texts = self._texts
        is_new = page.text_print not in texts
        remember(texts, page.text_print, None, _MOST_TEXTS)
        if not is_new:
            return None
        stated = page.published_but({DateSource.TEXT})  # a day that a text mentions is not its date
        if known.version is None:
            return stated or await self._first_sighting(known)
        return stated if stated is not None and now - stated.time < DAY else Dated(now, DateSource.FIRST_SEEN)

    async def _first_sighting(self, known: Known) -> Dated | None:
        """When its link appeared; unknown if it stood there already when we first looked at the linking page."""
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
    """Every link that the kept versions of a page showed, of the lists visited last; of the others the store knows.

    What brings a list a link that it never had makes a version, so nothing else that it showed need be kept.
    """

    def __init__(self, store: Store, most: int = SIGHTINGS) -> None:
        self.store, self.most = store, most
        self._shown: dict[UrlId, Int32Array] = {}  # in the order in which they were asked for

    async def new(self, id: UrlId, links: IntArray) -> int:
        """How many of these links no kept version of a page showed."""
        shown = self._shown.get(id)
        if shown is None:
            shown = (await self.store.links_shown(id)).astype(np.int32)
        remember(self._shown, id, shown, self.most)
        return np.setdiff1d(links, shown).size

    def kept(self, id: UrlId, links: IntArray) -> None:
        """A version with these links is kept."""
        if id in self._shown:
            self._shown[id] = np.union1d(self._shown[id], links).astype(np.int32)
