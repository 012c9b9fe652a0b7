"""What a crawl asks of every page, as one plain record: a page can be read in one process and used in another.

A page has a hundred links, and the crawl knows most of them already. So where they lead travels as one string, and what a link
says is told once: of a link that was told before and says nothing but a text, only the URL goes along. Should the crawl have
left that link out then and want it now, it goes without its text, unless the body came along as well.
"""

from collections.abc import Collection
from dataclasses import replace
from typing import cast

import msgspec

from forager.pages.links import says_only_a_text
from forager.pages.reader import Page
from forager.pages.robots_meta import RobotsMeta
from forager.pages.settings import PagesSettings
from forager.terms import Dated, DateSource, Kind, Link, Response, Url

MOST_TOLD = 200_000
"""URLs to remember as told; then all are forgotten, and told again (ours)."""


class Facts(msgspec.Struct, array_like=True):
    """The answers of a `Page`, mostly under the same names."""

    kind: Kind
    trouble: str
    targets: str
    """Where the links lead, one a line: no canonical URL holds a line break."""
    links: dict[int, Link]
    """Those that were not told before or say more than a text, by their place."""
    title: str
    canonical: Url | None
    lang: str
    text: str
    byte_print: int
    text_print: int
    robots: RobotsMeta
    published: Dated | None = None
    modified: Dated | None = None
    """Dates are worked out for articles only: nobody asks for those of a list."""
    believed: Dated | None = None
    """The publication date without the sources that the crawl does not believe on this site, if it told any."""


class ToldLinks:
    """The links of a page that was read elsewhere; answers as `links.Links` does."""

    def __init__(self, facts: Facts, unread: Page | None) -> None:
        """`unread` is asked for a link that was told with another page, if the body is here; that is seldom wanted."""
        self.urls = cast("tuple[Url, ...]", tuple(facts.targets.split("\n"))) if facts.targets else ()
        self.canonical = facts.canonical
        self._told = {self.urls[place]: link for place, link in facts.links.items()}
        self._unread = unread

    @property
    def related(self) -> set[Url]:
        return {url for url, link in self._told.items() if not says_only_a_text(link)}

    def all(self) -> tuple[Link, ...]:
        return tuple(map(self.to, self.urls))

    def to(self, url: Url) -> Link:
        link = self._told.get(url)
        if link is not None:
            return link
        return Link(url) if self._unread is None else self._unread.link(url)


def facts_of(page: Page, told: set[Url] | None = None, ignored: Collection[DateSource] = ()) -> Facts:
    """Read everything at once. `told` are URLs whose links went along with other pages; those of this page are added.

    `ignored` are the sources of dates that the crawl does not believe on this site.
    """
    told = set() if told is None else told
    if len(told) > MOST_TOLD:
        told.clear()
    targets, is_text = page.targets, page.kind is Kind.ARTICLE
    related = page.related
    chosen = [place for place, url in enumerate(targets) if url not in told or url in related]
    told.update(targets)
    facts = Facts(
        kind=page.kind,
        trouble="",
        targets="\n".join(targets),
        links={place: page.link(targets[place]) for place in chosen},
        title=page.title,
        canonical=page.canonical,
        lang=page.lang,
        text=page.text,
        byte_print=page.byte_print,
        text_print=page.text_print,
        robots=page.robots,
        published=page.published if is_text else None,
        modified=page.modified if is_text else None,
        believed=page.published_but(ignored) if is_text and ignored else None,
    )
    facts.trouble = page.trouble  # of everything that was tried
    return facts


def page_with(response: Response, facts: Facts, settings: PagesSettings) -> Page:
    """The page of a response that was read elsewhere; what the facts do not tell is read here when it is asked for."""
    page = Page(response, None, settings)
    links = ToldLinks(facts, unread=Page(response, None, settings) if response.body else None)
    page.trouble = facts.trouble
    page.give(
        {
            "_links": links,
            "_feed": None,
            "_sitemap": None,
            "targets": links.urls,
            "kind": facts.kind,
            "title": facts.title,
            "canonical": facts.canonical,
            "lang": facts.lang,
            "text": facts.text,
            "byte_print": facts.byte_print,
            "text_print": facts.text_print,
            "robots": facts.robots,
        }
    )
    if facts.kind is Kind.ARTICLE:
        page.give({"published": facts.published, "modified": facts.modified})
    if not response.body:
        page.give({"published_but": lambda ignored: _believed(facts, ignored)})
    return page


def _believed(facts: Facts, ignored: Collection[DateSource]) -> Dated | None:
    """The date without these sources, of those that were told."""
    stated = (dated for dated in (facts.published, facts.believed) if dated is not None)
    return next((dated for dated in stated if dated.source not in ignored), None)


def unreadable(response: Response, trouble: str, settings: PagesSettings) -> Page:
    """The page of a response that nobody must try to read; it is told from others by its bytes."""
    page = Page(replace(response, body=b""), None, settings)
    page.trouble = trouble
    page.give({"byte_print": Page(response, None, settings).byte_print})
    return page
