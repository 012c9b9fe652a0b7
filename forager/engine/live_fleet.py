"""The fleet, live: every forager is a task of its own; births start tasks, deletions end them.

The baseline BFS is `sweep`: every known page in turn, breadth first, and again when it is due. It knows nothing of
news: links are visited in the order in which they were found, pages again after `revisit_after`.

`take_step` is one step of a forager (Alg 12); `judge_sighting` judges a visit that belongs to no step.
"""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from forager.clock import Clock, pause
from forager.core import agent as population
from forager.core.agent import ReinforcingAgent
from forager.core.exploration import Thrift
from forager.core.findings import Sighting
from forager.core.fleet import Forager
from forager.core.shared import Shared
from forager.engine.stories import Taken
from forager.events import Born, Deleted, Reinforced
from forager.terms import NOBODY, ForagerId, UrlId

if TYPE_CHECKING:  # a crawl starts what stands here
    from forager.engine.crawl import Crawl


class World(Protocol):
    """Pages as foragers and the recrawl cycle see them, in batches."""

    async def visit(self, urls: Sequence[UrlId], by: ForagerId) -> list[Sighting]:
        """Visits pages now; a page that cannot be fetched gives a sighting too."""


async def take_step(
    forager: Forager,
    agent: ReinforcingAgent,
    world: World,
    shared: Shared,
    clock: Clock,
    thrift: Thrift,
) -> Taken:
    """Takes one step of a forager: decide, wait, judge, learn.

    A page that promises too little is not requested: the step costs nothing and brings nothing. If the forager is
    deleted while it waits, what it saw is judged without it.
    """
    step = agent.choose(forager, clock.now(), shared)
    if thrift.allows(step.worth):
        sightings = await world.visit([step.url], forager.id)
        if not sightings[0].free:
            thrift.spend(step.worth)
            if sightings[0].url != step.url:  # redirected
                shared.visits.record(step.url, sightings[0].when)
    else:
        sightings = [Sighting(step.url, clock.now(), ok=False, free=True)]
    if step.links and sightings[0].ok:
        sightings += await world.visit([UrlId(int(url)) for url in sightings[0].links], forager.id)
    now = clock.now()
    if forager.id in agent.foragers:
        return Taken(sightings, agent.see(forager, step, sightings, now, shared))
    taken = [judge_sighting(sighting, agent, shared, now) for sighting in sightings]
    return Taken(sightings, [one for each in taken for one in each.reinforcements])


def judge_sighting(
    sighting: Sighting, agent: ReinforcingAgent, shared: Shared, now: float, by: ForagerId = NOBODY
) -> Taken:
    """Records and judges a visit that belongs to no step of a forager: of the recrawl cycle, or of the breadth-first
    sweep (`by`).

    Its document, if it shows one, is judged by the same agent, and is credited to the page that revealed it. A download
    of the recrawl cycle counts for the forager in whose territory the page is.
    """
    first, earned = shared.note(sighting), []
    if by == NOBODY and not sighting.free:
        earned = agent.look(sighting, first, now, shared)
    elif sighting.ok and not sighting.free:
        revealer = shared.visits.revealer(sighting.url) if first else sighting.url
        earned = agent.judge(sighting, revealer, now, shared, by)
    shared.pace.downloaded(not sighting.free)
    return Taken([sighting], earned)


class Fleet:
    """All foragers at the same time, in one task group."""

    def __init__(self, crawl: "Crawl") -> None:
        self.crawl, self.agent, self.clock = crawl, crawl.agent, crawl.clock
        self._tasks: dict[ForagerId, asyncio.Task[None]] = {}

    def __repr__(self) -> str:
        return f"<Fleet {self.agent!r}>"

    async def run(self, stopping: asyncio.Event) -> None:
        """Runs all foragers until told to stop; each finishes its step."""
        async with asyncio.TaskGroup() as group:
            for forager in self.agent.foragers.values():
                self._send_out(forager, group, stopping)

    def _send_out(self, forager: Forager, group: asyncio.TaskGroup, stopping: asyncio.Event) -> None:
        self._tasks[forager.id] = group.create_task(self._forage(forager, group, stopping))

    async def _forage(self, forager: Forager, group: asyncio.TaskGroup, stopping: asyncio.Event) -> None:
        crawl, free = self.crawl, 0
        while not stopping.is_set() and forager.id in self.agent.foragers:
            taken = await take_step(forager, self.agent, crawl.world, crawl.shared, self.clock, crawl.thrift)
            for one in taken.reinforcements:
                crawl.journal.write(Reinforced(self.clock.now(), forager.id, one.finding.url, one.amount))
            await crawl.teller.settle(taken)
            self._manage(forager, group, stopping)
            await asyncio.sleep(0)  # a free step never waits, so several of them would hold the loop for long
            free = 0 if taken.downloads else free + 1
            if free >= crawl.settings.free_steps:
                if crawl.settings.recrawl_share <= 0:  # then nobody else reports that nothing was worth a download
                    crawl.thrift.rested()
                await pause(self.clock, crawl.settings.idle, stopping)

    def _manage(self, forager: Forager, group: asyncio.TaskGroup, stopping: asyncio.Event) -> None:
        """Multiplies or deletes foragers by their scores (Alg 8)."""
        if forager.id not in self.agent.foragers:
            return
        for happened in self.agent.manage(forager.id, self.clock.now()):
            if isinstance(happened, population.Removal):
                self.crawl.journal.write(Deleted(happened.at, happened.forager, happened.score))
                if happened.forager != forager.id:
                    self._tasks[happened.forager].cancel()
            else:
                child = self.agent.foragers[happened.child]
                self.crawl.journal.write(Born(happened.at, child.id, child.kind.value, happened.parent))
                self._send_out(child, group, stopping)


LONGEST_REST = 60.0
"""Seconds after which a worker without work looks for work again."""


async def sweep(crawl: "Crawl", stopping: asyncio.Event) -> None:
    """Visits pages when they are due, until told to stop; every worker finishes its page."""
    agent, clock, store = crawl.agent, crawl.clock, crawl.store
    (forager,) = agent.foragers
    bell = asyncio.Event()
    resting = 0

    async def work() -> None:
        nonlocal resting
        while not stopping.is_set():
            leases = await store.lease(1, clock.now())
            if not leases:
                due = store.next_due(clock.now())
                wait = LONGEST_REST if due is None else min(LONGEST_REST, max(due - clock.now(), 0.01))
                resting += 1
                await pause(clock, wait, stopping, bell)
                resting -= 1
                continue
            known = store.counts().known if resting else 0
            sighting = await crawl.world.look(leases[0], ForagerId(forager))
            taken = judge_sighting(sighting, agent, crawl.shared, clock.now(), ForagerId(forager))
            agent.worked(ForagerId(forager), taken.downloads)
            if resting and store.counts().known > known:  # there is work for those who rest
                bell.set()
                bell.clear()
            await crawl.teller.settle(taken)

    async with asyncio.TaskGroup() as group:
        for _ in range(crawl.settings.workers):
            group.create_task(work())
