"""The recrawl cycle, live: every host has a worker that visits the page the scheduler chooses, again and again.

A slow host delays no other; `engine.world.Shares` keeps the share of the cycle at each host. The recrawl side itself,
of a crawl or a replay, is put together here from the knowledge of the fleet and the settings.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from forager.arrays import BoolArray, FloatArray, IntArray
from forager.chance import stream
from forager.clock import pause
from forager.core.candidates import EVERYWHERE, NOWHERE, Candidates
from forager.core.exploration import Thrift
from forager.core.page_row import LOOKS_APART
from forager.core.scheduler import Scheduler
from forager.core.shared import Shared
from forager.engine.crawl_settings import CrawlSettings
from forager.engine.live_fleet import judge_sighting
from forager.recrawl.policies import Policy, history_for
from forager.recrawl.recrawl_settings import LEARNED, RecrawlSettings
from forager.recrawl.visit_log import VisitLog
from forager.terms import NOBODY, UrlId

if TYPE_CHECKING:  # a crawl starts its cycle
    from forager.engine.crawl import Crawl

RESTS = 30
"""A rest is no shorter than `crawl.idle` divided by this."""
CLOSING_VISITS = 5
"""At the end of a crawl each host gets time for this many visits after lists that were just visited may be visited
again.
"""


class RecrawlCycle:
    """Visits known pages again."""

    def __init__(self, crawl: "Crawl", closes: float) -> None:
        """From the time `closes` on, shortly before the end, busy lists are visited once more."""
        self.crawl, self.closes = crawl, closes
        self.world, self.clock, self.settings = crawl.world, crawl.clock, crawl.settings
        self.scheduler, self.table = crawl.scheduler, crawl.shared.visits
        self._rng = stream(crawl.agent.seed, "recrawl")

    def __repr__(self) -> str:
        return f"<RecrawlCycle {self.scheduler!r}>"

    async def run(self, stopping: asyncio.Event) -> None:
        """Serves all hosts, including those that become known later, until told to stop."""
        served: set[int] = set()
        async with asyncio.TaskGroup() as group:
            while not stopping.is_set():
                for event in self.scheduler.turn(self.clock.now()):
                    self.crawl.journal.write(event)
                for host in self.scheduler.groups:
                    if host not in served:
                        served.add(host)
                        group.create_task(self._serve(host, stopping))
                await pause(self.clock, self.settings.idle, stopping)

    async def _serve(self, host: int, stopping: asyncio.Event) -> None:
        """Visits the pages of one host, always the best at that moment."""
        while not stopping.is_set():
            closing = self.clock.now() >= self.closes
            chosen = self.scheduler.choose(self.clock.now(), self._rng.random(), host, closing=closing)
            if chosen is not None and await self._look(UrlId(chosen[0]), chosen[1]):
                await self._correct(host)
                continue
            if chosen is None and await self._correct(host):
                continue
            longest, shortest = self.settings.idle, self.settings.idle / RESTS
            if chosen is None:
                longest = self.scheduler.rest(self.clock.now(), host, shortest, longest)
                self.crawl.thrift.rested(longest / self.settings.idle)
            until_close = max(shortest, self.closes - self.clock.now())
            await pause(self.clock, min(longest, until_close), stopping)

    async def _correct(self, host: int) -> bool:
        """Visits a young story once more if it is time for that; returns whether a request was made."""
        if self.clock.now() >= self.closes:
            return False
        id = self.crawl.corrections.choose(self.world.store.host_name(host), self.clock.now())
        if id is None:
            return False
        before = self.world.store.known(id).last_visit
        await self._look(id, 0.0, correct=True)
        return self.world.store.known(id).last_visit != before  # otherwise the caller would ask again at once, for ever

    async def _look(self, id: UrlId, worth: float, *, correct: bool = False) -> bool:
        """Visits a page; returns False if its host can take no request now. `correct`: it is a second visit of a story."""
        self.table.going(id, self.clock.now())
        (sighting,) = await self.world.visit([id], NOBODY)
        crawl = self.crawl
        if not sighting.free and not correct:
            crawl.thrift.spend(worth)
        await crawl.teller.settle(judge_sighting(sighting, crawl.agent, crawl.shared, self.clock.now()))
        if not sighting.free:
            if sighting.url != id:  # redirected: the other page says nothing of this one
                self.table.record(id, sighting.when)
            self.scheduler.looked(sighting.url)
            return True
        await asyncio.sleep(0)  # no request made this task wait: let others run, such as the end of the crawl
        if not sighting.ok:  # it was not requested: the crawl ends, or the page is skipped
            until = self.clock.now() + (self.world.settings.retry_after if sighting.gone else self.settings.idle)
            self.scheduler.postpone(id, min(until, self.world.held_from.get(id, until)))
            return sighting.gone
        self.scheduler.postpone(id, self.clock.now() + min(self.settings.idle, LOOKS_APART))  # a copy served it
        return True


def make_scheduler(
    policy: Policy,
    shared: Shared,
    thrift: Thrift,
    crawl: CrawlSettings,
    recrawl: RecrawlSettings,
    *,
    revisit_after: float,
    live: bool = False,
    last: Callable[[], FloatArray] | None = None,
    seeds: IntArray = NOWHERE,
    only: BoolArray = EVERYWHERE,
    known: Callable[[], IntArray] | None = None,
    groups: Callable[[int], IntArray] | None = None,
) -> Scheduler:
    """Makes the scheduler of a crawl or replay on the page table, which from now on keeps the histories that it needs.

    It keeps single visits too if functions are learned from them: live, or in replays that learn. See `Candidates` for
    the other parameters.
    """
    pages = shared.visits
    retrain = recrawl.retrain
    learns = retrain.enabled and (live or retrain.replays) and (retrain.any_policy or policy.name == LEARNED)
    pages.keep_histories(history_for(policy.score, 0, recrawl, crawl.cycle), VisitLog() if learns else None)
    candidates = Candidates(
        pages,
        shared.mind,
        thrift,
        every=crawl.cycle,
        last=last or (lambda: pages.history.tables.times[1]),
        revisit_after=revisit_after,
        seeds=seeds,
        only=only,
        known=known,
        groups=groups,
    )
    shared.reveal = candidates.reveal
    return Scheduler(policy, candidates)
