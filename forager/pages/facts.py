"""What a crawl asks of every page, as one plain record: a page can be read in one process and used in another.

A page has a hundred links, and the crawl knows most of them already. So they travel as a few long strings, and a `Link` is
made of them only when somebody asks for it.
"""

from dataclasses import replace
from functools import cached_property

import msgspec

from forager.pages.reader import Page
from forager.pages.robots_meta import RobotsMeta
from forager.pages.settings import PagesSettings
from forager.terms import Channel, Dated, Kind, Link, Region, Response, Url

_REGIONS = tuple(Region)
_PLACES = {region: place for place, region in enumerate(_REGIONS)}


class Facts(msgspec.Struct, array_like=True):
    """The answers of a `Page`, mostly under the same names."""

    kind: Kind
    trouble: str
    targets: str
    """Where the links lead, one a line: no canonical URL holds a line break."""
    anchors: str
    """What they say, likewise: white space within an anchor's text is single spaces."""
    regions: bytes
    others: dict[int, Link]
    """Those that say more than anchor and region, by their place."""
    title: str
    canonical: Url | None
    lang: str
    text: str
    byte_print: int
    text_print: int
    robots: RobotsMeta
    simhash: int | None = None
    published: Dated | None = None
    modified: Dated | None = None
    """Dates and simhash are worked out for articles only: nobody asks for those of a list."""


class ToldLinks:
    """The links of a page that was read elsewhere; answers as `links.Links` does."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self.urls = tuple(map(Url, facts.targets.split("\n"))) if facts.targets else ()
        self.canonical = facts.canonical

    def all(self) -> tuple[Link, ...]:
        return tuple(map(self._at, range(len(self.urls))))

    def to(self, url: Url) -> Link:
        return self._at(self._places[url])

    def _at(self, place: int) -> Link:
        other = self._facts.others.get(place)
        if other is not None:
            return other
        return Link(self.urls[place], self._anchors[place], _REGIONS[self._facts.regions[place]])

    @cached_property
    def _anchors(self) -> list[str]:
        return self._facts.anchors.split("\n")

    @cached_property
    def _places(self) -> dict[Url, int]:
        return {url: place for place, url in enumerate(self.urls)}


def facts_of(page: Page) -> Facts:
    """Read everything at once."""
    is_text, links = page.kind is Kind.ARTICLE, page.links
    others = {place: link for place, link in enumerate(links) if _says_more(link)}
    facts = Facts(
        kind=page.kind,
        trouble="",
        targets="\n".join([link.url for link in links]),
        anchors="\n".join(["" if place in others else link.anchor for place, link in enumerate(links)]),
        regions=bytes([_PLACES[link.region] for link in links]),
        others=others,
        title=page.title,
        canonical=page.canonical,
        lang=page.lang,
        text=page.text,
        byte_print=page.byte_print,
        text_print=page.text_print,
        robots=page.robots,
        simhash=page.simhash if is_text else None,
        published=page.published if is_text else None,
        modified=page.modified if is_text else None,
    )
    facts.trouble = page.trouble  # of everything that was tried
    return facts


def page_with(response: Response, facts: Facts, settings: PagesSettings) -> Page:
    """The page of a response that was read elsewhere; what the facts do not tell is read here when it is asked for."""
    page, links = Page(response, None, settings), ToldLinks(facts)
    page.trouble = facts.trouble
    page.give({"_links": links, "_feed": None, "_sitemap": None, "targets": links.urls})
    names = ["kind", "title", "canonical", "lang", "text", "byte_print", "text_print", "robots"]
    if facts.kind is Kind.ARTICLE:
        names += ["simhash", "published", "modified"]
    page.give({name: getattr(facts, name) for name in names})
    return page


def unreadable(response: Response, trouble: str, settings: PagesSettings) -> Page:
    """The page of a response that nobody must try to read; it is told from others by its bytes."""
    page = Page(replace(response, body=b""), None, settings)
    page.trouble = trouble
    page.give({"byte_print": Page(response, None, settings).byte_print})
    return page


def _says_more(link: Link) -> bool:
    simple = link.channel is Channel.LINK and link.published is None and not link.rel and not link.title
    return not simple or "\n" in link.anchor
