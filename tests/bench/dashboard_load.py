"""How quickly the dashboard answers when there is much to show, and how much an open dashboard slows a crawl.

    python tests/bench/dashboard_load.py [--pages 100000] [--stories 5000] [--visits 4000] [--rounds 4]

The crawl visits the same pages of the Newsroom again and again, in process and without politeness, so that it is bound by
the processor; its clock moves with the visits, so that every visit costs about the same. Turns with and without a watcher
alternate; the watcher is another process that listens to the stream and asks for its page every two seconds, as a browser
does. What is compared is the least processor time per visit of any turn: other work on the machine only ever adds to it.
"""

import argparse
import asyncio
import itertools
import statistics
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from forager.assembly import Wire, make_crawl, wire
from forager.clock import WallClock
from forager.dashboard.chronicle import Chronicle
from forager.dashboard.server import message, serve_dashboard
from forager.dashboard.views import Views
from forager.dashboard.watched import watch
from forager.engine.crawl import Crawl
from forager.engine.crawl_settings import DashboardSettings
from forager.events import Fetched, Told
from forager.newsroom.newsroom import Newsroom
from forager.report.account import Account
from forager.store.protocol import AcceptedStory, Found, Version, Visit
from forager.store.store import Store
from forager.terms import NOBODY, Channel, Dated, DateSource, ForagerId, Kind, Outcome, Trouble, Url, UrlId
from tests.dashboard.crawling import lively

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
WATCHER = str(Path(__file__).with_name("dashboard_watcher.py"))
FAST = (
    "timetable.download_delay=0",
    "timetable.longest_wait=1d",
    "newsroom.latency=0",
    "visits.revisit_after=0",
    "newsroom.corrections=0",
    "newsroom.page_size=12000",
)


async def main() -> None:
    """Both measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--stories", type=int, default=5_000)
    parser.add_argument("--visits", type=int, default=4_000, help="of each turn")
    parser.add_argument("--rounds", type=int, default=4)
    options = parser.parse_args()
    await answers(options.pages, options.stories)
    await slowing(options.visits, options.rounds)


# How quickly it answers.


@asynccontextmanager
async def filled(pages: int, stories: int) -> AsyncIterator[tuple[Crawl, Chronicle, Wire]]:
    """A crawl that has seen much, and stands still."""
    settings, clock, store, account = lively(), WallClock(), Store(), Account()
    chronicle = Chronicle(account)
    newsroom = Newsroom(settings.newsroom, clock)
    parts = wire(settings, clock, newsroom)
    crawl = await make_crawl(settings, clock, parts, store, newsroom.homes, account, [chronicle])
    now = clock.now()
    urls = [Url(f"https://site{n % 50}.example/2026/03/02/article-{n}.html") for n in range(pages)]
    ids = await store.put(
        [Found(url, Channel.LINK, now, None if n == 0 else UrlId(n // 20), due=now) for n, url in enumerate(urls)]
    )
    crawl.agent.start(crawl.shared.visits.hubs, now)
    for n, id in enumerate(ids):
        at = now - 86_400 + 86_400 * n / pages
        await _enter(crawl, id, urls[n], at, is_story=n % max(1, pages // stories) == 0)
    yield crawl, chronicle, parts


async def _enter(crawl: Crawl, id: UrlId, url: Url, at: float, *, is_story: bool) -> None:
    """A visit with its version and, perhaps, a story."""
    text = f"The council of town {id} said on Monday that the bridge will be rebuilt. " * 5
    dated = Dated(at - 600, DateSource.META)
    version = Version(Kind.ARTICLE, id, id, id, f"Town {id} rebuilds its bridge", text, "en", published=dated)
    number = await crawl.store.ack(Visit(id, at, Outcome.FETCHED, 200, 0.1, 9000, changed=False, version=version))
    crawl.journal.write(
        Fetched(at, id, url, NOBODY, Outcome.FETCHED, 200, Trouble.NONE, "", 0.1, 9000, Kind.ARTICLE, False, 3)
    )
    crawl.shared.visits.record(id, at)
    if number is None or not is_story:
        return
    site = url.split("/")[2]
    story = AcceptedStory(id, number, url, site, version.title, at - 600, "meta", at, at, None, Channel.LINK)
    await crawl.store.settle(number, story)
    crawl.journal.write(Told(at, id, url, site, version.title, at - 600, "meta", 600.0, Channel.LINK, ForagerId(0)))


async def answers(pages: int, stories: int) -> None:
    """The time to the last byte of each answer."""
    async with (
        filled(pages, stories) as (crawl, chronicle, parts),
        serve_dashboard(watch("bench", crawl, chronicle.account, parts), chronicle, DashboardSettings()) as address,
    ):
        page = f"api/page?url={chronicle.stories[-1][1].url}"
        print(f"{crawl.store.counts().known:,} pages, {chronicle.account.stories:,} stories")
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
            share = await _share(client, address, Views(watch("bench", crawl, chronicle.account, parts), chronicle))
            print(f"an open page takes {1000 * share:.1f} ms of the processor per second")


async def _share(client: aiohttp.ClientSession, address: str, views: Views) -> float:
    """Processor time per second for one open page: a page every two seconds (asking included), a message every second."""
    times = 20
    before = time.process_time()
    for _ in range(times):
        async with client.get(f"{address}api/now") as answer:
            await answer.read()
    between = time.process_time()
    for _ in range(times):
        message(views.figures() | {"new": []})
    return ((between - before) / 2 + time.process_time() - between) / times


# How much it slows a crawl.


class Stepped:
    """A clock that moves only with the visits, so that every turn finds as much news as any other."""

    def __init__(self, time: float) -> None:
        self.time = time

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)


async def slowing(visits: int, rounds: int) -> None:
    """Processor time per visit, alone and watched by turns."""
    settings = lively(*FAST)
    clock, chronicle = Stepped(settings.newsroom.start + 12 * 3600), Chronicle(Account())
    newsroom = Newsroom(settings.newsroom, clock)
    parts = wire(settings, clock, newsroom)
    crawl = await make_crawl(settings, clock, parts, Store(), newsroom.homes, chronicle.account, [chronicle])
    seeds = await crawl.store.put([Found(url, Channel.SEED, clock.now(), due=clock.now()) for url in newsroom.homes])
    crawl.agent.start(np.asarray(seeds), clock.now())
    costs: dict[bool, list[float]] = {False: [], True: []}
    dashboard = serve_dashboard(watch("bench", crawl, chronicle.account, parts), chronicle, DashboardSettings())
    async with dashboard as address, crawl.world:
        pages = itertools.cycle(await _found(crawl, seeds))
        await _cost(crawl, clock, pages, "", visits)  # to warm up
        for turn in range(4 * rounds):
            watched = turn % 4 in (1, 2)  # alone, watched, watched, alone: a drift hits both alike
            costs[watched].append(await _cost(crawl, clock, pages, address if watched else "", visits))
    alone, seen = min(costs[False]), min(costs[True])
    print(
        f"\n{'crawl':<26}{'ms per visit':>14}\n{'alone':<26}{alone:>14.3f}\n{'with an open dashboard':<26}{seen:>14.3f}"
    )
    print(f"slower by {seen / alone - 1:.1%} (alone: {_list(costs[False])}; watched: {_list(costs[True])})")


async def _found(crawl: Crawl, seeds: list[UrlId]) -> list[UrlId]:
    """Pages to visit again and again: what the seeds link to, seen once."""
    for id in seeds:
        await crawl.world.visit([id])
    pages = [UrlId(id) for id in range(crawl.store.counts().known)][:200]
    for id in pages:
        await crawl.world.visit([id])
    return pages


async def _cost(crawl: Crawl, clock: Stepped, pages: Iterator[UrlId], address: str, visits: int) -> float:
    """Milliseconds of this process's processor time per visit; with an address somebody watches there."""
    watcher = await asyncio.create_subprocess_exec(sys.executable, WATCHER, address) if address else None
    await asyncio.sleep(2.0)
    before = time.process_time()
    for id in itertools.islice(pages, visits):
        clock.time += 20.0
        await crawl.world.visit([id])
    spent = time.process_time() - before
    if watcher is not None:
        watcher.terminate()
        await watcher.wait()
    return 1000 * spent / visits


def _list(values: list[float]) -> str:
    return " ".join(f"{value:.2f}" for value in values)


if __name__ == "__main__":
    asyncio.run(main())
