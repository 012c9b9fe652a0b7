"""How quickly the dashboard answers when there is much to show, and how much an open dashboard slows a crawl.

    python tests/bench/dashboard_load.py [--pages 100000] [--stories 5000] [--seconds 6] [--rounds 4]

The crawl is the Newsroom over HTTP without politeness, so that it is bound by the processor. Turns with and without a
watcher alternate in one crawl; the watcher is another process that listens to the stream and asks for its page every two
seconds, as a browser does. What is compared is the crawl's processor time per request.
"""

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

sys.path.insert(0, str(Path(__file__).parents[2]))

from forager.assembly import make_crawl, wire
from forager.clock import FastClock, WallClock
from forager.dashboard.app import serve_dashboard
from forager.dashboard.chronicle import Chronicle
from forager.dashboard.settings import DashboardSettings
from forager.engine.crawl import Crawl
from forager.events import Fetched, Told
from forager.store.memory import MemoryStore
from forager.store.protocol import Found, Story, Version, Visit
from forager.terms import NOBODY, Channel, Dated, DateSource, ForagerId, Kind, Outcome, Trouble, Url, UrlId
from forager.world.newsroom.newsroom import Newsroom
from tests.dashboard.crawling import Running, crawling, lively

START = 1_772_409_600.0
PATHS = (
    "api/now",
    "api/stories?limit=1000",
    "api/fleet",
    "api/forager?id=0",
    "api/sites",
    "api/recrawl",
    "metrics",
    "stories.atom",
)
FAST = (
    "timetable.download_delay=0",
    "timetable.concurrent_requests_per_host=8",
    "newsroom.latency=0",
    "newsroom.page_size=8000",
    "crawl.least_worth=0",
    "crawl.explore=1",
    "visits.revisit_after=60s",
    "reinforcing.scores.multiply_at=1000",
)


async def main() -> None:
    """Both measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--stories", type=int, default=5_000)
    parser.add_argument("--seconds", type=float, default=6.0, help="of each turn")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--watch", help="used by itself: watch the dashboard at this address")
    options = parser.parse_args()
    if options.watch:
        await watch(options.watch)
    else:
        await answers(options.pages, options.stories)
        await slowing(options.seconds, options.rounds)


# How quickly it answers.


@asynccontextmanager
async def filled(pages: int, stories: int) -> AsyncIterator[tuple[Crawl, Chronicle]]:
    """A crawl that has seen much, and stands still."""
    settings, clock, store, chronicle = lively(), WallClock(), MemoryStore(), Chronicle()
    newsroom = Newsroom(settings.newsroom, clock)
    crawl = await make_crawl(settings, clock, wire(settings, clock, newsroom), store, newsroom.homes, [chronicle])
    now = clock.now()
    urls = [Url(f"https://site{n % 50}.example/2026/03/02/article-{n}.html") for n in range(pages)]
    ids = await store.put(
        [Found(url, Channel.LINK, now, None if n == 0 else UrlId(n // 20), due=now) for n, url in enumerate(urls)]
    )
    crawl.agent.start(crawl.shared.visits.hubs, now)
    for n, id in enumerate(ids):
        at = now - 86_400 + 86_400 * n / pages
        await _enter(crawl, chronicle, id, urls[n], at, is_story=n % max(1, pages // stories) == 0)
    yield crawl, chronicle


async def _enter(crawl: Crawl, chronicle: Chronicle, id: UrlId, url: Url, at: float, *, is_story: bool) -> None:
    """A visit with its version and, perhaps, a story."""
    text = f"The council of town {id} said on Monday that the bridge will be rebuilt. " * 5
    dated = Dated(at - 600, DateSource.META)
    version = Version(Kind.ARTICLE, id, id, id, f"Town {id} rebuilds its bridge", text, "en", published=dated)
    number = await crawl.store.ack(Visit(id, at, Outcome.FETCHED, 200, 0.1, 9000, changed=False, version=version))
    chronicle(Fetched(at, id, url, NOBODY, Outcome.FETCHED, 200, Trouble.NONE, "", 0.1, 9000, Kind.ARTICLE, False, 3))
    crawl.shared.visits.visit(id, at)
    if number is None or not is_story:
        return
    site = url.split("/")[2]
    story = Story(id, number, url, site, version.title, at - 600, "meta", at, at, None, Channel.LINK)
    await crawl.store.settle(number, story)
    chronicle(Told(at, id, url, site, version.title, at - 600, "meta", 600.0, Channel.LINK, ForagerId(0)))


async def answers(pages: int, stories: int) -> None:
    """The time to the last byte of each answer."""
    async with (
        filled(pages, stories) as (crawl, chronicle),
        serve_dashboard(crawl, chronicle, DashboardSettings()) as address,
    ):
        page = f"api/page?url={chronicle.stories[-1][1].url}"
        print(f"{crawl.store.counts().known:,} pages, {chronicle.told:,} stories")
        print(f"{'answer':<26}{'median ms':>10}{'worst ms':>10}{'kB':>8}")
        async with aiohttp.ClientSession() as client:
            for path in (*PATHS, page):
                took, size = [], 0
                for _ in range(9):
                    began = time.perf_counter()
                    async with client.get(address + path) as answer:
                        size = len(await answer.read())
                        assert answer.status == 200, path
                    took.append(1000 * (time.perf_counter() - began))
                print(
                    f"{path.partition('?')[0]:<26}{statistics.median(took):>10.1f}{max(took[1:]):>10.1f}{size / 1000:>8.0f}"
                )


# How much it slows a crawl.


async def slowing(seconds: float, rounds: int) -> None:
    """Processor time per request of one crawl, alone and watched by turns."""
    costs: dict[bool, list[float]] = {False: [], True: []}
    settings = lively(*FAST)
    async with crawling(settings, clock=FastClock(settings.newsroom.start + 6 * 3600, 1200.0)) as running:
        await asyncio.sleep(8.0)  # compiles, and finds its pages
        for turn in range(4 * rounds):
            watched = turn % 4 in (1, 2)  # alone, watched, watched, alone: a drift of the crawl hits both alike
            costs[watched].append(await _cost(running, seconds, watched=watched))
    alone, seen = statistics.mean(costs[False]), statistics.mean(costs[True])
    print(
        f"\n{'crawl':<26}{'ms per request':>15}\n{'alone':<26}{alone:>15.3f}\n{'with an open dashboard':<26}{seen:>15.3f}"
    )
    print(f"slower by {seen / alone - 1:.1%} (alone: {_list(costs[False])}; watched: {_list(costs[True])})")


def _list(values: list[float]) -> str:
    return " ".join(f"{value:.2f}" for value in values)


async def _cost(running: Running, seconds: float, *, watched: bool) -> float:
    """Milliseconds of this process's processor time per request, the Newsroom's own work included."""
    call = (sys.executable, __file__, "--watch", running.address)
    watcher = await asyncio.create_subprocess_exec(*call) if watched else None
    await asyncio.sleep(2.0)
    before, requests = time.process_time(), running.chronicle.requests
    await asyncio.sleep(seconds)
    spent, made = time.process_time() - before, running.chronicle.requests - requests
    if watcher is not None:
        watcher.terminate()
        await watcher.wait()
    return 1000 * spent / max(1, made)


async def watch(address: str) -> None:
    """What an open page does."""
    async with aiohttp.ClientSession() as client, asyncio.TaskGroup() as group:
        group.create_task(_listen(client, address))
        while True:
            async with client.get(f"{address}api/now") as answer:
                await answer.read()
            await asyncio.sleep(2.0)


async def _listen(client: aiohttp.ClientSession, address: str) -> None:
    async with client.get(f"{address}api/stream", timeout=aiohttp.ClientTimeout()) as stream:
        async for _ in stream.content:
            pass


if __name__ == "__main__":
    asyncio.run(main())
