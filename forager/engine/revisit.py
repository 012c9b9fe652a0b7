"""The recrawl cycle, live: rank all known pages, look at the best ones, again and again.

Each host is served by one worker of its own, so that a slow host delays nobody; the share of the cycle at each host is
kept by `world.shares`.
"""

import asyncio
from collections.abc import Callable

import numpy as np

from forager.clock import Clock
from forager.engine.patrol import fresh_links, judge_sighting
from forager.engine.resting import rest
from forager.engine.settings import CrawlSettings
from forager.engine.telling import Teller
from forager.events import Event, Scheduled
from forager.foragers.shared import Shared
from forager.foragers.thrift import Thrift
from forager.pages.urls import host
from forager.reinforcing.agent import ReinforcingAgent
from forager.store.protocol import Store
from forager.terms import NOBODY, UrlId
from forager.world.visits import WebWorld

POLICY = "expected new documents"


class RecrawlCycle:
    """Chooses pages by a score function of what all visits taught."""

    def __init__(
        self,
        store: Store,
        world: WebWorld,
        agent: ReinforcingAgent,
        shared: Shared,
        teller: Teller,
        clock: Clock,
        thrift: Thrift,
        settings: CrawlSettings,
        note: Callable[[Event], None],
    ) -> None:
        self.store, self.world, self.agent, self.shared, self.teller = store, world, agent, shared, teller
        self.clock, self.thrift, self.settings, self.note = clock, thrift, settings, note

    async def run(self, stopping: asyncio.Event) -> None:
        """One cycle after the other until told to stop."""
        while not stopping.is_set():
            until = self.clock.now() + self.settings.cycle
            queues = self._schedule(self.clock.now())
            async with asyncio.TaskGroup() as group:
                for queue in queues.values():
                    group.create_task(self._serve(queue, until, stopping))
            await rest(self.clock, min(until - self.clock.now(), self.settings.idle), stopping)

    def _schedule(self, now: float) -> dict[str, list[tuple[int, float]]]:
        """All known pages with their worth, best first, by host; links that just appeared before everything else."""
        known = np.arange(self.store.counts().known, dtype=np.int64)
        worth, fresh = self.shared.visits.worth(known, now)
        order = np.lexsort((known, -worth, ~fresh))
        self.note(Scheduled(now, POLICY, len(known), int((worth >= self.settings.least_worth).sum())))
        queues: dict[str, list[tuple[int, float]]] = {}
        for id, expected in zip(order.tolist(), worth[order].tolist(), strict=True):
            if expected > 0:
                queues.setdefault(host(self.store.url(UrlId(id))), []).append((id, expected))
        return queues

    async def _serve(self, queue: list[tuple[int, float]], until: float, stopping: asyncio.Event) -> None:
        """Visit the pages of one host in order; links that just appeared on one of them at once."""
        waiting = queue[::-1]
        while waiting and not stopping.is_set() and self.clock.now() < until and self.thrift.allows(waiting[-1][1]):
            id, worth = waiting.pop()
            self.shared.visits.going(UrlId(id), self.clock.now())
            (sighting,) = await self.world.visit([UrlId(id)], NOBODY)
            if not sighting.free:
                self.thrift.spend(worth)
            await self.teller.settle(judge_sighting(sighting, self.agent, self.shared, self.clock.now()))
            waiting += fresh_links(sighting, self.shared, self.clock.now())
