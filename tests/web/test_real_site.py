"""A real site of files, made by others, served on loopback and crawled breadth first through the whole stack.

Which pages there are and what they link to is found by independent code (lxml and urllib) that walks the files. The
server's log must then show each of them asked for exactly once, and the stored links must be those of the reference.
"""

import asyncio
import mimetypes
from collections import Counter
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest
from lxml import html

from forager.assembly import make_crawl, open_wire
from forager.clock import WallClock
from forager.core.parameters import ForagerKind
from forager.engine.crawl import Crawl
from forager.pages.urls import canonical
from forager.report.account import Account
from forager.settings import Settings
from forager.store.store import Store
from forager.terms import Outcome, Url, UrlId
from tests.corpora import CorpusMissing, documentation_site, have, recording
from tests.server import LOOPBACK, Served, serving

NOT_PAGES = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".ico", ".css", ".js", ".zip", ".gz", ".pdf", ".ogg", ".mid")
"""What a crawl of pages does not ask for, as far as these sites link to it."""


def wikispeedia() -> Path:
    """The recorded encyclopedia, if somebody has unpacked it."""
    pages = sorted(recording("wikispeedia").rglob("index.htm*"), key=lambda path: len(path.parts))
    if not pages:
        raise CorpusMissing("no unpacked wikispeedia in $FORAGER_DATA")
    return pages[0]


def documentation() -> Path:
    return documentation_site() / "index.html"


@pytest.mark.parametrize("load", [documentation, wikispeedia])
async def test_every_page_of_a_real_site_is_fetched_once_and_its_links_are_kept(load, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    start = have(load)
    files = {
        f"/{path.relative_to(start.parent).as_posix()}": path for path in start.parent.rglob("*") if path.is_file()
    }
    async with serving() as site:
        home = str(site.url(f"/{start.name}"))
        expected = reference(home, files)
        missing = {url for url in expected if unquote(urlsplit(url).path) not in files}
        assert len(expected) - len(missing) > 100
        for path, file in files.items():
            site.pages[path] = lambda seen, file=file: served(file)  # type: ignore[misc]
        store = await Store.open(tmp_path)
        try:
            await crawled(Url(home), store)
            asked = Counter(f"http://127.0.0.1:{site.ports[0]}{seen.path}" for seen in site.log)
            del asked[f"http://127.0.0.1:{site.ports[0]}/robots.txt"]
            assert asked == dict.fromkeys(expected, 1)
            assert store.counts().outcomes == {
                name.value: count
                for name, count in ((Outcome.FETCHED, len(expected) - len(missing)), (Outcome.GONE, len(missing)))
                if count
            }
            for url in sorted(expected.keys() - missing):
                assert await stored_links(store, url) == expected[url], url
        finally:
            await store.close()


def served(file: Path) -> Served:
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    return Served(file.read_bytes(), headers={"Content-Type": kind})


def reference(home: str, files: dict[str, Path]) -> dict[str, set[str]]:
    """Every URL that can be reached from the home page, with the URLs its page links to."""
    reached: dict[str, set[str]] = {home: set()}
    todo = [home]
    while todo:
        url = todo.pop()
        file = files.get(unquote(urlsplit(url).path))
        if file is not None and file.suffix in (".html", ".htm"):
            reached[url] = linked(file, url)
        for link in sorted(reached[url] - reached.keys()):
            reached[link] = set()
            todo.append(link)
    return reached


def linked(file: Path, url: str) -> set[str]:
    """Anchors and the links to the next page, without those to the page itself, to files and to other sites."""
    tree = html.parse(str(file), html.HTMLParser(encoding="utf-8")).getroot()
    hrefs = [*tree.xpath("//a/@href"), *tree.xpath("//link[@rel='next']/@href")]
    links = {urldefrag(urljoin(url, href.strip())).url for href in hrefs if not href.strip().startswith("#")}
    same = {link for link in links if urlsplit(link)[:2] == urlsplit(url)[:2] and link != url}
    return {link for link in same if not urlsplit(link).path.lower().endswith(NOT_PAGES)}


async def stored_links(store: Store, url: str) -> set[str]:
    known = canonical(url)
    id = store.find(known) if known else None
    assert id is not None
    (version,) = await store.versions(id)
    _, _, kept = await store.version(version[0])
    return {store.url(UrlId(link)) for link in kept.links}


async def crawled(home: Url, store: Store) -> None:
    """One breadth-first sweep: until nothing is due and nobody is on the way."""
    plain = Settings()
    settings = replace(
        plain,
        forager=replace(plain.forager, kind=ForagerKind.BFS),
        crawl=replace(plain.crawl, workers=8),
        live=replace(plain.live, allow_addresses=LOOPBACK, user_agent="Forager/0.1 (+http://127.0.0.1/)"),
        timetable=replace(plain.timetable, download_delay=0.0, concurrent_requests_per_host=8, latency_factor=0.0),
        visits=replace(plain.visits, revisit_after=86_400.0, retry_after=86_400.0),
    )
    clock, stopping = WallClock(), asyncio.Event()
    async with open_wire(settings, clock) as wire, asyncio.timeout(600):
        crawl = await make_crawl(settings, clock, wire, store, [home], Account())
        async with asyncio.TaskGroup() as group:
            group.create_task(crawl.run([home], stopping))
            group.create_task(stop_when_done(crawl, store, clock, stopping))


async def stop_when_done(crawl: Crawl, store: Store, clock: WallClock, stopping: asyncio.Event) -> None:
    while True:
        await asyncio.sleep(0.05)
        due, counts = store.next_due(clock.now()), store.counts()
        if counts.visits and not counts.leased and (due is None or due > clock.now() + 60):
            stopping.set()
            return
