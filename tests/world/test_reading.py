"""Pages read by other processes: the same answers, and nothing that dies or hangs there hurts the crawl."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from forager.pages.facts import facts_of
from forager.pages.settings import PagesSettings
from forager.terms import Kind, Outcome, Response, Url
from forager.world.reading import ReadBeside, ReadHere

NOON = 1_714_564_800.0
PROSE = "The council said on Monday that a new bridge over the river would open next year after long talks. "
STORY = (
    '<html lang="en"><head><title>Bridge opens | Gazette</title><link rel="canonical" href="/bridge">'
    '<meta name="robots" content="noarchive"><meta property="article:published_time" content="2024-05-01T08:00:00Z">'
    f'</head><body><nav><a href="/">Home</a></nav><article><h1>Bridge opens</h1>{f"<p>{PROSE * 4}</p>" * 8}</article>'
    '<a href="/next" rel="nofollow">Next</a></body></html>'
)
FEED = (
    '<?xml version="1.0"?><rss version="2.0"><channel><title>News</title>'
    + "".join(
        f"<item><title>Story {n}</title><link>https://a.example/{n}</link>"
        "<pubDate>Wed, 01 May 2024 09:00:00 GMT</pubDate></item>"
        for n in range(30)
    )
    + "</channel></rss>"
)


def answer(body: bytes, path: str = "/bridge", kind: str = "text/html") -> Response:
    url = Url(f"https://a.example{path}")
    return Response(url, Outcome.FETCHED, NOON, status=200, headers=(("content-type", kind),), body=body)


ANSWERS = [
    answer(STORY.encode()),
    answer(FEED.encode(), "/feed", "application/rss+xml"),
    answer(STORY.replace("Monday", "Montag für 日本").encode("utf-16"), "/other"),
    answer(b"<p>\xff\xfe broken &#xD800; " * 500, "/broken"),
    answer(bytes(range(256)) * 20, "/binary"),
    answer(b"<p>short", "/short"),
]


async def started(beside: ReadBeside) -> None:
    while not beside.ready:
        await asyncio.sleep(0.01)


async def test_pages_read_beside_are_those_read_here() -> None:
    here = ReadHere(PagesSettings())
    async with ReadBeside(1, PagesSettings()) as beside:
        await started(beside)
        for response in ANSWERS:
            assert facts_of(await beside.read(response)) == facts_of(await here.read(response))


async def test_a_page_that_takes_too_long_is_unreadable_and_the_next_one_is_read() -> None:
    endless = b"<p>" + b"<a href='/x'>x</a> y " * 400_000
    async with ReadBeside(1, PagesSettings(), seconds=0.4) as beside:
        await started(beside)
        page = await beside.read(answer(endless, "/endless"))
        assert (page.kind, page.links, page.text) == (Kind.OTHER, (), "")
        assert "too long" in page.trouble
        assert page.byte_print == (await ReadHere(PagesSettings()).read(answer(endless))).byte_print
        assert (await beside.read(ANSWERS[0])).title == "Bridge opens"


def test_a_reader_that_is_killed_is_replaced_also_on_uvloop() -> None:
    async def main() -> None:
        async with ReadBeside(1, PagesSettings()) as beside:
            await started(beside)
            assert "text" in (await beside.read(ANSWERS[0])).__dict__  # read there, not here
            (first,) = beside.pids
            os.kill(first, signal.SIGKILL)
            while first in beside.pids:
                await asyncio.sleep(0.01)
            assert (await beside.read(ANSWERS[0])).title == "Bridge opens"
            await started(beside)
            assert "text" in (await beside.read(ANSWERS[0])).__dict__

    pytest.importorskip("uvloop").run(main())


async def test_without_readers_pages_are_read_here(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(sys, "executable", "/bin/false")
    async with ReadBeside(1, PagesSettings()) as beside:
        assert (await beside.read(ANSWERS[0])).title == "Bridge opens"


def test_readers_end_when_the_crawl_is_killed() -> None:
    script = (
        "import asyncio\n"
        "from forager.pages.settings import PagesSettings\n"
        "from forager.world.reading import ReadBeside\n"
        "async def main():\n"
        "    async with ReadBeside(2, PagesSettings()) as beside:\n"
        "        print(*beside.pids, flush=True)\n"
        "        await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as crawl:
        assert crawl.stdout is not None
        pids = [int(word) for word in crawl.stdout.readline().split()]
        assert len(pids) == 2
        crawl.kill()
    waiting = 200
    while any(map(_lives, pids)) and waiting:
        time.sleep(0.05)
        waiting -= 1
    assert not any(map(_lives, pids))


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return state != "Z"  # an ended one may wait for its parent
