"""A crawl: the fleet (or the sweep) and the recrawl cycle over one world and one store, until told to stop.

Archives can give histories to pages that were never visited, so that the first cycle of a crawl knows rates:
`Crawl.warm_up`.
"""

import asyncio
import contextlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from forager.clock import Clock, Offload, inline, pause
from forager.compiler import Compiler
from forager.core.agent import ReinforcingAgent
from forager.core.exploration import Thrift
from forager.core.page_row import LOOKS_APART
from forager.core.page_table import PageTable
from forager.core.parameters import ForagerKind
from forager.core.scheduler import Scheduler
from forager.core.shared import Shared
from forager.engine.corrections import YOUNG, Corrections
from forager.engine.crawl_settings import CrawlSettings
from forager.engine.ingest import make_sighting
from forager.engine.live_fleet import Fleet, judge_sighting, sweep
from forager.engine.recrawl_cycle import CLOSING_VISITS, RecrawlCycle
from forager.engine.scope import Scope
from forager.engine.stories import Teller
from forager.engine.world import WebWorld
from forager.events import Born, Journal, Resumed
from forager.recrawl.change_log import Captured
from forager.store.protocol import Found
from forager.store.store import Store
from forager.terms import NOBODY, Channel, Url, UrlId

if TYPE_CHECKING:  # few crawls have these, and they are slow to load
    from forager.engine.link_order import Ordering
    from forager.engine.page_states import LiveStates
    from forager.engine.teacher import Retraining
    from forager.engine.topic import TopicDesk

_BATCH = 1000  # pages of an archive that enter the store at once


@dataclass(frozen=True, slots=True)
class Crawl:
    """All parts of a crawl. Call `run` once; what was learned is in the store afterwards."""

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
    """None if the policy never changes."""
    settings: CrawlSettings
    learned: Mapping[str, Callable[[], bytes | Callable[[], bytes]]]
    """What to keep in the store, by name: each entry returns its state as bytes, or a function that encodes it in a
    thread.
    """
    delay: float
    """Seconds between two requests to one host."""
    offload: Offload = inline
    states: "LiveStates | None" = None
    """None if states are not used."""
    ordering: "Ordering | None" = None
    """None if long-term profit alone orders never-visited pages."""
    topic: "TopicDesk | None" = None
    """None if every topic counts."""
    compiler: Compiler | None = None
    """Compiles beside the crawl; None if kernels are compiled at their first call."""

    def __repr__(self) -> str:
        return f"<Crawl {self.agent!r} {self.store!r}>"

    async def run(self, seeds: list[Url], stopping: asyncio.Event, ends: float = math.inf) -> None:
        """Crawls until told to stop; then finishes what is under way and saves.

        `ends` is the time when that will be, if it is known: busy lists, and what they show, are visited once more
        before it.
        """
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
            if self.agent.forager_settings.kind is ForagerKind.BFS:
                group.create_task(sweep(self, stopping))
            else:
                if self.settings.recrawl_share < 1:
                    group.create_task(Fleet(self).run(stopping))
                if self.settings.recrawl_share > 0:
                    closes = ends - LOOKS_APART - CLOSING_VISITS * self.delay
                    group.create_task(RecrawlCycle(self, closes).run(stopping))
        await self.save()

    async def warm_up(self, seeds: list[Url], captured: Iterable[Captured]) -> tuple[int, int]:
        """Enters what an archive knows of pages of this crawl; returns how many pages and captures that were."""
        await self._plant(seeds)
        return await warm_up(captured, self.store, self.shared.visits, self.world.ingest.scope)

    async def save(self) -> None:
        """Keeps the fleet and all that was learned in the store."""
        states = {name: state() for name, state in self.learned.items()}  # all of one moment, and committed together
        packed = await self.offload(
            lambda: {name: one if isinstance(one, bytes) else one() for name, one in states.items()}
        )
        async with asyncio.TaskGroup() as group:
            for name, value in packed.items():
                group.create_task(self.store.keep(name, value))

    async def _begin(self, seeds: list[Url]) -> None:
        """Enters the seeds, creates the first foragers, and decides what a sudden end left undecided."""
        now = self.clock.now()
        ids = await self._plant(seeds)
        if self.agent.records:
            counts = self.store.counts()
            self.journal.write(Resumed(now, counts.known, counts.stories, len(self.agent.foragers)))
        else:
            self.agent.start(np.asarray(ids, dtype=np.int64), now)
        for one in self.agent.records.values():
            if one.deleted is None:
                parent = NOBODY if one.parent is None else one.parent
                self.journal.write(Born(one.born, one.id, one.kind.value, parent))
        await self._remember_stories(now)
        await self._decide_leftovers(now)

    async def _plant(self, seeds: list[Url]) -> list[UrlId]:
        """Enters the seeds; those known already stay as they are."""
        now = self.clock.now()
        return await self.store.put([Found(url, Channel.SEED, now, due=now) for url in seeds])

    async def _remember_stories(self, now: float) -> None:
        """Accepts the stored stories as documents, whatever the fleet itself remembers."""
        async for story in self.store.stories():
            self.agent.accepts(story.id, story.version, story.text_print)
            if now - story.published <= YOUNG:
                seen = self.store.known(story.id).last_visit
                self.corrections.add(story.id, story.url, story.published, story.fetched if seen is None else seen)
            if story.simhash and story.duplicate_of is None:
                self.teller.copies.learn(story.simhash, story.id)

    async def _decide_leftovers(self, now: float) -> None:
        """Judges the versions that were stored but not judged when the crawl ended."""
        for number in await self.store.unsettled():
            id, at, version = await self.store.version(number)
            links = np.asarray(version.links, dtype=np.int64)
            sighting = make_sighting(id, at, number, version.text_print, version.published, links, version.kind)
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
    """Tells the crawl to stop after a time on its clock."""
    with contextlib.suppress(asyncio.CancelledError):
        if seconds is not None:
            await pause(clock, seconds, stopping)
            stopping.set()


async def warm_up(captured: Iterable[Captured], store: Store, table: PageTable, scope: Scope) -> tuple[int, int]:
    """Enters the captures of all pages in scope; returns how many pages and captures there were.

    Each capture counts as a visit of the page, other content as a change. Captures from before the last visit are left
    out, so the same archive can be given again when a crawl goes on.
    """
    pages = captures = 0
    batch: list[Captured] = []
    for one in captured:
        url = Url(one.url)
        if store.find(url) is not None or not scope.objection(url, 1):
            batch.append(one)
        if len(batch) == _BATCH:
            pages, captures, batch = pages + len(batch), captures + await _enter(batch, store, table), []
    return pages + len(batch), captures + await _enter(batch, store, table)


async def _enter(batch: Sequence[Captured], store: Store, table: PageTable) -> int:
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
