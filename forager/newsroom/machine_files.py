"""Files for machines: RSS, Atom and JSON feeds, sitemaps, robots.txt."""

import json
from collections.abc import Iterator, Sequence
from email.utils import formatdate
from html import escape

from forager.newsroom.article import Article
from forager.newsroom.newsroom_settings import FeedFormat
from forager.newsroom.sheets import BoundedCache, iso
from forager.newsroom.site import ALL_COMMENTS, FEEDS, Sheet, SheetKind, Site, comments_of, written_paths

XML = '<?xml version="1.0" encoding="UTF-8"?>\n'
TYPES = {
    FEEDS[FeedFormat.RSS]: "application/rss+xml; charset=utf-8",
    FEEDS[FeedFormat.ATOM]: "application/atom+xml; charset=utf-8",
    FEEDS[FeedFormat.JSON]: "application/feed+json",
    "/robots.txt": "text/plain; charset=utf-8",
}


class Files:
    """Writes the files of a site with the address `base`."""

    def __init__(self, site: Site, base: str) -> None:
        self.site, self.base = site, base
        self._kept: BoundedCache[bytes] = BoundedCache(16)

    def render(self, sheet: Sheet, now: float) -> tuple[str, bytes]:
        """Content type and bytes."""
        kind = TYPES.get(sheet.path, "application/xml; charset=utf-8")
        return kind, self._kept.get((sheet.path, sheet.key), lambda: self._text(sheet, now).encode())

    def _text(self, sheet: Sheet, now: float) -> str:
        settings = self.site.settings
        if sheet.kind is SheetKind.ROBOTS:
            return self._robots()
        if sheet.kind is SheetKind.SITEMAP_INDEX:
            entries = "".join(f"<sitemap><loc>{self.base}{path}</loc></sitemap>\n" for path, _ in sheet.links)
            return (
                f'{XML}<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{entries}</sitemapindex>\n'
            )
        if sheet.kind is SheetKind.SITEMAP:
            return self._sitemap(sheet, written_paths(now, settings.sitemap_every))
        if sheet.article is not None:
            return self._comments((sheet.article,), now)
        if sheet.path == ALL_COMMENTS:
            return self._comments(sheet.lists[0][1], now)
        tick = written_paths(now, settings.feed_every)
        if self.site.paper.feed is FeedFormat.RSS:
            return self._rss(sheet, tick)
        return self._atom(sheet, tick) if self.site.paper.feed is FeedFormat.ATOM else self._json(sheet, tick)

    def _comments(self, articles: Sequence[Article], now: float) -> str:
        """What readers wrote below articles; each entry is younger than its article, and leads to a place on its page."""
        items = "".join(
            f"<item><title>By: a reader</title><link>{self.base}{article.path_at(now)}#comment-{number}</link>"
            f"<pubDate>{formatdate(moment, usegmt=True)}</pubDate><description>Quite so.</description></item>\n"
            for article in articles
            for number, moment in enumerate(comments_of(article))
            if moment <= now
        )
        title, page = self.site.paper.title, ""
        if len(articles) == 1:
            title, page = self.site.title(articles[0].number, 0), articles[0].path_at(now)
        channel = f"<title>Comments on: {escape(title)}</title><link>{self.base}{page}</link>"
        channel += "<description>Letters</description>"
        return f'{XML}<rss version="2.0"><channel>{channel}\n{items}</channel></rss>\n'

    def _robots(self) -> str:
        delay = self.site.settings.crawl_delay
        lines = ["User-agent: *", "Disallow: /internal/", *([f"Crawl-delay: {delay:g}"] if delay else []), ""]
        return "\n".join([*lines, f"Sitemap: {self.base}/sitemap.xml", f"Sitemap: {self.base}/sitemap-news.xml", ""])

    def _entries(self, sheet: Sheet, tick: float) -> Iterator[tuple[Article, str, str, str, float]]:
        """Yields each article with its URL, headline, first sentence and time of last change."""
        for article in (article for _, articles in sheet.lists for article in articles):
            version = article.version(tick)
            text = self.site.text(article.number, version)
            url, first = self.base + article.path_at(tick), text.paragraphs[0][0]
            yield article, url, text.headline, first, article.changed(version)

    def _rss(self, sheet: Sheet, tick: float) -> str:
        items = "".join(
            f'<item><title>{escape(title)}</title><link>{url}</link><guid isPermaLink="false">{article.number}</guid>'
            f"<pubDate>{formatdate(article.published, usegmt=True)}</pubDate>"
            f"<description>{escape(first)}</description></item>\n"
            for article, url, title, first, _ in self._entries(sheet, tick)
        )
        channel = (
            f"<title>{escape(sheet.title)}</title><link>{self.base}/</link><description>All the news</description>"
        )
        return f'{XML}<rss version="2.0"><channel>{channel}\n{items}</channel></rss>\n'

    def _atom(self, sheet: Sheet, tick: float) -> str:
        entries = "".join(
            f'<entry><title>{escape(title)}</title><link href="{url}"/><id>{self.base}/{article.number}</id>'
            f"<published>{iso(article.published)}</published><updated>{iso(changed)}</updated>"
            f"<summary>{escape(first)}</summary></entry>\n"
            for article, url, title, first, changed in self._entries(sheet, tick)
        )
        head = f"<title>{escape(sheet.title)}</title><id>{self.base}/</id><updated>{iso(sheet.modified)}</updated>"
        return f'{XML}<feed xmlns="http://www.w3.org/2005/Atom">{head}\n{entries}</feed>\n'

    def _json(self, sheet: Sheet, tick: float) -> str:
        items = [
            {
                "id": str(article.number),
                "url": url,
                "title": title,
                "summary": first,
                "date_published": iso(article.published),
                "date_modified": iso(changed),
            }
            for article, url, title, first, changed in self._entries(sheet, tick)
        ]
        head = {"version": "https://jsonfeed.org/version/1.1", "title": sheet.title, "home_page_url": f"{self.base}/"}
        return json.dumps({**head, "items": items}, ensure_ascii=False, indent=1)

    def _sitemap(self, sheet: Sheet, tick: float) -> str:
        pages = "".join(f"<url><loc>{self.base}{path}</loc></url>\n" for path, _ in sheet.links)
        articles = [article for _, articles in sheet.lists for article in articles]
        news = sheet.path == "/sitemap-news.xml"
        urls = "".join(self._news(article, tick) if news else self._url(article, tick) for article in articles)
        spaces = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
        if news:
            spaces += ' xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'
        return f"{XML}<urlset {spaces}>\n{pages}{urls}</urlset>\n"

    def _url(self, article: Article, tick: float) -> str:
        changed = iso(article.changed(article.version(tick)))
        return f"<url><loc>{self.base}{article.path_at(tick)}</loc><lastmod>{changed}</lastmod></url>\n"

    def _news(self, article: Article, tick: float) -> str:
        publication = (
            f"<news:publication><news:name>{escape(self.site.paper.title)}</news:name>"
            "<news:language>en</news:language></news:publication>"
        )
        title = escape(self.site.title(article.number, article.title_version(tick)))
        return (
            f"<url><loc>{self.base}{article.path_at(tick)}</loc><news:news>{publication}"
            f"<news:publication_date>{iso(article.published)}</news:publication_date>"
            f"<news:title>{title}</news:title></news:news></url>\n"
        )
