"""A whole crawl of a Newsroom in virtual time, in memory: the engine as it is, no sockets, no threads."""

import asyncio
import io
import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from forager.assembly import make_crawl, wire
from forager.clock import Clock, LoopClock, run_virtual
from forager.engine.crawl import Crawl, stop_after
from forager.events import Event, JournalFile, Told
from forager.newsroom.newsroom import Newsroom
from forager.report.account import Account, recall_account
from forager.settings import Settings, load_settings
from forager.store.store import Store
from forager.terms import Url
from forager.warc.exchange import Exchange
from forager.warc.writer import WarcWriter
from forager.web.web import Web

QUICK = (
    "newsroom.days=1",
    "newsroom.pace=0.5",
    "newsroom.backlog=12h",
    "timetable.download_delay=20s",
    "timetable.longest_wait=1d",
)


class InlineRecorder:
    """Writes at once, in the loop: for simulated time, where there are no threads."""

    def __init__(self, writer: WarcWriter) -> None:
        self.writer = writer

    async def take(self, exchange: Exchange) -> None:
        self.writer.write([exchange])

    async def close(self) -> None:
        self.writer.close()


class Crawled:
    """What is left of a crawl."""

    homes: Sequence[Url] = ()
    """Where it starts; by default at the home pages of the newsroom."""
    knows_end = False
    """Whether the crawl knows when it will be stopped."""

    def __init__(
        self,
        settings: Settings,
        wrap: Callable[[Web, Clock], Web] = lambda web, clock: web,
        clock: Callable[[float], LoopClock] = LoopClock,
    ) -> None:
        """`wrap` puts another web round the newsroom, or in its place; `clock` makes the clock from its epoch."""
        self.settings, self.wrap, self.clock = settings, wrap, clock
        self.journal = io.BytesIO()
        self.account = Account()
        self.stories: list[Told] = []
        self.store: Store = Store()
        self.crawl: Crawl
        self.newsroom: Newsroom

    def run(self, hours: float, *, store: Store | None = None, start: float = 0.0) -> "Crawled":
        """Crawl for so many hours of news, `start` hours after the site's beginning."""
        self.store = store or self.store
        run_virtual(self._main(hours, start))
        return self

    def _hear(self, event: Event) -> None:
        if isinstance(event, Told):
            self.stories.append(event)

    async def _main(self, hours: float, start: float) -> None:
        clock = self.clock(self.settings.newsroom.start + start * 3600)
        self.newsroom = Newsroom(self.settings.newsroom, clock)
        inner = self.wrap(self.newsroom, clock)
        stopping = asyncio.Event()
        self.account = await recall_account(self.store)
        self.crawl = await make_crawl(
            self.settings,
            clock,
            wire(self.settings, clock, inner),
            self.store,
            self.homes or self.newsroom.homes,
            self.account,
            [JournalFile(self.journal), self._hear],
        )
        async with asyncio.TaskGroup() as group:
            group.create_task(stop_after(clock, hours * 3600, stopping))
            ends = clock.now() + hours * 3600 if self.knows_end else math.inf
            group.create_task(self.crawl.run(list(self.homes or self.newsroom.homes), stopping, ends))


def crawl_newsroom(hours: float, *overrides: str, seed: int = 1, settings: Settings | None = None) -> Crawled:
    """A small newsroom, crawled for some hours of its time."""
    chosen = settings or load_settings(None, [*QUICK, *overrides]).settings
    return Crawled(replace(chosen, seed=seed, newsroom=replace(chosen.newsroom, seed=seed))).run(hours)


def urls_asked(crawled: Crawled) -> Sequence[str]:
    """Every request the newsroom saw, in order."""
    return [f"{asked.paper}{asked.target}" for asked in crawled.newsroom.requests]
