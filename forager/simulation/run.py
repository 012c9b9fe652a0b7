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
from forager.engine.policy import read_policy
from forager.engine.retraining import Retraining, foretelling
from forager.engine.scheduling import make_scheduler
from forager.engine.settings import CrawlSettings
from forager.engine.step import judge_sighting
from forager.events import Event
from forager.foragers.settings import ForagerKind, ForagerSettings
from forager.foragers.sighting import Reinforcement, Sighting
from forager.foragers.thrift import Thrift
from forager.recrawl.contest import contest
from forager.recrawl.settings import DEFAULTS, RecrawlSettings
from forager.reinforcing.agent import ReinforcingAgent
from forager.reinforcing.settings import ReinforcingSettings
from forager.simulation.account import Account, Figures
from forager.simulation.course import VISIT, Course, Records
from forager.simulation.fitting import TapeNumbers, fitted, shared_for
from forager.simulation.looking import CYCLE, MANAGE, RECRAWL
from forager.simulation.luck import Luck
from forager.simulation.patrol import Patrol
from forager.simulation.reading import judge_shown, read_off
from forager.simulation.telling import Telling
from forager.terms import UrlId
from forager.world.tape.columns import Tape
from forager.world.tape.player import TapeClock, TapeWorld
from forager.world.tape.truth import Documents, documents


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
        judged, same = reinforcing.relevancy.identity, foragers.identity == reinforcing.relevancy.identity
        self.account = Account(
            self.world, self._truth(foragers, judged), updates=judged == "version", max_age=foragers.max_age
        )
        self.agent.known_as = TapeNumbers(self.account.truth)
        self.agent.sent_as = self.agent.known_as if same else TapeNumbers(self._truth(foragers, foragers.identity))
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
        looks = self.ordering is None and self.retraining is None and self.scheduler.policy.score is None
        self._patrol = Patrol(self.course, crawl, self.world, self.scheduler, self.shared, self.thrift, self.agent,
                              self._luck, self.share, looks=looks, tells=tell is not None)  # fmt: skip

    def __repr__(self) -> str:
        return f"<Replay at {self.clock.time:.0f}, {self.world!r}, {self.agent!r}>"

    def run(self, until: float | None = None) -> Account:
        """Play until the end, or until a moment before it, from which another call goes on as if there had been no stop."""
        end = self.end if until is None else min(until, self.end)
        while self.clock.time < end:
            self._play(end)
            self.account.watch(self.clock.time)
            if self.ordering is not None:
                self.ordering.renew_if_due(self.clock.time)
        self.account.end = min(max(end, self.clock.time), self.end)  # a slow download may end behind `until`
        return self.account

    def figures(self, *, warm_up: float = 0.0) -> Figures:
        """What came of it."""
        return self.account.figures(len(self.shared.visits.met()), warm_up=warm_up)

    def _truth(self, foragers: ForagerSettings, identity: str) -> Documents:
        return documents(self.world.tape, identity=identity, max_age=foragers.max_age, hubs=foragers.hubs)

    def _play(self, end: float) -> None:
        """Downloads by kernels, until something is to be done that they cannot do; then that."""
        why, records = self._patrol.play(min(end, self.account.due), end)
        self._happened(records)
        if why == RECRAWL:
            self._recrawl()
        elif why == CYCLE:
            self._turn(self.clock.time)
        elif why == MANAGE:
            happened = self._patrol.manage()
            if self._telling is not None:
                self._telling.managed(happened)

    def _happened(self, records: Records) -> None:
        """What kernels have done is told to everybody who wants to know."""
        self.account.enter(records)
        if self._telling is not None:
            self._telling.happened(records)
        if not self._patrol.looks:
            self._overhear(records)

    def _overhear(self, records: Records) -> None:
        """The recrawl side and the link graph hear of the links that the downloads of the fleet showed."""
        gone = self.world.columns.gone
        for record in records[records["what"] == VISIT]:
            version, at = int(record["version"]), float(record["at"])
            if version < 0 or gone[version]:
                continue
            links = self.world.links_of(version, at)
            if self.shared.reveal is not None:
                self.shared.reveal(links, at)
            if self.ordering is not None:
                self.ordering.saw(UrlId(int(record["page"])), links)

    # The recrawl side.

    def _known(self) -> NDArray[np.int64]:
        """The pages that may be downloaded; documents that are read off lists are none of them."""
        return self.world.downloadable(self.shared.visits.met())

    def _turn(self, now: float) -> None:
        """A cycle may have passed."""
        for event in self.scheduler.turn(now):
            self._tell(event)

    def _recrawl(self) -> None:
        """One download of the recrawl side, if anything is worth one now."""
        now = self.clock.time
        self._turn(now)
        self._retrain(now)
        chosen = self.scheduler.choose(now, self._luck.next())
        if chosen is None:
            self.thrift.rested()
            self.course.recrawl_rests = now + self._idle
            return
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

    def _enter(self, sighting: Sighting, first: bool, reinforcements: list[Reinforcement]) -> list[Reinforcement]:
        """What a visit of the recrawl side brought, with the documents that can be read off the page."""
        if self.world.reads_off and sighting.ok:
            since = self.clock.time - self.agent.forager_settings.max_age
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
