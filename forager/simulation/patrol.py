"""Visits of the recrawl side in a row: the kernel of `looking` is given what it needs, and its accounts are entered."""

import numpy as np

from forager.foragers.shared import Shared
from forager.foragers.sighting import Sighting
from forager.foragers.thrift import Thrift
from forager.recrawl.scheduler import Scheduler
from forager.reinforcing.agent import ReinforcingAgent
from forager.simulation.looking import CYCLE, GO_ON, JUDGE, RANK, REST, look_on
from forager.simulation.luck import Luck
from forager.world.tape.player import TapeWorld


class Patrol:
    """Plays the recrawl side as long as its visits are plain; for a policy of expected documents and no link order."""

    def __init__(
        self,
        world: TapeWorld,
        scheduler: Scheduler,
        shared: Shared,
        thrift: Thrift,
        agent: ReinforcingAgent,
        luck: Luck,
    ) -> None:
        self.world, self.scheduler, self.shared, self.thrift, self.luck = world, scheduler, shared, thrift, luck
        self._max_age, self._lists_too = agent.relevancy.max_age, agent.forager_settings.hubs
        pages = world.tape.pages
        scheduler.watch.grow(pages)
        shared.visits.reserve(pages)
        shared.states.reserve(pages)
        self._columns = world.columns
        self._widest = int(np.diff(self._columns.link_start).max(initial=0))
        self._changed = np.empty(luck.most, dtype=np.bool_)
        self.visits = 0
        """Made by the latest call, …"""
        self.rests = False
        """… and whether it ended because nothing was worth a download."""

    def __repr__(self) -> str:
        return f"<Patrol {self.world!r}>"

    def go_on(
        self, end: float, spent: tuple[float, float], share: float, fleet_rests: float
    ) -> tuple[Sighting, bool] | None:
        """Visits until one shows what must be judged, and whether it was the page's first; None: go on without me.

        `spent` are the downloads of the fleet and of the recrawl side so far.
        """
        world, scheduler, thrift, choosing = self.world, self.scheduler, self.thrift, self.scheduler.choosing
        pace = self.shared.pace
        self.visits, why = 0, GO_ON
        while why != JUDGE:
            pool = choosing.pools[0]
            pool.reserve(self._widest)
            why, visits, unrecorded, found, now, explored, hits, downloads, page, version, first = look_on(
                world.clock.time,
                end,
                scheduler.ends,
                choosing.ranked,
                choosing.every,
                choosing.known,
                choosing.used,
                spent[0],
                spent[1] + self.visits,
                share,
                fleet_rests,
                self.luck.ahead,
                self._changed,
                *self._columns,
                *self.shared.visits.columns,
                self.shared.states.rows,
                pace.hits,
                pace.downloads,
                float(pace.memory),
                thrift.least_worth,
                float(thrift.spent + thrift.rests),
                float(thrift.explored),
                thrift.explore,
                scheduler.watch.held,
                *scheduler.watch.history.tables,
                pool.awake,
                pool.resting,
                pool.until,
                pool.tally,
                self._widest,
                self._max_age,
                self._lists_too,
                world.reads_off,
            )
            world.clock.time = now
            pace.hits, pace.downloads = hits, downloads
            if visits:
                self.visits += visits
                self.luck.used(visits)
                world.counted(visits, unrecorded)
                thrift.spent += visits
                thrift.explored = int(explored)
                choosing.used += visits
                scheduler.found.extend(self._changed[:found].tolist())
            if why == RANK:
                choosing.rank(now)
            elif why == CYCLE:
                scheduler.begin_cycle(now)
            elif why == REST:
                self.luck.used(1)  # drawn for a choice that found nothing
                thrift.rested()
                break
            elif why != GO_ON:
                break
        self.rests = why == REST
        return (world.sighting(page, version, now, False), first) if why == JUDGE else None
