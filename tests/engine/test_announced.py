"""What the first feed says of a page is kept until the page is read, and fills in what the page does not say."""

import pytest

from forager.engine import ingest
from forager.engine.ingest import Ingest
from forager.engine.scope import Scope
from forager.events import Event
from forager.pages.pages_settings import PagesSettings
from forager.store.protocol import Found
from forager.store.store import Store
from forager.terms import NOBODY, Channel, Outcome, Response, Url, UrlId
from forager.web.web_settings import ScopeSettings, VisitSettings

PROSE = "The council said on Monday that a new mill on the river would open next year, after long talks. " * 4
FEEDS = [Url(f"http://e.org/{name}.xml") for name in ("first", "second")]


def feed(author: str, stories: int) -> bytes:
    items = "".join(
        f"<item><title>S</title><link>/story-{number}</link><author>{author}</author></item>"
        for number in range(stories)
    )
    return f"<rss><channel>{items}</channel></rss>".encode()


async def authors_of(story: int, stories: int) -> tuple[str, ...]:
    """The authors kept of a story that names none itself, after two feeds have named some."""
    store, events = Store(), list[Event]()
    keeper = Ingest(store, Scope(FEEDS, ScopeSettings()), VisitSettings(), PagesSettings(), events.append)

    async def visit(url: Url, body: bytes, kind: str) -> None:
        (id,) = store.enter([Found(url, Channel.SEED, at=0.0)])
        headers = (("content-type", kind),)
        response = Response(url, Outcome.FETCHED, 60.0, status=200, headers=headers, body=body)
        await keeper.keep(store.known(id), response, NOBODY)

    for url, author in zip(FEEDS, ("Ann Lee", "Bo Ek"), strict=True):
        await visit(url, feed(author, stories), "application/rss+xml")
    url = Url(f"http://e.org/story-{story}")
    page = f'<meta property="og:type" content="article"><h1>What happened in the mill</h1><p>{PROSE}<p>{PROSE}'
    await visit(url, page.encode(), "text/html")
    version = store.known(store.find(url) or UrlId(-1)).version
    assert version is not None
    return (await store.version(version))[2].about.authors


async def test_the_first_feed_names_the_author() -> None:
    assert await authors_of(0, stories=2) == ("Ann Lee",)


async def test_only_so_many_entries_are_kept_and_the_oldest_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "ENTRIES", 1)
    assert await authors_of(0, stories=2) == ()
