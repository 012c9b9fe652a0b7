"""What the pages of a newsroom really show, when they change, and where a story is listed."""

from collections.abc import Iterable
from functools import cache

from forager.newsroom.article import Article
from forager.newsroom.newsroom import Newsroom, Truth
from forager.newsroom.site import NEWS_SPAN, Sheet, SheetKind, Site, entered
from forager.terms import Url


@cache
def whole_truth(newsroom: Newsroom) -> "WholeTruth":
    return WholeTruth(newsroom)


class WholeTruth(Truth):
    """Everything a newsroom knows about itself."""

    def __init__(self, newsroom: Newsroom) -> None:
        super().__init__(newsroom.sites)
        self._sites = newsroom.sites

    def removed(self, url: Url) -> float | None:
        """When the article at this URL is removed; None if never."""
        article = self.article(url)
        return None if article is None else article.removed

    def version_of(self, url: Url, now: float) -> int | None:
        """Version of the article that this URL shows, 0 at first; None if it shows none, as after a move."""
        article = self.article(url)
        shown = article is not None and self._sheet(url, now).kind is SheetKind.ARTICLE
        return article.version(now) if article is not None and shown else None

    def content_of(self, url: Url, now: float) -> str | None:
        """Identifier of the content of any URL, including lists and feeds; None if there is nothing."""
        return self._sheet(url, now).key or None

    def changes_of(self, url: Url, since: float, until: float) -> list[float]:
        """When the content of a URL changed in [since, until); for an article, its text (publication is no change)."""
        article = self.article(url)
        if article is not None:
            return [change.at for change in article.changes if since <= change.at < until]
        _, site, path = self._split(url)
        every = self._written_every(site, path)
        moments = sorted({entered(at, every) for at in _events(site.articles, news=path == "/sitemap-news.xml")})
        changed = {site.sheet(path, at).modified for at in moments if since <= at < until}
        opened = entered(site.opened, every)  # the start of the site is no change
        return sorted(at for at in changed if since <= at < until and at > opened)

    def first_visible(self, url: Url) -> dict[Url, float]:
        """The hubs, feed and news sitemap that listed a story, with the first time they did."""
        article = self.article(url)
        if article is None:
            return {}
        base, site, _ = self._split(url)
        visible = {}
        for path in ("/", *(place for place, _ in site.places(article)), site.feed, "/sitemap-news.xml"):
            at = entered(article.published, self._written_every(site, path))
            if path and any(article in listed for _, listed in site.sheet(path, at).lists):
                visible[Url(base + path)] = at
        return visible

    def links_of(self, url: Url, now: float) -> list[Url]:
        """Links in the content of a URL, with navigation; the links of the 'most read' box are noise."""
        base, site, path = self._split(url)
        return [Url(base + target) for target in sheet_links(site, site.sheet(path, now), now)]

    def hubs(self) -> list[Url]:
        """Home, section, topic and author pages of all papers."""
        return [Url(base + path) for base, site in self._sites.items() for path in site.hubs()]

    def _sheet(self, url: Url, now: float) -> Sheet:
        _, site, path = self._split(url)
        return site.sheet(path, now)

    def _split(self, url: Url) -> tuple[str, Site, str]:
        base = "/".join(url.split("/", 3)[:3])
        return base, self._sites[base], url[len(base) :] or "/"

    def _written_every(self, site: Site, path: str) -> float:
        """Seconds between rewrites; anything but feeds and sitemaps shows a change at once, at its whole second."""
        if path.startswith("/sitemap"):
            return site.settings.sitemap_every
        return site.settings.feed_every if path == site.feed else 1.0


def sheet_links(site: Site, sheet: Sheet, now: float) -> list[str]:
    """Paths that the content of an HTML sheet, feed or sitemap links to, with navigation, in order."""
    if sheet.kind in (SheetKind.MOVED, SheetKind.REMOVED, SheetKind.NOTHING, SheetKind.ROBOTS):
        return []
    listed = [site.href(sheet, article, now) for _, articles in sheet.lists for article in articles]
    own = [path for path, _ in sheet.links] + listed
    if sheet.kind in (SheetKind.FEED, SheetKind.SITEMAP, SheetKind.SITEMAP_INDEX):
        return own
    return [path for path, _ in site.nav] + own + [path for path, _ in site.footer]


def _events(articles: Iterable[Article], *, news: bool) -> Iterable[float]:
    """Every time at which some list may change."""
    for article in articles:
        yield article.published
        yield from (change.at for change in article.changes)
        yield from (at for at in (article.moved, article.removed) if at is not None)
        if news:
            yield article.published + NEWS_SPAN
