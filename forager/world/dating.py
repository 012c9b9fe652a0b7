"""When was a page published? What the page says, what a feed announced, and when we first met its link, weighed by trust."""

from forager.pages.reader import Page
from forager.pages.trust import Trust
from forager.pages.urls import site
from forager.store.protocol import Known
from forager.store.store import Store
from forager.terms import Dated, DateSource, UrlId


class Dating:
    """Chooses the publication date to believe, and learns which sources lie where."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.trust = Trust()
        self._announced: dict[UrlId, float] = {}
        self._first: dict[UrlId, float] = {}
        """When the pages that revealed others were first kept."""

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
