"""A crawl with others that fetch and read for it stores what a crawl in one process does."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.recordloader import ArcWarcRecord

from forager.assembly import make_crawl, open_wire
from forager.clock import WallClock
from forager.events import Event, Fetched
from forager.foragers.settings import ForagerKind
from forager.reports.account import Account
from forager.settings import Settings
from forager.store.sqlite import SqliteStore
from forager.terms import Url
from tests.server import LOOPBACK, Served, serving

PAGES = 13
PROSE = "The council said on Monday that bridge number {} over the river would open next year after long talks. "
HTML = {"Content-Type": "text/html; charset=utf-8"}


def story(number: int) -> Served:
    """A page that links to the next two, and to others."""
    links = "".join(
        f'<a href="/2024/05/01/a-story-of-some-length-{target % PAGES}">Story {target}</a> '
        for target in (number + 1, 2 * number + 1)
    )
    prose = "".join(f"<p>{PROSE.format(number + part)}</p>" for part in range(25))
    head = f'<title>Bridge {number}</title><meta property="article:published_time" content="2024-05-01T08:00:0{number % 10}Z">'
    extra = '<a href="https://elsewhere.example/">x</a><a rel="nofollow" href="/login">Log in</a>'
    return Served(
        f"<html><head>{head}</head><body><article>{prose}</article>{links}{extra}</body></html>".encode(), headers=HTML
    )


async def rows(folder: Path, start: Url, processes: int, record: bool = False) -> dict[str, list[tuple[Any, ...]]]:
    """What a crawl of the whole site stores, without the times."""
    plain = Settings()
    settings = replace(
        plain,
        forager=replace(plain.forager, kind=ForagerKind.BFS),
        crawl=replace(plain.crawl, workers=1),
        live=replace(plain.live, allow_addresses=LOOPBACK, user_agent="Forager/0.1 (+http://127.0.0.1/)"),
        timetable=replace(plain.timetable, download_delay=0.0, latency_factor=0.0),
    )
    stopping, seen = asyncio.Event(), 0

    def watch(event: Event) -> None:
        nonlocal seen
        seen += isinstance(event, Fetched)
        if seen >= PAGES:
            stopping.set()

    store = await SqliteStore.open(folder)
    try:
        async with open_wire(settings, WallClock(), folder / "warc" if record else None, processes=processes) as wire:
            while wire.beside is not None and not wire.beside.ready:
                await asyncio.sleep(0.01)
            crawl = await make_crawl(settings, WallClock(), wire, store, [start], Account(), [watch])
            await crawl.run([start], stopping)
    finally:
        await store.close()
    questions = {
        "urls": "SELECT id, url, channel, source, depth, published, anchor FROM urls ORDER BY id",
        "states": "SELECT url, kind, visits, changes, version, byte_print, text_print, validators FROM states ORDER BY url",
        "visits": "SELECT id, url, outcome, status, wire_bytes, trouble, error, by, changed, final_url FROM visits",
        "versions": """SELECT id, url, kind, byte_print, text_print, simhash, title, lang, canonical, published,
            published_source, published_exact, modified, links, text_of, text FROM versions ORDER BY id""",
    }
    with sqlite3.connect(folder / "crawl.db") as connection:
        return {name: connection.execute(question).fetchall() for name, question in questions.items()}


@pytest.fixture
async def start() -> AsyncIterator[Url]:
    """Where a small site begins."""
    pages = {f"/2024/05/01/a-story-of-some-length-{number}": story(number) for number in range(PAGES)}
    async with serving({**pages, "/robots.txt": Served(b"", 404)}) as site:
        yield site.url("/2024/05/01/a-story-of-some-length-0")


async def test_a_crawl_with_two_processes_stores_what_one_with_one_does(start: Url, tmp_path: Path) -> None:
    alone, together = [await rows(tmp_path / str(count), start, count) for count in (1, 2)]
    assert len(alone["versions"]) == PAGES
    assert together == alone


async def test_it_records_the_same_bytes(start: Url, tmp_path: Path) -> None:
    told = []
    for count in (1, 2):
        await rows(tmp_path / str(count), start, count, record=True)
        (warc,) = (tmp_path / str(count) / "warc").glob("*.warc.gz")
        with warc.open("rb") as file:
            told.append([_shown(record) for record in ArchiveIterator(file) if record.rec_type == "response"])
    assert len(told[0]) == PAGES + 1  # and robots.txt
    assert told[0] == told[1]


def _shown(record: ArcWarcRecord) -> tuple[str, str, bytes]:
    """URL, status and body as it was transferred."""
    return record.rec_headers["WARC-Target-URI"], record.http_headers.get_statuscode(), record.raw_stream.read()
