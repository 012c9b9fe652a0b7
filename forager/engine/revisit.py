"""The recrawl cycle, live: rank all known pages, look at the best ones, again and again.

Each host is served by one worker of its own, so that a slow host delays nobody; the share of the cycle at each host is
kept by `world.shares`.
"""

import asyncio
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from forager.clock import Clock
from forager.engine.patrol import judge_sighting
from forager.engine.resting import rest
from forager.engine.settings import CrawlSettings
from forager.engine.telling import Teller
from forager.events import Event, Scheduled
from forager.foragers.shared import Shared
from forager.pages.urls import host
from forager.reinforcing.agent import ReinforcingAgent
from forager.store.protocol import Store
from forager.terms import NOBODY, UrlId
from forager.world.visits import WebWorld


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
        settings: CrawlSettings,
        note: Callable[[Event], None],
    ) -> None:
        self.store, self.world, self.agent, self.shared, self.teller = store, world, agent, shared, teller
        self.clock, self.settings, self.note = clock, settings, note

    async def run(self, stopping: asyncio.Event) -> None:
        """One cycle after the other until told to stop."""
        while not stopping.is_set():
            until = self.clock.now() + self.settings.cycle
            queues = self._schedule(self.clock.now())
            async with asyncio.TaskGroup() as group:
                for queue in queues.values():
                    group.create_task(self._serve(queue, until, stopping))
            await rest(self.clock, min(until - self.clock.now(), self.settings.idle), stopping)

    def _schedule(self, now: float) -> dict[str, list[UrlId]]:
        """The pages worth a look, best first, by host."""
        known = np.arange(self.store.counts().known, dtype=np.int64)
        scores = self._scores(known, now)
        order = np.argsort(-scores, kind="stable")
        chosen = order[: int((scores > 0).sum())]
        self.note(Scheduled(now, self.settings.policy, len(known), len(chosen)))
        queues: dict[str, list[UrlId]] = {}
        for id in chosen.tolist():
            queues.setdefault(host(self.store.url(UrlId(id))), []).append(UrlId(id))
        return queues

    def _scores(self, known: NDArray[np.int64], now: float) -> NDArray[np.float64]:
        """Expected new documents; 0 for what is not worth a request."""
        if not known.size:
            return np.empty(0)
        worth, fresh = self.shared.visits.worth(known, now)
        score = np.where(fresh, worth + 1e3, worth)
        score[worth < self.settings.least_worth] = 0.0
        return np.asarray(score)

    async def _serve(self, queue: list[UrlId], until: float, stopping: asyncio.Event) -> None:
        for id in queue:
            if stopping.is_set() or self.clock.now() >= until:
                return
            self.shared.visits.going(id, self.clock.now())
            (sighting,) = await self.world.visit([id], NOBODY)
            await self.teller.settle(judge_sighting(sighting, self.agent, self.shared, self.clock.now()))
