"""The fleet, live: every forager is a task of its own; births start tasks, deaths end them.

The baseline BFS is `sweep`: every known page in turn, breadth first, and again when it is due. It knows nothing of news:
links are visited in the order in which they were found, pages again after `revisit_after`.

One step of a forager (Alg 12), and visits that are no steps: decide, wait, judge and learn.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from forager.clock import Clock, pause
from forager.core import agent as population
from forager.core.agent import ReinforcingAgent
from forager.core.exploration import Thrift
from forager.core.findings import Sighting
from forager.core.fleet import Forager
from forager.core.shared import Shared
from forager.engine.crawl_settings import CrawlSettings
from forager.engine.stories import Taken, Teller
from forager.engine.world import WebWorld
from forager.events import Born, Deleted, Event, Reinforced
from forager.store.store import Store
from forager.terms import NOBODY, ForagerId, UrlId


class World(Protocol):
    """What foragers and the recrawl cycle see: pages, in batches."""

    async def visit(self, urls: Sequence[UrlId], by: ForagerId) -> list[Sighting]:
        """Look at pages now; a page that cannot be had is a sighting too."""


async def take_step(
    forager: Forager,
    agent: ReinforcingAgent,
    world: World,
    shared: Shared,
    clock: Clock,
    thrift: Thrift,
) -> Taken:
    """The heart of the engine: decide, wait, decide, learn.

    A page that promises too little is not asked for: the step is free and brings nothing. If the forager is deleted while
    it waits, what it saw is judged in nobody's name.
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
    """Take in a visit that was no step of a forager: of the recrawl cycle, or of the breadth-first sweep (`by`).

    Its document, if it shows one, is judged by the same agent, and pays the page that revealed it. A download of the
    recrawl cycle counts for the forager in whose territory it lies.
    """
    first, earned = shared.note(sighting), []
    if by == NOBODY and not sighting.free:
        earned = agent.look(sighting, first, now, shared)
    elif sighting.ok and not sighting.free:
        revealer = shared.visits.revealer(sighting.url) if first else sighting.url
        earned = agent.judge(sighting, revealer, now, shared, by)
    shared.pace.downloaded(not sighting.free)
    return Taken([sighting], earned)


@dataclass(frozen=True, slots=True)
class CrawlParts:
    """What the fleet, the sweep and the recrawl cycle work with."""

    world: WebWorld
    agent: ReinforcingAgent
    shared: Shared
    teller: Teller
    clock: Clock
    thrift: Thrift
    settings: CrawlSettings
    note: Callable[[Event], None]


class Fleet:
    """All foragers at once in one task group."""

    def __init__(self, parts: CrawlParts) -> None:
        self.parts, self.agent, self.clock = parts, parts.agent, parts.clock
        self._tasks: dict[ForagerId, asyncio.Task[None]] = {}

    def __repr__(self) -> str:
        return f"<Fleet {self.agent!r}>"

    async def run(self, stopping: asyncio.Event) -> None:
        """Let all forage until told to stop; every forager finishes its step."""
        async with asyncio.TaskGroup() as group:
            for forager in self.agent.foragers.values():
                self._send_out(forager, group, stopping)

    def _send_out(self, forager: Forager, group: asyncio.TaskGroup, stopping: asyncio.Event) -> None:
        self._tasks[forager.id] = group.create_task(self._forage(forager, group, stopping))

    async def _forage(self, forager: Forager, group: asyncio.TaskGroup, stopping: asyncio.Event) -> None:
        parts, free = self.parts, 0
        while not stopping.is_set() and forager.id in self.agent.foragers:
            taken = await take_step(forager, self.agent, parts.world, parts.shared, self.clock, parts.thrift)
            for one in taken.reinforcements:
                parts.note(Reinforced(self.clock.now(), forager.id, one.finding.url, one.amount))
            await parts.teller.settle(taken)
            self._manage(forager, group, stopping)
            free = 0 if taken.downloads else free + 1
            if free >= parts.settings.free_steps:
                if parts.settings.recrawl_share <= 0:  # nobody else says that nothing was worth a download
                    parts.thrift.rested()
                await pause(self.clock, parts.settings.idle, stopping)

    def _manage(self, forager: Forager, group: asyncio.TaskGroup, stopping: asyncio.Event) -> None:
        """Multiply or delete as the scores demand (Alg 8)."""
        if forager.id not in self.agent.foragers:
            return
        for happened in self.agent.manage(forager.id, self.clock.now()):
            if isinstance(happened, population.Removal):
                self.parts.note(Deleted(happened.at, happened.forager, happened.score))
                if happened.forager != forager.id:
                    self._tasks[happened.forager].cancel()
            else:
                child = self.agent.foragers[happened.child]
                self.parts.note(Born(happened.at, child.id, child.kind.value, happened.parent))
                self._send_out(child, group, stopping)


def announce(agent: ReinforcingAgent, note: Callable[[Event], None]) -> None:
    """Tell the journal who is there at the start."""
    for record in agent.records.values():
        if record.deleted is None:
            note(Born(record.born, record.id, record.kind.value, NOBODY if record.parent is None else record.parent))


LONGEST_REST = 60.0
"""Seconds after which a worker without work looks again whether there is some."""


async def sweep(parts: CrawlParts, store: Store, stopping: asyncio.Event) -> None:
    """Sweep until told to stop; every worker finishes the page it is at."""
    agent, clock = parts.agent, parts.clock
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
            sighting = await parts.world.look(leases[0], ForagerId(forager))
            taken = judge_sighting(sighting, agent, parts.shared, clock.now(), ForagerId(forager))
            agent.worked(ForagerId(forager), taken.downloads)
            if resting and store.counts().known > known:  # there is work for those who rest
                bell.set()
                bell.clear()
            await parts.teller.settle(taken)

    async with asyncio.TaskGroup() as group:
        for _ in range(parts.settings.workers):
            group.create_task(work())
