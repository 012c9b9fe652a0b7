"""One replay: a fleet and the recrawl side over a tape, one download after the other on one clock (Alg 9).

Every download costs the same time, so a budget of downloads per hour fixes the pace. While both sides have something worth
a download, the side that is further behind its share goes first; what one leaves unspent the other may use, and if neither
wants it, time passes.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forager.chance import stream
from forager.engine.ordering import Ordering
from forager.engine.patrol import judge_sighting
from forager.engine.policy import read_policy
from forager.engine.retraining import Retraining, foretelling
from forager.engine.scheduling import make_scheduler
from forager.engine.settings import CrawlSettings
from forager.events import Event
from forager.foragers.settings import ForagerKind, ForagerSettings
from forager.foragers.sighting import Reinforcement, Sighting
from forager.foragers.thrift import Thrift
from forager.recrawl.contest import contest
from forager.recrawl.settings import DEFAULTS, RecrawlSettings
from forager.reinforcing.agent import ReinforcingAgent
from forager.reinforcing.settings import ReinforcingSettings
from forager.simulation.account import Account, Figures
from forager.simulation.course import Course
from forager.simulation.fitting import fitted, shared_for
from forager.simulation.foraging import Foraging
from forager.simulation.looking import FLEET, MANAGE, RECRAWL
from forager.simulation.luck import Luck
from forager.simulation.patrol import Patrol, plays_fleet
from forager.simulation.playing import is_behind
from forager.simulation.reading import judge_shown, read_off
from forager.simulation.telling import Telling
from forager.terms import UrlId
from forager.world.tape.columns import Tape
from forager.world.tape.player import TapeClock, TapeWorld
from forager.world.tape.truth import documents


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
    """When to start and end; the tape's own times if not given."""


class Replay:
    """A fleet on a tape; `run` plays it to the end.

    What makes a document new is what the tape says, unless the settings say something else than `story`.
    """

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
        recrawl: RecrawlSettings = DEFAULTS,
        tell: Callable[[Event], None] | None = None,
    ) -> None:
        foragers, reinforcing = fitted(tape, foragers, reinforcing)
        seeds = np.asarray(plan.seeds, dtype=np.int64)
        self.plan, self.crawl = plan, crawl
        self.clock = TapeClock(tape.start if plan.start is None else plan.start)
        self.end = tape.end if plan.end is None else plan.end
        self.world = TapeWorld(tape, self.clock, seconds=3600 / plan.budget, revisit_after=revisit_after)
        self.agent = ReinforcingAgent(reinforcing, foragers, seed)
        self.shared = shared_for(tape, foragers)
        self.ordering = Ordering.arranged(crawl, self.agent, self.shared)
        self.thrift = Thrift(crawl.least_worth, crawl.explore, self.shared.pace, foragers.max_age)
        self._luck = Luck(stream(seed, "recrawl"), 512)
        self.scheduler = make_scheduler(
            read_policy(crawl.policy, stream(seed, "policy"), recrawl, crawl.cycle),
            self.shared,
            self.thrift,
            crawl,
            recrawl,
            known=self._known,
            shared_until=self.world.shared_until,
            lately=None if self.world.reads_off else self.shared.visits.met_after,
            seeds=seeds,
        )
        by = foretelling(foragers)
        log = self.shared.visits.log
        self.retraining = None if log is None else Retraining(self.scheduler, log, recrawl, seed, [], by=by)
        judged = reinforcing.relevancy
        truth = documents(tape, identity=judged.identity, max_age=foragers.max_age, hubs=foragers.hubs)
        updates = judged.identity == "version"
        self.account = Account(self.world, truth, updates=updates, max_age=foragers.max_age)
        self.share = 0.0 if foragers.kind is ForagerKind.BFS else crawl.recrawl_share
        self._idle = max(crawl.idle, self.world.seconds)
        self.course = Course(
            rest=self._idle,
            fleet_rests=np.inf if self.share >= 1 else self.clock.time,
            recrawl_rests=np.inf if self.share <= 0 else self.clock.time,
        )
        """How far both sides are."""
        self.agent.start(seeds, self.clock.time, plan.kinds)
        self._tell = tell or _nobody
        if self.share <= 0:
            self.shared.reveal = None
        self._telling = None if tell is None else Telling(self.world, self.agent, set(plan.seeds), tell)
        self._fleet = Foraging(self.course, crawl, self.world, self.agent, self.shared, self.thrift, self.account,
                               self._telling, alone=self.share <= 0)  # fmt: skip
        self.patrol: Patrol | None = None
        """Plays many times faster; None: every download is made by itself."""
        if tell is None and self._is_plain():
            self.patrol = Patrol(self.course, crawl, self.world, self.scheduler, self.shared, self.thrift, self.agent,
                                 self.account, self._luck, self.share)  # fmt: skip

    def __repr__(self) -> str:
        return f"<Replay at {self.clock.time:.0f}, {self.world!r}, {self.agent!r}>"

    def run(self, until: float | None = None) -> Account:
        """Play until the end, or until a moment before it, from which another call goes on as if there had been no stop."""
        end = self.end if until is None else min(until, self.end)
        while self.clock.time < end:
            if self.patrol is not None:
                self._play(self.patrol, end)
                self.account.watch(self.clock.time)
                continue
            if not (
                self._recrawl() or self._fleet.forage()
                if self._recrawl_first()
                else self._fleet.forage() or self._recrawl()
            ):
                self.clock.time = min(
                    end, max(self.clock.time, min(self.course.fleet_rests, self.course.recrawl_rests))
                )
            self.account.watch(self.clock.time)
            if self.ordering is not None:
                self.ordering.renew_if_due(self.clock.time)
        if self.patrol is not None:
            self.patrol.give_back()
        self.account.end = min(max(end, self.clock.time), self.end)  # a slow download may end behind `until`
        return self.account

    def figures(self, *, warm_up: float = 0.0) -> Figures:
        """What came of it."""
        return self.account.figures(len(self.shared.visits.met()), warm_up=warm_up)

    def _recrawl_first(self) -> bool:
        """Whether the recrawl side is further behind its share."""
        return is_behind(self.course.recrawl_spent, self.course.fleet_spent, self.share)

    # The recrawl side.

    def _known(self) -> NDArray[np.int64]:
        """The pages that may be downloaded; documents that are read off lists are none of them."""
        return self.world.downloadable(self.shared.visits.met())

    def _is_plain(self) -> bool:
        """Whether kernels know all that this replay does."""
        if self.ordering is not None or self.retraining is not None:
            return False
        return plays_fleet(self.agent) if self.share <= 0 else self.scheduler.policy.score is None

    def _play(self, patrol: Patrol, end: float) -> None:
        """Downloads by kernels, until something is to be done that they cannot do; then that."""
        why = patrol.play(min(end, self.account.due), end)
        if why == FLEET:
            self._fleet.forage()
        elif why == RECRAWL:
            self._recrawl()
        elif why == MANAGE:
            patrol.manage()

    def _recrawl(self) -> bool:
        """One download of the recrawl side; False if nothing is worth one now."""
        now = self.clock.time
        if now < self.course.recrawl_rests:
            return False
        for event in self.scheduler.turn(now):
            self._tell(event)
        self._retrain(now)
        chosen = self.scheduler.choose(now, self._luck.next())
        if chosen is None:
            self.thrift.rested()
            self.course.recrawl_rests = now + self._idle
            return False
        url, worth = chosen
        self.shared.visits.going(UrlId(url), now)
        sighting = self.world.look(url)
        self.thrift.spend(worth)
        first = self.world.reads_off and not self.shared.visits.visited(np.array([url]))[0]
        taken = judge_sighting(sighting, self.agent, self.shared, self.clock.time)
        self.scheduler.looked(url)
        self.course.recrawl_spent += 1
        reinforcements = self._enter(sighting, first, taken.reinforcements)
        if self._telling is not None:
            self._telling.looked(sighting, reinforcements)
        return True

    def _enter(self, sighting: Sighting, first: bool, reinforcements: list[Reinforcement]) -> list[Reinforcement]:
        """What a visit of the recrawl side brought, with the documents that can be read off the page."""
        if self.world.reads_off and sighting.ok:
            since = self.clock.time - self.agent.relevancy.max_age
            copies = read_off(sighting, self.world, self.shared, first=first, since=since)
            reinforcements = reinforcements + judge_shown(sighting, copies, self.agent, self.shared)
        self.account.note(reinforcements, 1, self.clock.time, recrawl=True)
        return reinforcements

    def _retrain(self, now: float) -> None:
        """Learn a better score function, if it is time for that."""
        if self.retraining is not None and self.retraining.due:
            verdict = contest(self.retraining.lesson())
            if verdict is not None:
                self._tell(self.retraining.take(verdict, now))


def _nobody(event: Event) -> None:
    """Hears every event and tells nobody."""
