"""One paper without markup: what a path shows at a time, its content version and its links.

Lists of the newest articles can be computed for any time, with the exact time of their last change.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from hashlib import blake2b
from math import ceil, floor
from urllib.parse import parse_qs

from forager.newsroom.article import Article, Shift
from forager.newsroom.newsroom_settings import FeedFormat, Markup
from forager.newsroom.noise import footer_links, trap_links
from forager.newsroom.plan import NewsPlan
from forager.newsroom.prose import Text, slug


@dataclass(frozen=True, slots=True)
class Listing:
    """Some articles, newest first, and what identifies this state of the list."""

    articles: tuple[Article, ...]
    key: tuple[tuple[int, int, bool], ...]
    """Number, version shown, and whether moved, of each article."""
    modified: float
    """Time of the last change of the list."""
    more: bool = False
    """Whether older articles follow on another page."""


class Shelf:
    """The articles of one scope (a section, a topic, …) in order of publication."""

    def __init__(self, articles: Sequence[Article], opened: float) -> None:
        self.articles, self.opened = articles, opened
        self._times = [article.published for article in articles]

    def latest(self, now: float, count: int, skip: int = 0, *, texts: bool = False) -> Listing:
        """Returns the newest `count` articles visible now, after the first `skip`.

        A new headline or address changes the list; with `texts`, so does any change of a listed article.
        """
        shown: list[Article] = []
        modified, more = self.opened, False
        for article in self._before(now):
            if article.removed is not None and article.removed <= now:
                if len(shown) < count:  # behind a full list its removal was not visible
                    modified = max(modified, article.published, article.removed)
                continue
            modified = max(modified, article.published)
            if skip:
                skip -= 1
            elif len(shown) < count:
                shown.append(article)
                modified = max(modified, _touched(article, now, texts))
            else:
                more = True
                break
        return Listing(tuple(shown), _key(shown, now, texts), modified, more)

    def recent(self, now: float, span: float) -> Listing:
        """Returns all visible articles published during the last `span` seconds; changes of their texts count."""
        shown: list[Article] = []
        modified = self.opened
        for article in self._before(now):
            if article.published <= now - span:
                if article.removed is None or article.removed > article.published + span:
                    modified = max(modified, article.published + span)  # it has just dropped out
                    break
                continue
            modified = max(modified, article.published)
            if article.removed is not None and article.removed <= now:
                modified = max(modified, article.removed)
            else:
                shown.append(article)
                modified = max(modified, _touched(article, now, texts=True))
        return Listing(tuple(shown), _key(shown, now, True), modified)

    def _before(self, now: float) -> Iterator[Article]:
        """Articles published before `now`, newest first."""
        for place in range(bisect_right(self._times, now) - 1, -1, -1):
            yield self.articles[place]


def _touched(article: Article, now: float, texts: bool) -> float:
    """Returns when the list entry of an article last changed; its publication if never."""
    last = max(
        (c.at for c in article.changes if c.at <= now and (texts or c.shift is Shift.TITLE)), default=article.published
    )
    return max(last, article.moved) if article.moved is not None and article.moved <= now else last


def _key(shown: Sequence[Article], now: float, texts: bool) -> tuple[tuple[int, int, bool], ...]:
    return tuple(
        (a.number, a.version(now) if texts else a.title_version(now), a.moved is not None and a.moved <= now)
        for a in shown
    )


EVERGREEN = ("about", "imprint", "contact", "privacy")
FEEDS = {FeedFormat.RSS: "/feed.xml", FeedFormat.ATOM: "/atom.xml", FeedFormat.JSON: "/feed.json"}
NEWS_SPAN = 2 * 86400.0
"""A news sitemap has the last two days, as its specification requires."""
FRONT, TEASERS = 12, 5
COMMENTS = "/feed/"
"""Where the comments below an article have their feed, behind its path."""
ALL_COMMENTS = "/comments/feed/"
"""Where a blog has the comments below all its articles: the newest ones, many below old articles."""
BLOG_FEED = 10
"""Entries in the feed of a blog."""


def comments_of(article: Article) -> tuple[float, ...]:
    """Returns when readers wrote below an article of a blog: below two of three nobody did."""
    return tuple(article.published + hour * 3600.0 for hour in range(1, 1 + article.number % 3 * (article.number % 2)))


class SheetKind(StrEnum):
    HOME = "home"
    LIST = "list"
    ARTICLE = "article"
    TEXT = "text"  # evergreen, internal and trap pages
    FEED = "feed"
    SITEMAP = "sitemap"
    SITEMAP_INDEX = "sitemap-index"
    ROBOTS = "robots"
    MOVED = "moved"  # 301
    REMOVED = "removed"  # 410
    NOTHING = "nothing"  # 404


@dataclass(frozen=True, slots=True)
class Sheet:
    """What a path shows at a time."""

    kind: SheetKind
    path: str
    """The canonical path; for a moved article, the new one."""
    key: str = ""
    """The content version: equal keys mean equal content."""
    modified: float = 0.0
    """Time of the last change of the content."""
    title: str = ""
    """Title; empty for articles, whose headline comes with their text."""
    lists: tuple[tuple[str, tuple[Article, ...]], ...] = ()
    """Lists of articles with headings."""
    links: tuple[tuple[str, str], ...] = ()
    """Further links of this sheet: path and anchor."""
    article: Article | None = None


class Site:
    """One paper of a plan."""

    def __init__(self, plan: NewsPlan, paper: int) -> None:
        self.plan, self.paper, self.settings = plan, plan.settings.papers[paper], plan.settings
        self.opened = self.settings.start - self.settings.backlog
        own = [article for article in plan.articles if article.paper == paper]
        self.articles = own
        self.everything = self._shelf(a for a in own if not self.paper.sections[a.section].quiet)
        self._front = self._shelf(a for a in self.everything.articles if a.front)
        self._sections = [self._shelf(a for a in own if a.section == s) for s in range(len(self.paper.sections))]
        self._lists = self._list_pages()
        self._months = self._by_month()
        self._at = {a.path: a for a in own} | {a.moved_path: a for a in own if a.moved is not None}
        names = [section.name for section in self.paper.sections]
        self.nav = (("/", "Home"), *((f"/{name}/", name.capitalize()) for name in names))
        self.footer = tuple((f"/{page}", page.capitalize()) for page in EVERGREEN) + footer_links(self.settings.traps)
        self.feed = FEEDS.get(self.paper.feed, "")
        self._sitemap = lru_cache(64)(self._sitemap_at)
        self.text = lru_cache(self.settings.cache)(self._text)
        self.title = lru_cache(10 * self.settings.cache)(self._title)

    def __repr__(self) -> str:
        return f"<Site {self.paper.name}, {len(self.articles)} articles, {len(self._lists)} list pages>"

    def sheet(self, target: str, now: float) -> Sheet:
        """Returns what `target`, a path with its query, shows at this time."""
        path, _, query = target.partition("?")
        if path == "/":
            return self._home(now)
        if path in self._lists:
            return self._list(path, parse_qs(query).get("page", ["1"])[0], now)
        article = self._at.get(path)
        if article is not None:
            return self._article(article, path, now)
        if self.paper.markup is Markup.BLOG and path.endswith(COMMENTS):
            return self._all_comments(now) if path == ALL_COMMENTS else self._comments(path, now)
        if path.startswith("/sitemap"):
            return self._sitemap(path, written_paths(now, self.settings.sitemap_every))
        if path and path == self.feed:
            every = self.settings.feed_every
            most = BLOG_FEED if self.paper.markup is Markup.BLOG else self.settings.feed_length
            listing = self.everything.latest(written_paths(now, every), most, texts=True)
            return _listed(SheetKind.FEED, path, self.paper.title, (("", listing),), entered(listing.modified, every))
        if path == "/robots.txt":
            return Sheet(SheetKind.ROBOTS, path, "robots", self.opened)
        if path.strip("/") in EVERGREEN or path.startswith("/internal/"):
            return Sheet(SheetKind.TEXT, path, "1", self.opened, path.strip("/").replace("/", " ").capitalize())
        links = trap_links(path, query) if self.settings.traps else ()
        if links:
            title = "Nothing was found" if path.startswith("/old/") else path.strip("/").capitalize()
            return Sheet(SheetKind.TEXT, target, "1", self.opened, title, links=links)
        return Sheet(SheetKind.NOTHING, path)

    def href(self, sheet: Sheet, article: Article, now: float) -> str:
        """Returns the path under which a sheet links to an article: texts keep old links, lists follow moves."""
        return article.path if sheet.kind is SheetKind.ARTICLE else article.path_at(now)

    def hubs(self) -> list[str]:
        """Home, sections, topics and authors."""
        return ["/", *self._lists]

    def places(self, article: Article) -> tuple[tuple[str, str], ...]:
        """Returns the section, topic and author page of an article, with their names."""
        section, topic = self.paper.sections[article.section].name, self.plan.topics[article.topic]
        return (
            (f"/{section}/", section.capitalize()),
            (f"/topic/{section}/{topic.slug}", topic.name),
            (f"/author/{slug(article.author)}", article.author),
        )

    def _home(self, now: float) -> Sheet:
        lists = [("Top stories", self._front.latest(now, FRONT))]
        links: list[tuple[str, str]] = []
        for section, shelf in zip(self.paper.sections, self._sections, strict=True):
            if not section.quiet:
                lists.append((section.name.capitalize(), shelf.latest(now, TEASERS)))
                topics = [t for t in self.plan.topics if t.section == section.name]
                links += [(f"/topic/{section.name}/{t.slug}", t.name) for t in topics]
        return _listed(SheetKind.HOME, "/", self.paper.title, tuple(lists), links=tuple(links))

    def _list(self, path: str, page: str, now: float) -> Sheet:
        title, shelf = self._lists[path]
        number = int(page) if page.isascii() and page.isdigit() and 1 <= int(page[:6]) < 100_000 else 1
        count = self.settings.list_length
        listing = shelf.latest(now, count, (number - 1) * count)
        if number > 1 and not listing.articles:
            return Sheet(SheetKind.NOTHING, path)
        links = []
        if number > 1:
            links.append((path if number == 2 else f"{path}?page={number - 1}", "Newer"))
        if listing.more:
            links.append((f"{path}?page={number + 1}", "Older"))
        own = path if number == 1 else f"{path}?page={number}"
        return _listed(SheetKind.LIST, own, title, (("", listing),), links=tuple(links))

    def _article(self, article: Article, path: str, now: float) -> Sheet:
        if article.published > now or (path == article.moved_path and path != article.path_at(now)):
            return Sheet(SheetKind.NOTHING, path)
        if not article.visible(now):
            return Sheet(SheetKind.REMOVED, path, modified=article.removed or 0.0)
        if path != article.path_at(now):
            return Sheet(SheetKind.MOVED, article.moved_path, modified=article.moved or 0.0)
        version = article.version(now)
        related = [self.plan.articles[number] for number in self.plan.related[article.number]]
        shown = tuple(other for other in related if other.published <= now)
        times = [article.published, *(change.at for change in article.changes[:version]), *(a.published for a in shown)]
        return Sheet(
            SheetKind.ARTICLE,
            path,
            f"{article.number}.{version}.{len(shown)}",
            max(times),
            lists=(("Related", shown),),
            links=self.places(article),
            article=article,
        )

    def _comments(self, path: str, now: float) -> Sheet:
        """Returns the feed of what readers wrote below an article: mostly nothing."""
        article = self._at.get(path.removesuffix(COMMENTS))
        if article is None or article.published > now or not article.visible(now):
            return Sheet(SheetKind.NOTHING, path)
        count = sum(moment <= now for moment in comments_of(article))
        return Sheet(SheetKind.FEED, path, f"{article.number}.{count}", article.published, article=article)

    def _all_comments(self, now: float) -> Sheet:
        articles = (one for one in self.everything.latest(now, 400).articles if one.visible(now))
        wrote = sorted((moment, one.number) for one in articles for moment in comments_of(one) if moment <= now)
        below = {number: self.plan.articles[number] for _, number in wrote[: -1 - BLOG_FEED : -1]}
        last = wrote[-1][0] if wrote else self.opened
        return Sheet(SheetKind.FEED, ALL_COMMENTS, f"{last}", last, lists=(("", tuple(below.values())),))

    def _sitemap_at(self, path: str, tick: float) -> Sheet:
        every = self.settings.sitemap_every
        if path == "/sitemap.xml":
            months = [month for month, shelf in self._months.items() if shelf.articles[0].published <= tick]
            names = ["news", "pages", *months]
            opened = self._months[months[-1]].articles[0].published if months else self.opened
            links = tuple((f"/sitemap-{name}.xml", name) for name in names)
            return Sheet(SheetKind.SITEMAP_INDEX, path, str(len(names)), entered(opened, every), links=links)
        if path == "/sitemap-pages.xml":
            quiet = {f"/{section.name}/" for section in self.paper.sections if section.quiet}
            links = tuple(entry for entry in (*self.nav, *self.footer[: len(EVERGREEN)]) if entry[0] not in quiet)
            return Sheet(SheetKind.SITEMAP, path, "1", self.opened, links=links)
        if path == "/sitemap-news.xml":
            listing = self.everything.recent(tick, NEWS_SPAN)
            return _listed(SheetKind.SITEMAP, path, "news", (("", listing),), entered(listing.modified, every))
        shelf = self._months.get(path.removeprefix("/sitemap-").removesuffix(".xml"))
        if shelf is None or shelf.articles[0].published > tick:
            return Sheet(SheetKind.NOTHING, path)
        listing = shelf.latest(tick, len(shelf.articles), texts=True)
        return _listed(SheetKind.SITEMAP, path, "", (("", listing),), entered(listing.modified, every))

    def _shelf(self, articles: Iterable[Article]) -> Shelf:
        return Shelf(tuple(articles), self.opened)

    def _list_pages(self) -> dict[str, tuple[str, Shelf]]:
        titles: dict[str, str] = {f"/{section.name}/": section.name.capitalize() for section in self.paper.sections}
        scopes: defaultdict[str, list[Article]] = defaultdict(list)
        for section in self.paper.sections:
            for topic in self.plan.topics:
                if topic.section == section.name:
                    titles[f"/topic/{section.name}/{topic.slug}"] = topic.name
        for article in self.articles:
            for path, name in self.places(article):
                titles.setdefault(path, name)
                scopes[path].append(article)
        return {path: (title, self._shelf(scopes[path])) for path, title in titles.items()}

    def _by_month(self) -> dict[str, Shelf]:
        months: defaultdict[str, list[Article]] = defaultdict(list)
        for article in self.everything.articles:
            months[f"{datetime.fromtimestamp(article.published, UTC):%Y-%m}"].append(article)
        return {month: self._shelf(articles) for month, articles in months.items()}

    def _text(self, number: int, version: int) -> Text:
        return self.plan.writer.text(self.plan.articles[number], version)

    def _title(self, number: int, title_version: int) -> str:
        return self.plan.writer.headline(self.plan.articles[number], title_version)


def written_paths(now: float, every: float) -> float:
    """Returns the last time at which a file that is rewritten every `every` seconds was written."""
    return floor(now / every) * every


def entered(happened: float, every: float) -> float:
    """Returns when such a file first showed what happened at this time."""
    return ceil(happened / every) * every


def _listed(
    kind: SheetKind,
    path: str,
    title: str,
    lists: tuple[tuple[str, Listing], ...],
    modified: float | None = None,
    links: tuple[tuple[str, str], ...] = (),
) -> Sheet:
    state = repr([listing.key for _, listing in lists] + [list(links)])
    last = max(listing.modified for _, listing in lists) if modified is None else modified
    shown = tuple((heading, listing.articles) for heading, listing in lists)
    return Sheet(kind, path, blake2b(state.encode(), digest_size=8).hexdigest(), last, title, shown, links)
