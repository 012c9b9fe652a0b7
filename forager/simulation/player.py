"""Prepares the input of the replay loop for a tape, draws random numbers in blocks, and distributes the results."""

from dataclasses import replace
from typing import cast

import numpy as np

from forager.arrays import ByteArray, FloatArray, IntArray
from forager.core.addresses import MARKS, address_marks
from forager.core.agent import Multiplied, ReinforcingAgent, Removal
from forager.core.exploration import Thrift
from forager.core.fleet import BFS
from forager.core.parameters import ForagerSettings, Identity, ReinforcingSettings
from forager.core.rules import Figures
from forager.core.scheduler import Scheduler
from forager.core.shared import Shared
from forager.engine.crawl_settings import CrawlSettings
from forager.simulation.bundles import RECORD, Books, LoopRules, LoopState, Records
from forager.simulation.loop import GO_ON, RANKING, play_on
from forager.tape.tape import KINDS, Tape
from forager.tape.tape_world import Documents, TapeWorld
from forager.terms import ForagerId, Kind, UrlId


class Luck:
    """Random numbers in [0, 1) from a generator used only here."""

    def __init__(self, rng: np.random.Generator, most: int = 64) -> None:
        self.rng, self.most = rng, most
        """`most` is how many numbers are drawn at a time."""
        self._drawn, self._next = rng.random(most), 0

    def __repr__(self) -> str:
        return f"<Luck {self.most - self._next} drawn ahead>"

    @property
    def ahead(self) -> FloatArray:
        """The next numbers, at least one; report those used with `used`."""
        if self._next == self.most:
            self._drawn, self._next = self.rng.random(self.most), 0
        return self._drawn[self._next :]

    def used(self, count: int) -> None:
        self._next += count


def fitted(
    tape: Tape, foragers: ForagerSettings, reinforcing: ReinforcingSettings
) -> tuple[ForagerSettings, ReinforcingSettings]:
    """The settings, with the tape's identity of documents and length of states."""

    def identity(given: Identity) -> Identity:
        own = "url" if tape.identity == "link" else tape.identity
        return cast("Identity", own) if given == "story" else given

    relevancy = replace(reinforcing.relevancy, identity=identity(reinforcing.relevancy.identity))
    states = replace(foragers.states, dimension=tape.states.shape[1] or foragers.states.dimension)
    return (
        replace(foragers, identity=identity(foragers.identity), states=states),
        replace(reinforcing, relevancy=relevancy),
    )


def shared_for(tape: Tape, foragers: ForagerSettings) -> Shared:
    """The shared knowledge of a fleet, with room for all pages and states of the tape."""
    shared = Shared.fresh(foragers)
    shared.visits.reserve(tape.pages)
    shared.states.reserve(tape.pages)
    if len(tape.states):
        shared.states.add(np.asarray(tape.states))
    if foragers.wants_states and foragers.states.shape:
        pages, marks = tape.once("marks", lambda: _marks(tape))
        shared.states.mark(pages, marks)
    return shared


def _marks(tape: Tape) -> tuple[IntArray, ByteArray]:
    """The pages that may be requested, and the marks of their addresses. Anchors and places of links are unknown here."""
    pages = np.arange(tape.pages)
    if tape.identity == "link":
        pages = np.flatnonzero(tape.url_kind != KINDS.index(Kind.ARTICLE))
    marks = [address_marks(tape.url(UrlId(page))) for page in pages.tolist()]
    return pages, np.array(marks, np.uint8).reshape(-1, MARKS)


class TapeNumbers:
    """Document numbers of a tape."""

    def __init__(self, truth: Documents) -> None:
        self.truth = truth

    def __len__(self) -> int:
        return len(self.truth)

    def of(self, url: int, version: int, text_print: int) -> tuple[int, int]:
        return self.truth.of_version.item(version), -1


AT_ONCE = 4096
"""Number of records after which Python must read them; there is also room for those of one more step."""


VISITS = 4096
"""Number of visits that fit into the trail and the log of the page table."""


class Patrol:
    """Plays both sides of a replay with the kernel loop."""

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
        suggests: bool,
    ) -> None:
        """`tells`: whether the loop must return when a cycle ends; `suggests`: whether it must return when a forager is
        born.
        """
        self.course, self.world, self.scheduler, self.shared = course, world, scheduler, shared
        self.thrift, self.agent, self.luck = thrift, agent, luck
        pages, columns = world.tape.pages, world.columns
        shared.reserve(pages)
        self._widest = widest = int(np.diff(columns.link_start).max(initial=0))
        shown = int(np.diff(columns.shown_start).max(initial=0))
        most = (1 + (widest if agent.forager_settings.links == "all" else 0)) * (2 + shown) + 2
        self._row, self._rules = Figures[LoopState](LoopState), Figures[LoopRules](LoopRules)
        self._rules.write(_rules(crawl, world, agent, shared, thrift, share, widest, most, tells=tells,
                                suggests=suggests))  # fmt: skip
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
        """Runs the loop until Python must act; returns the reason (see `loop`) and the records."""
        course, candidates = self.course, self.scheduler.candidates
        self._take(until, end)
        self.shared.visits.make_room(VISITS + self._widest)
        self._row.write(course)
        why = play_on(
            self._row.row,
            self._rules.row,
            self.agent.rules,
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
        """Multiplies or deletes the forager whose turn has ended."""
        id = int(self.agent.flock.state.walkers["id"][self.course.slot])
        self.course.slot = -1
        happened = self.agent.manage(ForagerId(id), self.course.now)
        self._make_room(self._widest)
        return happened

    def _make_room(self, links: int) -> None:
        """Makes room for one more step of every forager, and for a birth."""
        agent = self.agent
        pages = self.world.tape.pages
        agent.flock.reserve(pages=pages, links=links, sent=len(agent.sent_as), accepted=len(agent.known_as))

    def _take(self, until: float, end: float) -> None:
        """Copies the clock and the counts of the world into the loop state."""
        course = self.course
        course.now, course.until, course.end = self.world.clock.time, until, end
        course.fetched, course.unrecorded = self.world.downloads, self.world.unrecorded
        course.lucks = course.changes = course.written = 0
        course.cycles = course.cycle_began_at = course.cycle_ended_at = 0

    def _tell(self) -> None:
        """Copies the results from the loop state to the clock, the world and the scheduler."""
        course, scheduler = self.course, self.scheduler
        self.world.clock.time = course.now
        self.world.downloads, self.world.unrecorded = course.fetched, course.unrecorded
        self.luck.used(course.lucks)
        changed = self._books.changed[: course.changes].tolist()
        if course.cycles > 1:
            scheduler.found.clear()  # visits left over from an earlier cycle
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
    suggests: bool,
) -> LoopRules:
    """The settings in the form that the loop needs."""
    idle = max(crawl.idle, world.seconds)
    return LoopRules(
        usual=thrift.usual,
        explore=thrift.explore,
        memory=float(shared.pace.memory),
        share=share,
        idle=idle,
        longest_rest=max(idle, world.revisit_after),
        slice=agent.settings.slice,
        shuffles=agent.settings.turns == "random",
        free_steps=crawl.free_steps,
        reads_off=world.reads_off,
        watches=share > 0,
        tells=tells,
        suggests=suggests,
        widest=widest,
        most_records=most_records,
    )
