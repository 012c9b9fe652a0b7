"""What is remembered of pages between visits: the latest in bounded memory, what feeds said, which links lists showed.

A link that returns to a list is no change (HACS compares with all earlier captures): live, replayed and imported alike.
"""

import asyncio
import gzip
from pathlib import Path

import numpy as np
import pytest

from forager.clock import Offload, in_thread, inline
from forager.core.parameters import ForagerSettings
from forager.core.shared import Shared
from forager.engine import ingest
from forager.engine.memory import FirstTexts, ShownLinks, remember
from forager.events import Event, Fetched
from forager.importers.files import histories, import_files
from forager.importers.streams import sources
from forager.importers.tape_logs import log_of_tape
from forager.store.protocol import Found
from forager.store.store import Store
from forager.tape.tape import Tape
from forager.tape.tape_world import TapeClock, TapeWorld
from forager.terms import NOBODY, Channel, Outcome, Response, Url, UrlId
from tests.engine.intake import ingest_for
from tests.virtual import crawl_newsroom


def test_only_the_latest_are_remembered_one_of_each_page() -> None:
    seen: dict[int, float] = {}
    for id, when in ((1, 10.0), (2, 20.0), (1, 30.0), (3, 40.0)):
        remember(seen, id, when, 2)
    assert seen == {1: 30.0, 3: 40.0}  # page 1 was seen again after page 2


def test_a_text_is_a_copy_if_another_page_of_the_host_showed_it_first() -> None:
    texts, first, second = FirstTexts(), Url("http://e.org/1"), Url("http://e.org/2")
    assert not texts.stood_elsewhere(first, 7)
    assert not texts.stood_elsewhere(first, 7)  # it is the page itself
    assert texts.stood_elsewhere(second, 7)
    assert not texts.stood_elsewhere(second, 8)
    assert not texts.stood_elsewhere(Url("http://other.example/1"), 7)
    assert not any(texts.stood_elsewhere(url, 0) for url in (first, second))  # no text


def test_a_page_that_is_gone_is_asked_for_once() -> None:
    crawled = crawl_newsroom(6, "newsroom.removals=0.5", "newsroom.removal_delay=1h")
    gone = [asked.target for asked in crawled.newsroom.requests if asked.status == 410]
    seen_before = {asked.target for asked in crawled.newsroom.requests if asked.status == 200}
    at_first_sight = [target for target in gone if target not in seen_before]
    assert len(at_first_sight) > 5
    assert len(at_first_sight) == len(set(at_first_sight))


PROSE = "The council said on Monday that a new mill on the river would open next year, after long talks. " * 8
FEEDS = [Url(f"http://e.org/{name}.xml") for name in ("first", "second")]


def feed(author: str, stories: int) -> bytes:
    items = "".join(
        f"<item><title>S</title><link>/story-{number}</link><author>{author}</author></item>"
        for number in range(stories)
    )
    return f"<rss><channel>{items}</channel></rss>".encode()


async def authors_of(story: int, stories: int) -> tuple[str, ...]:
    """The authors kept of a story that names none itself, after two feeds have named some."""
    store = Store()
    reader = ingest_for(store, FEEDS)

    async def visit(url: Url, body: bytes, kind: str) -> None:
        (id,) = store.enter([Found(url, Channel.SEED, at=0.0)])
        headers = (("content-type", kind),)
        response = Response(url, Outcome.FETCHED, 60.0, status=200, headers=headers, body=body)
        await reader.keep(store.known(id), response, NOBODY)

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


@pytest.mark.parametrize(("offload", "least"), [(inline, 0), (in_thread, 3)])
async def test_a_sitemap_of_thousands_is_read_in_pieces_and_others_run_between_them(
    offload: Offload, least: int
) -> None:
    store, url, turns = Store(), Url("http://e.org/sitemap.xml"), 0
    reader = ingest_for(store, FEEDS, offload=offload)
    (id,) = store.enter([Found(url, Channel.SEED, at=0.0)])
    entries = "".join(f"<url><loc>http://e.org/story-{one}</loc></url>" for one in range(3 * ingest.PIECE + 1))
    body = f"<urlset>{entries}</urlset>".encode()

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        beside = group.create_task(others())
        await asyncio.sleep(0)
        turns = 0
        sighting = await reader.keep(
            store.known(id), Response(url, Outcome.FETCHED, 60.0, status=200, body=body), NOBODY
        )
        beside.cancel()
    shown = [store.url(UrlId(one)) for one in sighting.links]
    assert shown == [f"http://e.org/story-{one}" for one in range(3 * ingest.PIECE + 1)]
    assert turns >= least


HOME = Url("http://e.org/")
SHOWN = [range(1, 7), range(1, 6), range(1, 7), range(2, 8), range(1, 7)]
CHANGED = [False, False, False, True, False]  # only the seventh link was never there before
HOUR = 3600.0


def body(numbers: range) -> bytes:
    teasers = "".join(f'<h2><a href="/story-{one}">What happened in story {one} of ours</a></h2>' for one in numbers)
    return f"<html><body>{teasers}</body></html>".encode()


async def visited(directory: Path, shown: list[range], first: int) -> list[bool]:
    """Whether each look of a crawl with this run directory found the home page changed."""
    store, events = await Store.open(directory), list[Event]()
    await store.put([Found(HOME, Channel.LINK, at=0.0)])
    ingest = ingest_for(store, [HOME], events.append)
    for hour, numbers in enumerate(shown, first):
        headers = (("content-type", "text/html"),)
        response = Response(HOME, Outcome.FETCHED, hour * HOUR, status=200, headers=headers, body=body(numbers))
        await ingest.keep(store.known(UrlId(0)), response, NOBODY)
    await store.close()
    return [event.changed for event in events if isinstance(event, Fetched)]


@pytest.mark.parametrize("restarts_before", [(), (1,), (2,), (1, 2, 3, 4)])
async def test_live_whenever_the_crawl_was_restarted(tmp_path: Path, restarts_before: tuple[int, ...]) -> None:
    found: list[bool] = []
    for begin, end in zip((0, *restarts_before), (*restarts_before, len(SHOWN)), strict=True):
        found += await visited(tmp_path, SHOWN[begin:end], begin)
    assert found == CHANGED


async def test_links_of_a_page_that_dropped_out_of_memory_come_from_the_store(tmp_path: Path) -> None:
    await visited(tmp_path, SHOWN, 0)
    store = await Store.open(tmp_path)
    shown = ShownLinks(store, most=1)
    eighth = store.enter([Found(Url("http://e.org/story-8"), Channel.LINK, at=0.0)])
    assert await shown.new(UrlId(0), np.array([*range(1, 8), *eighth])) == 1
    assert await shown.new(UrlId(1), np.array([1, 2])) == 2  # it has shown nothing; the first one is forgotten
    assert await shown.new(UrlId(0), np.arange(1, 8)) == 0
    await store.close()


@pytest.fixture
def tape(tmp_path: Path) -> Tape:
    packed = []
    for hour, numbers in enumerate(SHOWN):
        block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body(numbers)
        head = (
            f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2026-03-02T{hour:02}:00:00Z\r\nWARC-Target-URI: {HOME}\r\n"
            f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
        )
        packed.append(gzip.compress(head.encode() + block + b"\r\n\r\n"))
    (tmp_path / "home.warc.gz").write_bytes(b"".join(packed))
    return import_files(sources([str(tmp_path / "home.warc.gz")]), origin="t", identity="url").tape


def test_imported_as_a_change_log(tape: Tape) -> None:
    log = log_of_tape(tape, HOUR)
    assert log.changed[log.urls.index(HOME)].tolist() == CHANGED


def test_taken_in_as_the_archive_of_a_crawl(tape: Tape, tmp_path: Path) -> None:
    home = next(one for one in histories(str(tmp_path / "home.warc.gz")) if one.url == HOME)
    assert home.changed.tolist() == CHANGED


def test_replayed(tape: Tape) -> None:
    shared, world = Shared.fresh(ForagerSettings()), TapeWorld(tape, TapeClock(tape.start), seconds=0.0)
    shared.reserve(tape.pages)
    home, changes = list(tape.urls()).index(HOME), [0.0]
    for _ in SHOWN:
        shared.note(world.look(home))
        changes.append(float(shared.visits.history.states(world.clock.time).X[home]))
        world.clock.time += HOUR
    assert np.diff(changes).astype(bool).tolist() == CHANGED
