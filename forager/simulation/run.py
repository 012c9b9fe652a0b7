"""One replay: a fleet and a recrawl cycle over a tape, one after the other on one clock (Alg 9).

Every download costs the same time, so a budget of downloads per hour fixes the pace. Each cycle the recrawl side has its
share of the time first; then the foragers have their slices in turn. Time that a fleet leaves unspent, because all it can
reach was seen a moment ago, goes to the recrawl side, and if that has nothing worth a download either, it passes.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forager.engine.patrol import judge_sighting
from forager.engine.settings import CrawlSettings
from forager.engine.step import Taken, take_step
from forager.foragers.forager import Forager
from forager.foragers.settings import ForagerKind, ForagerSettings
from forager.foragers.shared import Shared
from forager.foragers.sighting import Sighting
from forager.reinforcing.agent import ReinforcingAgent, ReinforcingSettings
from forager.simulation.account import Account
from forager.terms import UrlId
from forager.world.tape.columns import Tape
from forager.world.tape.player import TapeClock, TapeWorld


@dataclass(frozen=True, slots=True)
class Plan:
    """What a replay is to do."""

    budget: float
    """Downloads per hour."""
    seeds: tuple[UrlId, ...]
    kinds: tuple[ForagerKind, ...] = ()
    """The first foragers, one kind each; none: as the settings say."""
    start: float | None = None
    end: float | None = None


class Replay:
    """A fleet on a tape; `run` plays it to the end."""

    def __init__(
        self,
        tape: Tape,
        plan: Plan,
        crawl: CrawlSettings,
        foragers: ForagerSettings,
        reinforcing: ReinforcingSettings,
        *,
        revisit_after: float,
        seed: int,
    ) -> None:
        self.plan, self.crawl = plan, crawl
        self.clock = TapeClock(tape.start if plan.start is None else plan.start)
        self.end = tape.end if plan.end is None else plan.end
        self.world = TapeWorld(tape, self.clock, seconds=3600 / plan.budget, revisit_after=revisit_after)
        self.agent = ReinforcingAgent(reinforcing, foragers, seed)
        self.shared = Shared.fresh(tape.states.shape[1] or foragers.states.dimension, foragers.expectation, foragers.leaving)
        self.account = Account(tape, self.clock.time)
        self.agent.start(np.asarray(plan.seeds, dtype=np.int64), self.clock.time, plan.kinds)

    def __repr__(self) -> str:
        return f"<Replay at {self.clock.time:.0f}, {self.world!r}, {self.agent!r}>"

    async def run(self) -> Account:
        """Play until the end of the tape."""
        while self.clock.time < self.end:
            await self._cycle(self.clock.time, min(self.clock.time + self.crawl.cycle, self.end))
        self.account.close(self.world, self.agent, self.end)
        return self.account

    async def _cycle(self, begin: float, end: float) -> None:
        share = 0.0 if self.agent.forager_settings.kind is ForagerKind.BFS else self.crawl.recrawl_share
        self._recrawl(begin + share * (end - begin))
        while share < 1 and self.clock.time < end:
            busy = False
            for _ in range(len(self.agent.foragers)):
                busy |= await self._slice(self.agent.turn(), end)
                if self.clock.time >= end:
                    break
            if not busy:
                self._recrawl(end)
                break
        self.clock.time = max(self.clock.time, end)
        self.account.sample(self.world, end)

    async def _slice(self, forager: Forager, end: float) -> bool:
        """One turn of one forager; whether it downloaded anything."""
        until = min(self.clock.time + self.agent.settings.slice, end)
        free = downloads = 0
        while self.clock.time < until and free < self.crawl.free_steps:
            taken = await take_step(forager, self.agent, self.world, self.shared, self.clock)
            self._note(taken)
            free = 0 if taken.downloads else free + 1
            downloads += taken.downloads
        self.agent.manage(forager.id, self.clock.time)
        return downloads > 0

    def _recrawl(self, until: float) -> None:
        """Download what is worth most, best first, until the time is over."""
        if self.clock.time >= until:
            return
        for url in self._schedule().tolist():
            if self.clock.time >= until:
                return
            taken = judge_sighting(self._look(url), self.agent, self.shared, self.clock.time)
            self._note(taken, recrawl=True)

    def _look(self, url: int) -> Sighting:
        self.shared.visits.going(UrlId(url), self.clock.time)
        return self.world.look(url)

    def _schedule(self) -> NDArray[np.int64]:
        known = self.account.known()
        worth, fresh = self.shared.visits.worth(known, self.clock.time)
        score = np.where(fresh, worth + 1e3, worth)
        keep = np.flatnonzero(worth >= self.crawl.least_worth)
        return known[keep[np.argsort(-score[keep], kind="stable")]]

    def _note(self, taken: Taken, *, recrawl: bool = False) -> None:
        self.account.note(taken, self.clock.time, recrawl=recrawl)

