"""The fleet, live: every forager is a task of its own; births start tasks, deaths end them.

The baseline BFS is `sweep`: every known page in turn, breadth first, and again when it is due. It knows nothing of news:
links are visited in the order in which they were found, pages again after `revisit_after`.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from forager.clock import Clock, pause
from forager.core import agent as population
from forager.core.agent import ReinforcingAgent
from forager.core.exploration import Thrift
from forager.core.fleet import Forager
from forager.core.shared import Shared
from forager.engine.crawl_settings import CrawlSettings
from forager.engine.step import judge_sighting, take_step
from forager.engine.stories import Teller
from forager.engine.world import WebWorld
from forager.events import Born, Deleted, Event, Reinforced
from forager.store.store import Store
from forager.terms import NOBODY, ForagerId


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
