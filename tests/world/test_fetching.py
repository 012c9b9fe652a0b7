"""Pages fetched and read by other processes: the same answers, and nothing that dies or hangs there hurts the crawl."""

import asyncio
import gzip
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from forager.clock import WallClock
from forager.pages.facts import facts_of
from forager.pages.settings import PagesSettings
from forager.terms import DateSource, Kind, Outcome, Request, Response, Trouble, Url, Validators
from forager.world.fetching import LiveBeside
from forager.world.live import Live
from forager.world.reading import Reader
from forager.world.settings import LiveSettings
from tests.server import LOOPBACK, Seen, Served, Site, serving

SETTINGS = LiveSettings(user_agent="Forager/0.1 (+http://127.0.0.1/)", allow_addresses=LOOPBACK)
HTML = {"Content-Type": "text/html; charset=utf-8"}
PROSE = "The council said on Monday that a new bridge over the river would open next year after long talks. "
STORY = (
    '<html lang="en"><head><title>Bridge opens | Gazette</title><link rel="canonical" href="/bridge">'
    '<meta name="robots" content="noarchive"><meta property="article:published_time" content="2024-05-01T08:00:00Z">'
    f'</head><body><nav><a href="/">Home</a></nav><article><h1>Bridge opens</h1>{f"<p>{PROSE * 4}</p>" * 8}'
    '<time datetime="2024-05-01T09:30:00Z">today</time></article>'
    '<a href="/next" rel="nofollow">Next</a></body></html>'
).encode()
FEED = (
    b'<?xml version="1.0"?><rss version="2.0"><channel><title>News</title><item><title>Story</title>'
    b"<link>https://a.example/1</link><pubDate>Wed, 01 May 2024 09:00:00 GMT</pubDate></item></channel></rss>"
)
PACKED = gzip.compress(STORY.replace(b'href="/', b'href="/packed/'))
Pages = dict[str, Served | Callable[[Seen], Served]]
ENDLESS = b"<p>" + b"<a href='/x'>x</a> y " * 450_000
PAGES: Pages = {
    "/story": Served(STORY, headers=HTML | {"ETag": '"1"'}),
    "/packed": Served(
        gzip.compress(STORY.replace(b'href="/', b'href="/packed/')), headers=HTML | {"Content-Encoding": "gzip"}
    ),
    "/feed": Served(FEED, headers={"Content-Type": "application/rss+xml"}),
    "/utf16": Served(
        STORY.decode().replace("Monday", "Montag für 日本").replace('href="/', 'href="/utf16/').encode("utf-16")
    ),
    "/broken": Served(b"<p>\xff\xfe broken &#xD800; " * 500),
    "/binary": Served(bytes(range(256)) * 20),
    "/empty": Served(b""),
    "/moved": Served(b"elsewhere", 302, {"Location": "/story"}),
    "/busy": Served(b"later", 503, {"Retry-After": "7"}),
    "/large": Served(b"x" * 200_000),
}


def beside(count: int = 1, *, keep_bodies: bool = False, seconds: float = 20.0, **caps: int) -> LiveBeside:
    settings = replace(SETTINGS, **caps)  # type: ignore[arg-type]
    return LiveBeside(count, WallClock(), settings, PagesSettings(), keep_bodies=keep_bodies, seconds=seconds)


@pytest.fixture(scope="module", autouse=True)
def compiled_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Modules are compiled for the first process and read by the others, as after an installation."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        patch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path_factory.mktemp("compiled")))
        yield


async def started(web: LiveBeside) -> None:
    while len(web.ready) < web.processes:
        await asyncio.sleep(0.01)


def plain(response: Response) -> Response:
    """Without what differs from one fetch to the next, and without what may stay elsewhere."""
    headers = tuple((name, value) for name, value in response.headers if name != "date")
    return replace(response, asked=0.0, seconds=0.0, headers=headers, body=b"")


async def test_pages_fetched_and_read_beside_are_those_fetched_and_read_here() -> None:
    async with serving(PAGES) as site, beside(body_limit=150_000) as there:
        await started(there)
        async with Live(WallClock(), replace(SETTINGS, body_limit=150_000)) as here:
            for path in [*PAGES, "/missing"]:
                request = Request(site.url(path))
                one, two = await here.fetch(request), await there.fetch(request)
                assert plain(two) == plain(one)
                if one.outcome is Outcome.FETCHED:
                    assert two.body == b""
                    read_here, read_there = [Reader(PagesSettings()).page(response) for response in (one, two)]
                    assert facts_of(read_there) == facts_of(read_here)


async def test_a_request_comes_there_as_it_is_and_one_that_is_cancelled_disturbs_no_other() -> None:
    pages = PAGES | {"/robots.txt": Served(b"User-agent: *\n" * 100), "/slow": Served(b"<p>slow", pause=0.2)}
    async with serving(pages) as site, beside() as web:
        await started(web)
        unchanged = await web.fetch(Request(site.url("/story"), Validators('"1"')))
        assert (unchanged.outcome, unchanged.status, unchanged.facts) == (Outcome.UNCHANGED, 304, b"")
        assert site.log[-1].headers["if-none-match"] == '"1"'
        part = await web.fetch(Request(site.url("/robots.txt"), body_limit=20))
        assert (part.body, part.facts) == ((b"User-agent: *\n" * 2)[:20], b"")
        no_url = await web.fetch(Request(Url("http://a.example/\ud800")))
        assert (no_url.outcome, no_url.trouble) == (Outcome.REFUSED, Trouble.URL)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await web.fetch(Request(site.url("/slow")))
        await asyncio.sleep(0.3)  # its answer comes, and nobody wants it
        assert (await web.fetch(Request(site.url("/story")))).facts


async def test_addresses_are_guarded_there() -> None:
    async with serving(PAGES) as site:
        async with LiveBeside(1, WallClock(), LiveSettings(), PagesSettings()) as web:
            await started(web)
            response = await web.fetch(Request(site.url("/story")))
        assert (response.outcome, response.trouble) == (Outcome.REFUSED, Trouble.ADDRESS)
        assert site.log == []


async def test_bodies_come_along_for_a_recording_as_they_were_transferred() -> None:
    async with serving(PAGES) as site, beside(keep_bodies=True) as web:
        await started(web)
        response = await web.fetch(Request(site.url("/packed")))
        assert (response.coded, response.body) == (PACKED, gzip.decompress(PACKED))
        assert Reader(PagesSettings()).page(response).title == "Bridge opens"
        assert (await web.fetch(Request(site.url("/busy")))).body == b"later"


async def test_a_date_that_is_not_believed_gives_way_to_the_next_one() -> None:
    async with serving(PAGES) as site, beside() as web:
        await started(web)
        web.liars = lambda url: [DateSource.META]
        page = Reader(PagesSettings()).page(await web.fetch(Request(site.url("/story"))))
        stated, believed = page.published, page.published_but({DateSource.META})
        assert stated is not None and stated.source is DateSource.META
        assert believed is not None and believed.source is DateSource.TIME
        assert page.published_but({DateSource.META, DateSource.TIME}) is None


async def test_a_host_belongs_to_one_process_but_may_be_asked_by_others_at_the_same_time() -> None:
    async with serving({"/slow": Served(b"<p>slow", pause=0.3)}, hosts=2) as site, beside(2) as web:
        await started(web)

        async def at_work(*hosts: int) -> list[int]:
            """How many requests each process has while these hosts are asked."""
            async with asyncio.TaskGroup() as group:
                for host in hosts:
                    group.create_task(web.fetch(Request(site.url("/slow", host))))
                await asyncio.sleep(0.1)
                return [len(one.asked) for one in web.ready]

        assert [await at_work(*hosts) for hosts in ([0], [1], [0], [1])] == [[1, 0], [0, 1], [1, 0], [0, 1]]
        assert await at_work(0, 0, 0, 0) == [2, 2]


async def test_a_page_that_takes_too_long_to_read_ends_its_process_twice_and_is_not_read_any_more() -> None:
    async with serving(PAGES | {"/endless": Served(ENDLESS, headers=HTML)}) as site, beside(seconds=0.4) as web:
        for _ in range(2):
            await started(web)
            lost = await web.fetch(Request(site.url("/endless")))
            assert (lost.outcome, lost.trouble) == (Outcome.FAILED, Trouble.CONNECT)
        await started(web)
        response = await web.fetch(Request(site.url("/endless")))
        page = Reader(PagesSettings()).page(response)
        assert (response.outcome, page.kind, page.links, page.text) == (Outcome.FETCHED, Kind.OTHER, (), "")
        assert "too long" in page.trouble
        assert page.byte_print == Reader(PagesSettings()).page(replace(response, body=ENDLESS, facts=b"")).byte_print


def test_a_process_that_is_killed_is_replaced_and_its_requests_have_failed_also_on_uvloop() -> None:
    async def main() -> None:
        pages = PAGES | {"/slow": Served(b"<p>slow", pause=30.0)}
        async with serving(pages) as site, beside() as web:
            await started(web)
            (first,) = web.pids
            async with asyncio.TaskGroup() as group:
                slow = group.create_task(web.fetch(Request(site.url("/slow"))))
                await asked(site, "/slow")
                os.kill(first, signal.SIGKILL)
            assert (slow.result().outcome, slow.result().trouble) == (Outcome.FAILED, Trouble.CONNECT)
            assert (await web.fetch(Request(site.url("/story")))).outcome is Outcome.FETCHED  # here, in the meantime
            await started(web)
            assert first not in web.pids
            assert (await web.fetch(Request(site.url("/story")))).facts

    pytest.importorskip("uvloop").run(main())


async def asked(site: Site, path: str) -> None:
    while not site.asked(path):
        await asyncio.sleep(0.01)


async def test_without_processes_pages_are_fetched_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    async with serving(PAGES) as site, beside() as web:
        for _ in range(20):
            response = await web.fetch(Request(site.url("/story")))
            assert (response.outcome, response.body, response.facts) == (Outcome.FETCHED, STORY, b"")
            await asyncio.sleep(0.01)


def test_processes_end_when_the_crawl_is_killed() -> None:
    script = (
        "import asyncio\n"
        "from forager.clock import WallClock\n"
        "from forager.pages.settings import PagesSettings\n"
        "from forager.world.fetching import LiveBeside\n"
        "from forager.world.settings import LiveSettings\n"
        "async def main():\n"
        "    async with LiveBeside(2, WallClock(), LiveSettings(), PagesSettings()) as beside:\n"
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
