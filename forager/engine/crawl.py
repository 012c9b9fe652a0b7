"""A crawl: the fleet (or the sweep) and the recrawl cycle over one world and one store, until told to stop.

A warm start: archives give histories to pages that we never visited, so the first cycle of a crawl knows rates. Each
capture counts as a visit of the page, other content as a change. Captures not later than the last visit known are left
out, so the same archive can be given again when a crawl goes on.
"""

import asyncio
import contextlib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from forager.clock import Clock, Offload, inline, pause
from forager.compiler import Compiler
from forager.core.agent import ReinforcingAgent
from forager.core.exploration import Thrift
from forager.core.findings import Sighting
from forager.core.page_row import LOOKS_APART
from forager.core.page_table import PageTable
from forager.core.parameters import ForagerKind
from forager.core.scheduler import Scheduler
from forager.core.shared import Shared
from forager.engine.corrections import YOUNG, Corrections
from forager.engine.crawl_settings import CrawlSettings
from forager.engine.fleet import CrawlParts, Fleet, announce, judge_sighting, sweep
from forager.engine.recrawl_cycle import CLOSING_VISITS, RecrawlCycle
from forager.engine.scope import Scope
from forager.engine.stories import Teller
from forager.engine.world import WebWorld
from forager.events import Journal, Resumed
from forager.recrawl.change_log import Captured
from forager.store.protocol import Found
from forager.store.store import Store
from forager.terms import LISTS, Channel, Url, UrlId

if TYPE_CHECKING:  # few crawls have these, and they are slow to load
    from forager.engine.link_order import Ordering
    from forager.engine.page_states import LiveStates
    from forager.engine.teacher import Retraining
    from forager.engine.topic import TopicDesk


@dataclass(frozen=True, slots=True)
class Crawl:
    """All parts of a crawl. `run` it once; what it learned is in the store afterwards."""

    store: Store
    world: WebWorld
    agent: ReinforcingAgent
    shared: Shared
    teller: Teller
    journal: Journal
    clock: Clock
    thrift: Thrift
    scheduler: Scheduler
    corrections: Corrections
    retraining: "Retraining | None"
    """None if the policy stays as it is set."""
    settings: CrawlSettings
    learned: Mapping[str, Callable[[], bytes | Callable[[], bytes]]]
    """What to keep in the store, by name: each gives its present state; a large one as what is left to do beside."""
    delay: float
    """Seconds between two requests to one host."""
    offload: Offload = inline
    states: "LiveStates | None" = None
    """None if nobody asks for states."""
    ordering: "Ordering | None" = None
    """None if long-term profit alone orders never-visited pages."""
    topic: "TopicDesk | None" = None
    """None if every topic will do."""
    compiler: Compiler | None = None
    """Who compiles beside the crawl; None if kernels are compiled at their first call."""

    def __repr__(self) -> str:
        return f"<Crawl {self.agent!r} {self.store!r}>"

    async def run(self, seeds: list[Url], stopping: asyncio.Event, ends: float = math.inf) -> None:
        """Crawl until told to stop; then finish what is under way and save. `ends` is when that will be, if it is known:
        then a last look at busy lists, and at what they show, comes before it."""
        await self._begin(seeds)
        if self.compiler is not None:
            await self.compiler.ready(
                self.store.counts().known, lambda: self.scheduler.candidates.try_few(self.clock.now()), stopping
            )
        async with self.world, asyncio.TaskGroup() as group:
            group.create_task(self._mind_the_end(stopping))
            group.create_task(self._keep_saving(stopping))
            if self.states is not None:
                group.create_task(self.states.run(self.clock, stopping))
            if self.retraining is not None:
                group.create_task(self.retraining.run(self.clock, stopping, self.journal.write))
            if self.topic is not None:
                group.create_task(self.topic.run(stopping))
            if self.ordering is not None:
                group.create_task(self.ordering.run(self.store, self.clock, stopping))
            parts = CrawlParts(
                self.world,
                self.agent,
                self.shared,
                self.teller,
                self.clock,
                self.thrift,
                self.settings,
                self.journal.write,
            )
            if self.agent.forager_settings.kind is ForagerKind.BFS:
                group.create_task(sweep(parts, self.store, stopping))
            else:
                if self.settings.recrawl_share < 1:
                    group.create_task(Fleet(parts).run(stopping))
                if self.settings.recrawl_share > 0:
                    closes = ends - LOOKS_APART - CLOSING_VISITS * self.delay
                    group.create_task(RecrawlCycle(parts, self.scheduler, self.corrections, closes).run(stopping))
        await self.save()

    async def warm_up(self, seeds: list[Url], captured: Iterable[Captured]) -> tuple[int, int]:
        """Take in what an archive knows of pages of this crawl; how many pages and captures that were."""
        await self._plant(seeds)
        return await warm_up(captured, self.store, self.shared.visits, self.world.keeper.scope)

    async def save(self) -> None:
        """Keep the fleet and all that was learned."""
        states = {name: state() for name, state in self.learned.items()}  # all of one moment, and committed together
        packed = await self.offload(
            lambda: {name: one if isinstance(one, bytes) else one() for name, one in states.items()}
        )
        async with asyncio.TaskGroup() as group:
            for name, value in packed.items():
                group.create_task(self.store.keep(name, value))

    async def _begin(self, seeds: list[Url]) -> None:
        """Enter the seeds, let the first foragers out, and catch up with what a sudden end left undecided."""
        now = self.clock.now()
        ids = await self._plant(seeds)
        if self.agent.records:
            counts = self.store.counts()
            self.journal.write(Resumed(now, counts.known, counts.stories, len(self.agent.foragers)))
        else:
            self.agent.start(np.asarray(ids, dtype=np.int64), now)
        announce(self.agent, self.journal.write)
        await self._remember_stories(now)
        await self._decide_leftovers(now)

    async def _plant(self, seeds: list[Url]) -> list[UrlId]:
        """Enter the seeds; those known already stay as they are."""
        now = self.clock.now()
        return await self.store.put([Found(url, Channel.SEED, now, due=now) for url in seeds])

    async def _remember_stories(self, now: float) -> None:
        """Stories that were stored are accepted documents, whatever the fleet's own memory says."""
        async for story in self.store.stories():
            self.agent.accepts(story.id, story.version, story.text_print)
            if now - story.published <= YOUNG:
                seen = self.store.known(story.id).last_visit
                self.corrections.add(story.id, story.url, story.published, story.fetched if seen is None else seen)
            if story.simhash and story.duplicate_of is None:
                self.teller.copies.learn(story.simhash, story.id)

    async def _decide_leftovers(self, now: float) -> None:
        """Versions that were stored, but not yet judged when the crawl ended."""
        for number in await self.store.unsettled():
            id, at, version = await self.store.version(number)
            sighting = Sighting(
                url=id,
                when=at,
                version=number,
                text_print=version.text_print,
                published=np.nan if version.published is None else version.published.time,
                links=np.asarray(version.links, dtype=np.int64),
                hub=version.kind in LISTS,
            )
            if self.topic is not None:
                if self.topic.hold_again(number):
                    continue
                self.topic.read(id, number, f"{version.title}\n{version.text}", at)
            await self.teller.settle(judge_sighting(sighting, self.agent, self.shared, now))

    async def _mind_the_end(self, stopping: asyncio.Event) -> None:
        await stopping.wait()
        self.world.drain()

    async def _keep_saving(self, stopping: asyncio.Event) -> None:
        while not stopping.is_set():
            await pause(self.clock, self.settings.save_every, stopping)
            await self.save()


async def stop_after(clock: Clock, seconds: float | None, stopping: asyncio.Event) -> None:
    """Tell the crawl to stop after a time on its clock."""
    with contextlib.suppress(asyncio.CancelledError):
        if seconds is not None:
            await pause(clock, seconds, stopping)
            stopping.set()


_BATCH = 1000  # pages entered into the store at once


async def warm_up(captured: Iterable[Captured], store: Store, table: PageTable, scope: Scope) -> tuple[int, int]:
    """Enter the captures of all pages that belong to the crawl; how many pages and captures that were."""
    pages = captures = 0
    batch: list[Captured] = []
    for one in captured:
        url = Url(one.url)
        if store.find(url) is not None or not scope.objection(url, 1):
            batch.append(one)
        if len(batch) == _BATCH:
            pages, captures = pages + len(batch), captures + await _enter(batch, store, table)
            batch = []
    return pages + len(batch), captures + await _enter(batch, store, table)


async def _enter(batch: list[Captured], store: Store, table: PageTable) -> int:
    found = [
        Found(Url(one.url), Channel.ARCHIVE, float(one.when[0]), depth=1, due=float(one.when[-1])) for one in batch
    ]
    captures = 0
    for id, one in zip(await store.put(found), batch, strict=True):
        new = one.when > table.history.last(id)
        captures += int(np.count_nonzero(new))
        for at, saw in zip(one.when[new].tolist(), one.changed[new].tolist(), strict=True):
            table.recall(np.array([id]), np.array([at]), np.array([saw]))
        watched = np.minimum(np.diff(one.when[new]), table.max_age).sum() / 3600.0
        table.foretell(id, float(watched), float(np.count_nonzero(one.changed[new][1:])))
    return captures
