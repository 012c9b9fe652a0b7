"""The recrawl cycle, live: rank all known pages, look at the best ones, again and again.

Each host is served by one worker of its own, so that a slow host delays nobody; the share of the cycle at each host is
kept by `world.shares`.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from forager.chance import stream
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


@dataclass(slots=True)
class Queue:
    """Pages of one host with their worth; both lists are taken from the end."""

    worthwhile: list[tuple[int, float]] = field(default_factory=list)
    unseen: list[tuple[int, float]] = field(default_factory=list)


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
        self._rng = stream(agent.seed, "recrawl")

    async def run(self, stopping: asyncio.Event) -> None:
        """One cycle after the other until told to stop."""
        while not stopping.is_set():
            until = self.clock.now() + self.settings.cycle
            queues = self._schedule(self.clock.now())
            async with asyncio.TaskGroup() as group:
                for queue in queues.values():
                    group.create_task(self._serve(queue, until, stopping))
            await rest(self.clock, min(until - self.clock.now(), self.settings.idle), stopping)

    def _schedule(self, now: float) -> dict[str, Queue]:
        """The known pages by host: what is worth a request, links that just appeared before everything else; and the rest
        that nobody has seen."""
        known = np.arange(self.store.counts().known, dtype=np.int64)
        worth, fresh = self.shared.visits.worth(known, now)
        worthwhile = worth >= self.settings.least_worth
        unseen = (worth > 0) & ~worthwhile & ~self.shared.visits.visited(known)
        self.note(Scheduled(now, POLICY, len(known), int(worthwhile.sum())))
        queues: defaultdict[str, Queue] = defaultdict(Queue)
        ranks, some = worth, self._rng.permutation(known[unseen])
        if self.shared.order is not None:
            ranks, some = worth * self.shared.leaning(known), some[np.argsort(self.shared.order.appeal(some))]
        for id in some.tolist():
            queues[host(self.store.url(UrlId(id)))].unseen.append((id, float(worth[id])))
        best_last = np.lexsort((known, ranks, fresh))
        for id in best_last[worthwhile[best_last]].tolist():
            queues[host(self.store.url(UrlId(id)))].worthwhile.append((id, float(worth[id])))
        return queues

    async def _serve(self, queue: Queue, until: float, stopping: asyncio.Event) -> None:
        """Visit the pages of one host, best first; links that just appeared on one of them at once."""
        while not stopping.is_set() and self.clock.now() < until:
            if queue.worthwhile:
                id, worth = queue.worthwhile.pop()
            elif queue.unseen and self.thrift.allows(queue.unseen[-1][1]):
                id, worth = queue.unseen.pop()  # not by worth: the best of the poor would be the same again and again
            else:
                return
            self.shared.visits.going(UrlId(id), self.clock.now())
            (sighting,) = await self.world.visit([UrlId(id)], NOBODY)
            if not sighting.free:
                self.thrift.spend(worth)
            await self.teller.settle(judge_sighting(sighting, self.agent, self.shared, self.clock.now()))
            queue.worthwhile += fresh_links(sighting, self.shared, self.clock.now())
