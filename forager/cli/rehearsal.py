"""A rehearsal: a made-up site is crawled in simulated time, so that every kernel that a crawl calls is compiled."""

import asyncio
from dataclasses import replace

from forager.assembly import make_crawl, wire
from forager.clock import LoopClock
from forager.engine.crawl import stop_after
from forager.reports.account import Account
from forager.settings import Settings
from forager.store.memory import MemoryStore
from forager.world.newsroom.newsroom import Newsroom


async def rehearse(settings: Settings, hours: float) -> None:
    """A crawl as it is set, of a small made-up site in memory, for so many simulated hours."""
    plain = Settings()
    chosen = replace(
        settings,
        newsroom=replace(plain.newsroom, days=1),
        timetable=replace(plain.timetable, download_delay=20.0, longest_wait=86_400.0),
        crawl=replace(settings.crawl, ordering="td", save_every=3600.0),
        recrawl=replace(settings.recrawl, retrain=plain.recrawl.retrain),
        focus=plain.focus,
        scope=plain.scope,
    )
    clock, stopping = LoopClock(chosen.newsroom.start), asyncio.Event()
    newsroom = Newsroom(chosen.newsroom, clock)
    crawl = await make_crawl(chosen, clock, wire(chosen, clock, newsroom), MemoryStore(), newsroom.homes, Account())
    async with asyncio.TaskGroup() as group:
        group.create_task(stop_after(clock, hours * 3600, stopping))
        group.create_task(crawl.run(newsroom.homes, stopping))
