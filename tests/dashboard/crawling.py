"""A real, short crawl of the Newsroom with its dashboard, for tests, screenshots and benches."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from forager.assembly import make_crawl, open_wire
from forager.clock import FastClock
from forager.dashboard.chronicle import Chronicle
from forager.dashboard.server import serve_dashboard
from forager.dashboard.watched import Watched, watch
from forager.engine.crawl import Crawl
from forager.engine.crawl_settings import DashboardSettings
from forager.newsroom.newsroom import Newsroom, serve
from forager.report.account import recall_account
from forager.settings import Settings, load_settings
from forager.store.store import Store
from forager.terms import Url
from tests.newsroom_truth import whole_truth

LIVELY = (
    "newsroom.days=3",
    "newsroom.corrections=0.9",
    "newsroom.correction_delay=40m",
    "newsroom.title_changes=0.6",
    "newsroom.page_size=4000",
    "reinforcing.scores.relative=false",
    "reinforcing.scores.multiply_at=104",
    "reinforcing.scores.sent=0.4",
    "timetable.download_delay=20s",
    "timetable.latency_factor=0",
    "timetable.longest_wait=1d",
    "crawl.cycle=5m",
    "crawl.least_worth=0.02",
    "visits.revisit_after=5m",
)
"""Corrections and births come soon."""


@dataclass(frozen=True, slots=True)
class Running:
    """A crawl under way."""

    address: str
    crawl: Crawl
    watched: Watched
    chronicle: Chronicle
    newsroom: Newsroom
    clock: FastClock


def lively(*more: str) -> Settings:
    settings = load_settings(overrides=[*LIVELY, *more]).settings
    return replace(settings, live=replace(settings.live, allow_addresses=("127.0.0.0/8",)))


@asynccontextmanager
async def crawling(
    settings: Settings,
    folder: Path | None = None,
    seeds: Sequence[Url] = (),
    dashboard: DashboardSettings | None = None,
    *,
    run: bool = True,
    clock: FastClock | None = None,
) -> AsyncIterator[Running]:
    """The Newsroom on loopback, crawled into a folder (or memory) while the block runs."""
    clock = clock or FastClock(settings.newsroom.start + 6 * 3600, settings.demo.speed)
    store: Store = Store() if folder is None else await Store.open(folder, settings.store)
    stopping = asyncio.Event()
    account = await recall_account(store)
    chronicle = Chronicle(account)
    try:
        async with serve(Newsroom(settings.newsroom, clock), clock) as newsroom, open_wire(settings, clock) as wire:
            homes = [*newsroom.homes, *seeds]
            crawl = await make_crawl(settings, clock, wire, store, homes, account, [chronicle])
            watched = watch("the newsroom", crawl, chronicle.account, wire)
            async with (
                serve_dashboard(watched, chronicle, dashboard or DashboardSettings()) as address,
                asyncio.TaskGroup() as group,
            ):
                if run:
                    group.create_task(crawl.run(homes, stopping))
                yield Running(address, crawl, watched, chronicle, newsroom, clock)
                stopping.set()
    finally:
        await store.close()


async def corrected_article(running: Running) -> Url:
    """An article that the crawl has seen before and after a correction; it is sent there once more to see it."""
    store, truth = running.crawl.store, whole_truth(running.newsroom)
    async with asyncio.timeout(40.0):
        while True:
            await asyncio.sleep(0.2)
            for _, told in [*running.chronicle.stories]:
                if truth.changes_of(told.url, told.at, running.clock.now() - 600):
                    await running.crawl.world.visit([told.id])
                    if store.known(told.id).changes:
                        return told.url
