"""A newsroom becomes a tape without being crawled or rendered: every version of every page, at its true time.

On the tape are the hubs (home, section, topic and author pages), the articles and the pages of the footer. Links lead only
to pages on the tape (foragers paper, section 6), so the back pages of lists, feeds and sitemaps are left out. A moved article
stays where it was, as a redirect would lead a visitor on; under its new address it is no document of its own.
"""

import math
from collections import defaultdict
from collections.abc import Iterator

from xxhash import xxh3_64_intdigest

from forager.newsroom.article import Article
from forager.newsroom.newsroom import Newsroom
from forager.newsroom.site import EVERGREEN, Site
from forager.tape.build import TapeBuilder
from forager.tape.tape import Tape
from forager.terms import Kind
from tests.newsroom_truth import sheet_links

DAY = 86_400.0


def tape_of_newsroom(newsroom: Newsroom) -> Tape:
    """The newsroom from its start to its last day; what stood before appears at the start."""
    settings = newsroom.settings
    builder = TapeBuilder(f"newsroom {settings.seed}", "url")
    builder.numbers(newsroom.homes)
    for paper, base in enumerate(newsroom.bases[paper.name] for paper in settings.papers):
        _Paper(Site(newsroom.plan, paper), base, builder, settings.start, settings.start + settings.days * DAY).add()
    return builder.finish(start=settings.start, end=settings.start + settings.days * DAY)


class _Paper:
    """One paper on its way to the tape."""

    def __init__(self, site: Site, base: str, builder: TapeBuilder, start: float, end: float) -> None:
        self._site, self._base, self._builder, self._start, self._end = site, base, builder, start, end
        moved = [article.moved_path for article in site.articles if article.moved is not None]
        paths = [
            *site.hubs(),
            *(f"/{page}" for page in EVERGREEN),
            *(article.path for article in site.articles),
            *moved,
        ]
        self._stored = dict.fromkeys(paths)

    def add(self) -> None:
        self._add_hubs()
        for article in self._site.articles:
            if article.published < self._end:
                self._add_article(article)
        for page in EVERGREEN:
            self._add(f"/{page}", self._start, Kind.OTHER, content="1")

    def _add_hubs(self) -> None:
        shown_on: defaultdict[str, set[float]] = defaultdict(set)
        for article in self._site.articles:
            times = set(self._events(article))
            for path in ("/", *(place for place, _ in self._site.places(article))):
                shown_on[path] |= times
        for path in self._site.hubs():
            last = ""
            for time in sorted({self._start, *shown_on[path]}):
                key = self._site.sheet(path, time).key
                if key != last:
                    self._add(path, time, Kind.HUB, content=key)
                    last = key

    def _events(self, article: Article) -> Iterator[float]:
        """Whatever may change a page that shows the article, as far as it lies on the tape."""
        times = [article.published, *(change.at for change in article.changes), article.moved, article.removed]
        return (float(time) for time in times if time is not None and self._start <= time < self._end)

    def _add_article(self, article: Article) -> None:
        related = [self._site.plan.articles[number] for number in self._site.plan.related[article.number]]
        later = {float(other.published) for other in related if article.published < other.published}
        appeared = float(max(article.published, self._start))
        times = {appeared, *self._events(article), *(time for time in later if appeared < time < self._end)}
        for time in sorted(times):
            gone = not article.visible(time)
            content = f"{article.version(time)}"
            self._add(
                article.path,
                time,
                Kind.ARTICLE,
                content=content,
                published=article.published,
                gone=gone,
                shown_at=article.path_at(time),
            )
            if article.moved is not None and article.moved <= time:
                self._add(article.moved_path, time, Kind.ARTICLE, content=content, gone=gone)
            if gone:
                break

    def _add(
        self,
        path: str,
        time: float,
        kind: Kind,
        *,
        content: str,
        published: float = math.nan,
        gone: bool = False,
        shown_at: str = "",
    ) -> None:
        """Add a version; `shown_at` is the path that really shows it, if another does."""
        sheet = self._site.sheet(shown_at or path, time)
        links = [self._base + link for link in sheet_links(self._site, sheet, time) if link in self._stored]
        url = self._base + path
        self._builder.add(
            url,
            time,
            digest=0 if gone else xxh3_64_intdigest(f"{url} {sheet.key}".encode()),
            text_print=0 if gone else xxh3_64_intdigest(f"{url} {content}".encode()),
            published=published,
            gone=gone,
            links=links,
            kind=kind,
        )
