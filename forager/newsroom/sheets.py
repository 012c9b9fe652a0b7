"""HTML of a sheet: a plain newspaper page with navigation, boilerplate and noise that is no change.

A page is a few pieces of bytes with noise between them; the pieces are cached, so rendering again only joins them.

Articles state their dates in three kinds of markup, with the errors that real papers have.
"""

import json
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Generic, TypeVar

from forager.newsroom.article import Article
from forager.newsroom.newsroom_settings import FeedFormat, Markup, NewsroomSettings, Paper
from forager.newsroom.noise import lot, noise, token, visitor_links
from forager.newsroom.site import ALL_COMMENTS, COMMENTS, Sheet, SheetKind, Site

T = TypeVar("T")


class BoundedCache(Generic[T]):
    """Cache of up to `size` values by key."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._values: OrderedDict[Hashable, T] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Returns the value of this key; calls `make` if it is missing."""
        if key in self._values:
            self._values.move_to_end(key)
        else:
            self._values[key] = make()
            if len(self._values) > self.size:
                self._values.popitem(last=False)
        return self._values[key]


AHEAD = 5 * 86400.0
"""How many seconds a wrong date lies in the future."""


@dataclass(frozen=True, slots=True)
class Stated:
    """What an article states about itself; empty text where it states nothing."""

    published: str
    modified: str


def iso(when: float) -> str:
    return datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def dates_on_page(article: Article, version: int, settings: NewsroomSettings) -> Stated:
    """The dates on the article's page: correct for most articles, otherwise missing, only the day, or in the future."""
    luck = lot(settings.seed, "date", article.number)
    modified = iso(article.changes[version - 1].at) if version else ""
    if luck < settings.missing_dates:
        return Stated("", "")
    if luck < settings.missing_dates + settings.day_dates:
        return Stated(iso(article.published)[:10], modified[:10])
    if luck < settings.missing_dates + settings.day_dates + settings.future_dates:
        return Stated(iso(article.published + AHEAD), "")
    return Stated(iso(article.published), modified)


def date_markup(paper: Paper, stated: Stated, headline: str, author: str, url: str, opened: float) -> tuple[str, str]:
    """Markup for the head of the page, and for below the headline."""
    head, below = "", ""
    if paper.deploy_date:
        head += f'<meta name="date" content="{iso(opened)[:10]}">\n'
    if paper.markup is Markup.JSON_LD:
        facts = {
            "@context": "https://schema.org",
            "@type": "NewsArticle",
            "headline": headline,
            "url": url,
            "datePublished": stated.published,
            "dateModified": stated.modified or stated.published,
            "author": {"@type": "Person", "name": author},
        }
        text = json.dumps({name: fact for name, fact in facts.items() if fact}).replace("<", "\\u003c")
        head += f'<script type="application/ld+json">{text}</script>\n'
    elif paper.markup is Markup.META:
        for name, value in (("published", stated.published), ("modified", stated.modified)):
            head += f'<meta property="article:{name}_time" content="{value}">\n' if value else ""
    elif paper.markup is Markup.TIME and stated.published:
        below = f'<time datetime="{stated.published}">{stated.published[:10]}</time>'
        if stated.modified:
            below += f' (updated <time class="updated" datetime="{stated.modified}">{stated.modified[:10]}</time>)'
    return head, f'<p class="meta">By {escape(author)} {below}</p>'


STYLE = "\n" + Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
FEED_TYPES = {
    FeedFormat.RSS: "application/rss+xml",
    FeedFormat.ATOM: "application/atom+xml",
    FeedFormat.JSON: "application/feed+json",
}
END_OF_PAGE = b'</footer>\n<script type="application/json">["'
MOST_READ = 5
POLICY = (
    "{title} is made up from a seed. No word of it is true, but it is published on time.",
    "We correct what is wrong as soon as we notice, and we say so at the foot of the article.",
    "Letters to the editor are welcome. Please write on one side of the paper only.",
)


class SheetPrinter:
    """Renders the HTML pages of a site with the address `base`, e.g. `http://gazette.example`."""

    def __init__(self, site: Site, base: str) -> None:
        self.site, self.base, self.seed = site, base, site.settings.seed
        self._pieces: BoundedCache[tuple[bytes, ...]] = BoundedCache(site.settings.cache)
        self._most_read = lru_cache(8)(self._make_most_read)
        count = int(0.1 * site.settings.page_size) + 1  # 1.6 pages of 16 digits each
        self._filler = "".join(token(self.seed, "filler", n) for n in range(count)).encode()

    def render(self, sheet: Sheet, now: float) -> bytes:
        settings, name = self.site.settings, self.site.paper.name
        pieces = self._pieces.get((sheet.path, sheet.key), lambda: self._make(sheet, now))
        clock, advertisement, views, mark = noise(self.seed, name, sheet.path, now, settings.noise_every)
        most_read = self._most_read(int(now // 3600))
        session = visitor_links(mark.decode()).encode() if settings.traps else b""
        wanted = int(settings.page_size * (0.6 + lot(self.seed, "size", name, sheet.path)))
        filler = self._filler[: max(0, wanted - sum(map(len, pieces)) - len(most_read) - 100)]
        before, top, main, counter, foot = pieces
        end = (END_OF_PAGE, mark, b'","', filler, b'"]</script>\n</body>\n</html>\n')
        parts = (before, clock, top, advertisement, main, most_read, counter, views, foot, session, *end)
        return b"".join(parts)

    def _make(self, sheet: Sheet, now: float) -> tuple[bytes, ...]:
        site, title = self.site, escape(self.site.paper.title)
        name, in_head, main = self._article(sheet, now) if sheet.article else (sheet.title, "", self._main(sheet, now))
        feed = f'<link rel="alternate" type="{FEED_TYPES[site.paper.feed]}" href="{site.feed}">\n' if site.feed else ""
        if site.paper.markup is Markup.BLOG:
            feed += f'<link rel="alternate" type="{FEED_TYPES[FeedFormat.RSS]}" href="{ALL_COMMENTS}">\n'
        heading = title if sheet.kind is SheetKind.HOME else f"{escape(name)} | {title}"
        before = (
            f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{heading}</title>\n'
            f'<link rel="canonical" href="{self.base}{escape(sheet.path)}">\n{feed}{in_head}'
            f'<style>{STYLE}</style>\n</head>\n<body>\n<header><a class="logo" href="/">{title}</a><span class="clock">'
        )
        nav = "".join(f'<a href="{path}">{escape(name)}</a>' for path, name in site.nav)
        foot = " ".join(f'<a href="{escape(path)}">{escape(name)}</a>' for path, name in site.footer)
        return (
            before.encode(),
            f'</span></header>\n<nav>{nav}</nav>\n<div class="ad">'.encode(),
            f'</div>\n<div class="page">\n<main>{main}</main>\n<aside><h2>Most read</h2>'.encode(),
            b'<p class="views">Read today: ',
            f"</p></aside>\n</div>\n<footer>{foot} &copy; {title} ".encode(),
        )

    def _main(self, sheet: Sheet, now: float) -> str:
        if sheet.kind is SheetKind.TEXT and not sheet.links:
            words = "".join(f"<p>{escape(line.format(title=self.site.paper.title))}</p>" for line in POLICY)
            return f"<h1>{escape(sheet.title)}</h1>{words}"
        lists = "".join(
            f"<section><h2>{escape(heading or 'Latest')}</h2>{self._list(sheet, articles, now)}</section>"
            for heading, articles in sheet.lists
            if articles
        )
        links = " · ".join(f'<a href="{escape(path)}">{escape(name)}</a>' for path, name in sheet.links)
        return f'<h1>{escape(sheet.title)}</h1><div class="columns">{lists}</div><p class="more">{links}</p>'

    def _list(self, sheet: Sheet, articles: Iterable[Article], now: float) -> str:
        return "<ul>" + "".join(self._item(sheet, article, now) for article in articles) + "</ul>"

    def _item(self, sheet: Sheet, article: Article, now: float) -> str:
        """Returns a link to an article; every third is absolute. On article pages it keeps the first headline."""
        version = 0 if sheet.kind is SheetKind.ARTICLE else article.title_version(now)
        path = self.site.href(sheet, article, now)
        base = self.base if article.number % 3 == 0 else ""
        link = f'<a href="{base}{path}">{escape(self.site.title(article.number, version))}</a>'
        if self.site.paper.markup is not Markup.BLOG or sheet.kind is SheetKind.ARTICLE:
            return f"<li>{link}</li>"
        excerpt = escape(" ".join(self.site.text(article.number, article.version(now)).paragraphs[0]))
        return f"<li><article><h2>{link}</h2><p>{excerpt}</p></article></li>"

    def _article(self, sheet: Sheet, now: float) -> tuple[str, str, str]:
        """Returns the headline, markup for the head, and the main part."""
        assert sheet.article is not None
        site, article = self.site, sheet.article
        version = article.version(now)
        text = site.text(article.number, version)
        stated = dates_on_page(article, version, site.settings)
        in_head, byline = date_markup(
            site.paper, stated, text.headline, article.author, self.base + sheet.path, site.opened
        )
        entries = "".join(f'<p class="entry">{escape(entry)}</p>\n' for entry in text.entries)
        paragraphs = "".join(f"<p>{escape(' '.join(sentences))}</p>\n" for sentences in text.paragraphs)
        notes = "".join(f'<p class="note">{escape(note)}</p>\n' for note in text.notes)
        places = " · ".join(f'<a href="{path}">{escape(name)}</a>' for path, name in sheet.links)
        foot = ""
        if site.paper.markup is Markup.BLOG:
            in_head += f'<link rel="alternate" type="{FEED_TYPES[FeedFormat.RSS]}" href="{sheet.path}{COMMENTS}">\n'
            if stated.published:
                when = (
                    f'<time class="entry-date published" datetime="{stated.published}">{stated.published[:10]}</time>'
                )
                foot = f'<footer class="entry-footer"><span class="posted-on">Published {when}</span></footer>\n'
        story = f"<h1>{escape(text.headline)}</h1>\n{byline}\n{entries}{paragraphs}{notes}{foot}"
        body = f"<article>\n{story}</article>\n"
        related = "".join(
            f"<h2>{heading}</h2>{self._list(sheet, listed, now)}" for heading, listed in sheet.lists if listed
        )
        return text.headline, in_head, f'{body}<p class="more">More: {places}</p>\n<div class="related">{related}</div>'

    def _make_most_read(self, hour: int) -> bytes:
        """Returns some articles of the last days, redrawn each hour; the links carry tracking parameters."""
        recent = self.site.everything.latest(hour * 3600.0, 60).articles
        drawn = sorted(recent, key=lambda article: lot(self.seed, "read", hour, article.number))[:MOST_READ]
        query = "?utm_source=mostread&amp;utm_medium=box"
        note = ' <span class="post-date">{}</span>' if self.site.paper.markup is Markup.BLOG else ""
        items = (
            f'<li><a href="{a.path}{query}">{escape(self.site.title(a.number, 0))}</a>'
            f"{note.format(iso(a.published)[:10])}</li>"
            for a in drawn
        )
        return f"<ol>{''.join(items)}</ol>".encode()
