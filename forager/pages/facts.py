"""What a crawl asks of every page, as one plain record: a page can be read in one process and used in another."""

from dataclasses import replace

import msgspec

from forager.pages.reader import Page
from forager.pages.robots_meta import RobotsMeta
from forager.pages.settings import PagesSettings
from forager.terms import Dated, Kind, Link, Response, Url


class Facts(msgspec.Struct, array_like=True):
    """The answers of a `Page`, under the same names."""

    kind: Kind
    trouble: str
    targets: tuple[Url, ...]
    links: tuple[Link, ...]
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


def facts_of(page: Page) -> Facts:
    """Read everything at once."""
    is_text = page.kind is Kind.ARTICLE
    answers = (page.targets, page.links, page.title, page.canonical, page.lang, page.text)
    prints = (page.byte_print, page.text_print, page.robots, page.simhash if is_text else None)
    dates = (page.published, page.modified) if is_text else (None, None)
    return Facts(page.kind, page.trouble, *answers, *prints, *dates)


def page_with(response: Response, facts: Facts, settings: PagesSettings) -> Page:
    """The page of a response that was read elsewhere; what the facts do not tell is read here when it is asked for."""
    page = Page(response, None, settings)
    page.trouble = facts.trouble
    names = ["kind", "targets", "links", "title", "canonical", "lang", "text", "byte_print", "text_print", "robots"]
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
