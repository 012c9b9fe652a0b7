"""The loop of a replay is given what it works on, and what it has done is told to those whose it is."""

import numpy as np

from forager.core.agent import Multiplied, ReinforcingAgent, Removal
from forager.core.exploration import Thrift
from forager.core.fleet import BFS
from forager.core.rules import Figures
from forager.core.scheduler import Scheduler
from forager.core.shared import Shared
from forager.engine.crawl_settings import CrawlSettings
from forager.simulation.bundles import RECORD, Books, LoopState, Records, Rules
from forager.simulation.fit import TapeNumbers
from forager.simulation.loop import play_on
from forager.simulation.luck import Luck
from forager.simulation.recrawl_turn import GO_ON, RANKING
from forager.tape.world import TapeWorld
from forager.terms import ForagerId

AT_ONCE = 4096
"""Records that are written before somebody must read them, and as many more as a single step may write."""


VISITS = 4096
"""Visits for which there is room in the trail and the log of the page table."""


class Patrol:
    """Plays both sides of a replay by one loop, as long as that can."""

    def __init__(
        self,
        course: LoopState,
        crawl: CrawlSettings,
        world: TapeWorld,
        scheduler: Scheduler,
        shared: Shared,
        thrift: Thrift,
        agent: ReinforcingAgent,
        luck: Luck,
        share: float,
        *,
        tells: bool,
    ) -> None:
        """`tells`: somebody is told when a cycle ends."""
        self.course, self.world, self.scheduler, self.shared = course, world, scheduler, shared
        self.thrift, self.agent, self.luck = thrift, agent, luck
        pages, columns = world.tape.pages, world.columns
        shared.reserve(pages)
        self._widest = widest = int(np.diff(columns.link_start).max(initial=0))
        shown = int(np.diff(columns.shown_start).max(initial=0))
        most = (1 + (widest if agent.forager_settings.links == "all" else 0)) * (2 + shown)
        self._row, self._rules = Figures[LoopState](LoopState), Figures[Rules](Rules)
        self._rules.write(_rules(crawl, world, agent, shared, thrift, share, widest, most, tells=tells))
        sent_as, known_as = agent.sent_as, agent.known_as
        assert isinstance(sent_as, TapeNumbers) and isinstance(known_as, TapeNumbers)
        self._books = Books(
            known_as=known_as.truth.of_version,
            sent_as=sent_as.truth.of_version,
            links=np.empty(widest, np.int64),
            others=np.empty(widest, np.int64),
            versions=np.empty(widest, np.int64),
            firsts=np.empty(widest, np.bool_),
            shown=np.empty(shown, np.int64),
            luck=luck.ahead,
            changed=np.empty(luck.most, np.bool_),
            records=np.zeros(AT_ONCE + most, RECORD),
        )
        sweeps = (agent.flock.state.walkers["kind"] == BFS).any()
        self._make_room(pages if sweeps else 16 * (widest + 64))

    def __repr__(self) -> str:
        return f"<Player {self.world!r}>"

    def play(self, until: float, end: float) -> tuple[int, Records]:
        """Downloads until somebody else must do something, see `loop`; what that is, and what has happened."""
        course, candidates = self.course, self.scheduler.candidates
        self._take(until, end)
        self.shared.visits.make_room(VISITS + self._widest)
        self._row.write(course)
        why = play_on(
            self._row.row,
            self._rules.row,
            self.world.columns,
            self.shared.mind(),
            candidates.choices(candidates.pool_of(room=self._widest)),
            self._books._replace(luck=self.luck.ahead),
            self.agent.flock.state,
        )
        self._row.read(course)
        self._tell()
        if why == GO_ON:
            self._make_room(self._widest)
        elif why == RANKING:
            candidates.rank(course.now)
        return why, self._books.records[: course.written]

    def manage(self) -> list[Multiplied | Removal]:
        """The turn of a forager is over, and it multiplies or is deleted."""
        id = int(self.agent.flock.state.walkers["id"][self.course.slot])
        self.course.slot = -1
        happened = self.agent.manage(ForagerId(id), self.course.now)
        self._make_room(self._widest)
        return happened

    def _make_room(self, links: int) -> None:
        """Draw luck, and have place for one more step of everybody."""
        agent = self.agent
        for forager in agent.foragers.values():
            forager.draw()
        pages = self.world.tape.pages
        agent.flock.reserve(pages=pages, links=links, sent=len(agent.sent_as), accepted=len(agent.known_as))

    def _take(self, until: float, end: float) -> None:
        """What others know goes into the course."""
        course = self.course
        course.now, course.until, course.end = self.world.clock.time, until, end
        course.fetched, course.unrecorded = self.world.downloads, self.world.unrecorded
        course.lucks = course.changes = course.written = 0
        course.cycles = course.cycle_began_at = course.cycle_ended_at = 0

    def _tell(self) -> None:
        """What happened goes from the course to those whose it is."""
        course, scheduler = self.course, self.scheduler
        self.world.clock.time = course.now
        self.world.downloads, self.world.unrecorded = course.fetched, course.unrecorded
        self.luck.used(course.lucks)
        changed = self._books.changed[: course.changes].tolist()
        if course.cycles > 1:
            scheduler.found.clear()  # what is left over from before belongs to a cycle that is long over
        if course.cycles:
            scheduler.end_cycle(course.cycle_ended, changed[course.cycle_began_at : course.cycle_ended_at])
        scheduler.found.extend(changed[course.cycle_ended_at :])


def _rules(
    crawl: CrawlSettings,
    world: TapeWorld,
    agent: ReinforcingAgent,
    shared: Shared,
    thrift: Thrift,
    share: float,
    widest: int,
    most_records: int,
    *,
    tells: bool,
) -> Rules:
    """The settings as kernels need them."""
    idle = max(crawl.idle, world.seconds)
    return Rules(
        **agent.rule_values,
        usual=thrift.usual,
        explore=thrift.explore,
        memory=float(shared.pace.memory),
        share=share,
        idle=idle,
        longest_rest=max(idle, world.revisit_after),
        slice=agent.settings.slice,
        free_steps=crawl.free_steps,
        reads_off=world.reads_off,
        watches=share > 0,
        tells=tells,
        widest=widest,
        most_records=most_records,
    )
