"""The recrawl cycle, live: every host has a worker that looks at the page the scheduler likes best, again and again.

A slow host delays nobody; the share of the cycle at each host is kept by `world.shares`.
"""

import asyncio
from collections.abc import Callable

from forager.chance import stream
from forager.clock import Clock
from forager.core.scheduler import Scheduler
from forager.engine.resting import rest
from forager.engine.settings import CrawlSettings
from forager.engine.step import judge_sighting
from forager.engine.telling import Teller
from forager.events import Event
from forager.foragers.shared import Shared
from forager.foragers.thrift import Thrift
from forager.reinforcing.agent import ReinforcingAgent
from forager.terms import NOBODY, UrlId
from forager.world.visits import WebWorld


class RecrawlCycle:
    """Looks at known pages again."""

    def __init__(
        self,
        scheduler: Scheduler,
        world: WebWorld,
        agent: ReinforcingAgent,
        shared: Shared,
        teller: Teller,
        clock: Clock,
        thrift: Thrift,
        settings: CrawlSettings,
        note: Callable[[Event], None],
    ) -> None:
        self.scheduler, self.world, self.agent, self.shared, self.teller = scheduler, world, agent, shared, teller
        self.clock, self.thrift, self.settings, self.note = clock, thrift, settings, note
        self._rng = stream(agent.seed, "recrawl")

    def __repr__(self) -> str:
        return f"<RecrawlCycle {self.scheduler!r}>"

    async def run(self, stopping: asyncio.Event) -> None:
        """Serve all hosts, also those that become known later, until told to stop."""
        served: set[int] = set()
        async with asyncio.TaskGroup() as group:
            while not stopping.is_set():
                for event in self.scheduler.turn(self.clock.now()):
                    self.note(event)
                for host in self.scheduler.groups:
                    if host not in served:
                        served.add(host)
                        group.create_task(self._serve(host, stopping))
                await rest(self.clock, self.settings.idle, stopping)

    async def _serve(self, host: int, stopping: asyncio.Event) -> None:
        """Visit the pages of one host, the best as of now first."""
        while not stopping.is_set():
            chosen = self.scheduler.choose(self.clock.now(), self._rng.random(), host)
            if chosen is None:
                self.thrift.rested()
            if chosen is None or not await self._look(UrlId(chosen[0]), chosen[1]):
                await rest(self.clock, self.settings.idle, stopping)

    async def _look(self, id: UrlId, worth: float) -> bool:
        """Visit a page; False if nothing can be asked of its host now."""
        self.shared.visits.going(id, self.clock.now())
        (sighting,) = await self.world.visit([id], NOBODY)
        if not sighting.free:
            self.thrift.spend(worth)
        await self.teller.settle(judge_sighting(sighting, self.agent, self.shared, self.clock.now()))
        if not sighting.free:
            if sighting.url != id:  # redirected: what the other page shows says nothing of this one
                self.shared.visits.record(id, sighting.when)
            self.scheduler.looked(sighting.url)
        elif not sighting.ok:  # nobody asked for it: its host is blocked, or it is passed by
            wait = self.world.settings.retry_after if sighting.gone else self.settings.idle
            self.scheduler.postpone(id, self.clock.now() + wait)
            return sighting.gone
        return True
