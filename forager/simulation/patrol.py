"""The kernels of a replay are given what they work on, and what they have done is told to those whose it is."""

import numpy as np

from forager.engine.settings import CrawlSettings
from forager.foragers.forager import known_by
from forager.foragers.settings import ForagerKind
from forager.foragers.shared import Shared
from forager.foragers.thrift import Thrift
from forager.recrawl.choosing import POOL, STRANGERS
from forager.recrawl.pool import Pool
from forager.recrawl.scheduler import Scheduler
from forager.recrawl.shortlist import Shortlist
from forager.reinforcing.agent import ReinforcingAgent
from forager.simulation.account import Account
from forager.simulation.course import Course, Figures, Found, Rules, Watched
from forager.simulation.flock import NO_FLOCK
from forager.simulation.keeper import Keeper
from forager.simulation.looking import GO_ON
from forager.simulation.luck import Luck
from forager.simulation.playing import play_on
from forager.world.tape.player import TapeWorld

AT_ONCE = 256
"""Documents that may be accepted before a kernel must tell of them."""


class Patrol:
    """Plays both sides of a replay by kernels, as long as these can; what they do is what `Replay` would do by itself."""

    def __init__(
        self,
        course: Course,
        crawl: CrawlSettings,
        world: TapeWorld,
        scheduler: Scheduler,
        shared: Shared,
        thrift: Thrift,
        agent: ReinforcingAgent,
        account: Account,
        luck: Luck,
        share: float,
    ) -> None:
        self.course, self.world, self.scheduler, self.shared = course, world, scheduler, shared
        self.thrift, self.agent, self.account, self.luck = thrift, agent, account, luck
        pages = world.tape.pages
        shared.visits.reserve(pages)
        shared.states.reserve(pages)
        self._widest = int(np.diff(world.columns.link_start).max(initial=0))
        self._plays_fleet = plays_fleet(agent)
        self.keeper: Keeper | None = None
        """None before the first play, or where the fleet makes its steps by itself."""
        self._row, self._rules = Figures[Course](Course), Figures[Rules](Rules)
        self._rules.write(_rules(crawl, world, agent, shared, thrift, share, self._widest, self._plays_fleet))
        self._changed = np.empty(luck.most, dtype=np.bool_)
        most_shown = self._rules.row["most_shown"].item()
        self._accepted = np.empty((AT_ONCE + most_shown, 2), dtype=np.int64)
        self._shown = np.empty(most_shown, dtype=np.int64)
        self._room = np.empty(self._widest, dtype=np.int64)
        self._known, self._listed, self._unseen = (np.zeros(1 + pages, dtype=np.int64) for _ in range(3))
        self._shortlist: Shortlist | None = None
        """What these columns hold."""
        self._no_pool = Pool(np.empty(0, dtype=np.int64))

    def __repr__(self) -> str:
        return f"<Patrol {self.world!r}>"

    def play(self, until: float, end: float) -> int:
        """Downloads until somebody else must do something: what that is, see `looking`."""
        course, scheduler, account = self.course, self.scheduler, self.account
        self._take(until, end)
        pool = scheduler.choosing.pools.get(0, self._no_pool)
        pool.reserve(self._widest + POOL + STRANGERS)
        if self._plays_fleet and self.keeper is None:
            self.keeper = Keeper(self.agent, self.world.tape.pages, len(account.truth), self._widest)
        self._row.write(course)
        why = play_on(
            self._row.row,
            self._rules.row,
            self.world.columns,
            self.shared.visits.mind(self.shared.states.rows),
            Watched(
                pool.awake,
                pool.resting,
                pool.until,
                pool.tally,
                self._changed,
                self.luck.ahead,
                self._known,
                self._listed,
                self._unseen,
            ),
            Found(account.truth.of_version, account.found, account.stored, account.stores, self._accepted, self._shown),
            NO_FLOCK if self.keeper is None else self.keeper.flock,
            self._room,
        )
        self._row.read(course)
        self._tell()
        if why == GO_ON and self.keeper is not None:
            self.keeper.make_room()
        return why

    def manage(self) -> None:
        """The turn of a forager is over, and it multiplies or is deleted."""
        assert self.keeper is not None
        self.keeper.manage(self.course.slot, self.course.now)
        self.course.slot = -1

    def give_back(self) -> None:
        """Weblogs and records of the foragers are what they are."""
        if self.keeper is not None:
            self.keeper.give_back()

    def _take(self, until: float, end: float) -> None:
        """What others know goes into the course."""
        course, choosing, pace, thrift = self.course, self.scheduler.choosing, self.shared.pace, self.thrift
        course.now, course.until, course.end = self.world.clock.time, until, end
        course.cycle_ends, course.ranked, course.ranked_pages = self.scheduler.ends, choosing.ranked, choosing.known
        course.used, course.pooled, course.under_way = choosing.used, len(choosing.pools) > 0, choosing.under_way
        self._take_list(choosing.shortlist)
        course.hits, course.downloads, course.age = pace.hits, pace.downloads, pace.age
        course.asked, course.explored, course.rests = thrift.spent, thrift.explored, thrift.rests
        course.fetched, course.unrecorded = self.world.downloads, self.world.unrecorded
        course.sent, course.fleet_accepted = self.account.sent, self.account.accepted[0]
        course.recrawl_accepted = self.account.accepted[1]
        course.relevant, course.worked = self.agent.scores.relevant, self.agent.scores.downloads
        course.turns, course.alive = self.agent.turns, len(self.agent.foragers)
        course.lucks = course.changes = course.accepted = 0
        course.cycles = course.cycle_began_at = course.cycle_ended_at = 0

    def _take_list(self, given: Shortlist | None) -> None:
        """The short list that somebody else made goes into the columns."""
        course = self.course
        if given is None:
            course.listed = 0
        elif given is not self._shortlist:
            course.listed, course.listed_of = given.listed, given.known
            course.listed_late, course.listed_used = given.late, given.used
            for column, pages in ((self._listed, given.pages), (self._unseen, given.unseen)):
                column[0], column[1 : 1 + len(pages)] = len(pages), pages
        self._shortlist = given

    def _give_list(self) -> Shortlist | None:
        """The short list that the kernels have made or used."""
        course = self.course
        if course.listed == 0:
            return None
        pages, unseen = (column[1 : 1 + column[0]].copy() for column in (self._listed, self._unseen))
        return Shortlist(pages, unseen, course.listed_of, course.listed, course.listed_late, course.listed_used)

    def _tell(self) -> None:
        """What happened goes from the course to those whose it is."""
        course, choosing, pace, thrift = self.course, self.scheduler.choosing, self.shared.pace, self.thrift
        self.world.clock.time = course.now
        if course.ranked > choosing.ranked:
            choosing.ranked, choosing.known = course.ranked, course.ranked_pages
            choosing.shortlist = self._shortlist = self._give_list()
        choosing.used = course.used
        pace.hits, pace.downloads, pace.age = course.hits, course.downloads, course.age
        thrift.spent, thrift.explored, thrift.rests = int(course.asked), int(course.explored), course.rests
        self.world.downloads, self.world.unrecorded = course.fetched, course.unrecorded
        self.account.sent, self.account.accepted = course.sent, [course.fleet_accepted, course.recrawl_accepted]
        self.account.downloads = [int(course.fleet_spent), int(course.recrawl_spent)]
        self.agent.scores.relevant, self.agent.scores.downloads = course.relevant, course.worked
        self.agent.turns = course.turns
        self.luck.used(course.lucks)
        changed = self._changed[: course.changes].tolist()
        if course.cycles > 1:
            self.scheduler.found.clear()  # what is left over from before belongs to a cycle that is long over
        if course.cycles:
            self.scheduler.found.extend(changed[course.cycle_began_at : course.cycle_ended_at])
            self.scheduler.begin_cycle(course.cycle_ended)
        self.scheduler.found.extend(changed[course.cycle_ended_at :])
        identity, prints = self.agent.relevancy.settings.identity, self.account.world.tape.text_print
        for page, version in self._accepted[: course.accepted].tolist():
            self.agent.relevancy.accepted.update(known_by(identity, page, version, prints.item(version)))


def plays_fleet(agent: ReinforcingAgent) -> bool:
    """Whether the kernel of a step knows all that this fleet does."""
    settings, relevancy = agent.forager_settings, agent.relevancy
    kinds = {forager.kind for forager in agent.foragers.values()}
    walks = kinds == {ForagerKind.BFS} or (
        kinds == {ForagerKind.WL} and settings.order == "expectation" and settings.start.by != "draw"
    )
    same = settings.identity == relevancy.settings.identity
    return walks and same and settings.links == "one"


def _rules(
    crawl: CrawlSettings,
    world: TapeWorld,
    agent: ReinforcingAgent,
    shared: Shared,
    thrift: Thrift,
    share: float,
    widest: int,
    compiled_fleet: bool,
) -> Rules:
    """The settings as kernels need them."""
    settings, scores, population = agent.forager_settings, agent.settings.scores, agent.settings.population
    idle = max(crawl.idle, world.seconds)
    return Rules(
        share=share,
        every=crawl.cycle,
        idle=idle,
        longest_rest=max(idle, world.revisit_after),
        usual=thrift.usual,
        explore=thrift.explore,
        memory=float(shared.pace.memory),
        max_age=agent.relevancy.max_age,
        lists_too=settings.hubs,
        reads_off=world.reads_off,
        watches=share > 0,
        compiled_fleet=compiled_fleet,
        sweeps=settings.kind is ForagerKind.BFS,
        widest=widest,
        most_shown=int(np.diff(world.columns.shown_start).max(initial=0)),
        slice=agent.settings.slice,
        free_steps=crawl.free_steps,
        max_step=settings.max_step,
        harvest=settings.harvest,
        below=settings.leaving.below,
        start_explore=settings.start.explore,
        start_list=settings.weblog.start_size if settings.start.by == "list" else 0,
        weblog_step=settings.weblog.step,
        penalties=settings.weblog.penalties,
        texts=settings.weblog.texts,
        pays_revealer=settings.credit == "revealer",
        reward=agent.settings.relevancy.reward,
        penalty=agent.settings.relevancy.penalty,
        relative=scores.relative,
        score_relevant=scores.relevant,
        score_sent=scores.sent,
        multiply_at=scores.relative_gain if scores.relative else scores.multiply_at,
        delete_below=-scores.relative_gain if scores.relative else scores.delete_below,
        least=population.least,
        most=population.most,
    )
