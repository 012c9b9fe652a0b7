"""The fleet of a replay, step by step: foragers take turns, each has its slice of the time, and a step once begun is
finished (Alg 9)."""

from dataclasses import dataclass

from forager.engine.settings import CrawlSettings
from forager.foragers.forager import Forager
from forager.foragers.shared import Shared
from forager.foragers.thrift import Thrift
from forager.reinforcing.agent import ReinforcingAgent
from forager.simulation.account import Account
from forager.simulation.course import Course
from forager.simulation.step import Stepped, take_step
from forager.simulation.telling import Telling
from forager.world.tape.player import TapeWorld


class Foraging:
    """Lets the foragers of an agent make their steps on a tape."""

    def __init__(
        self,
        course: Course,
        crawl: CrawlSettings,
        world: TapeWorld,
        agent: ReinforcingAgent,
        shared: Shared,
        thrift: Thrift,
        account: Account,
        telling: Telling | None,
        *,
        alone: bool,
    ) -> None:
        """`alone`: there is no recrawl side."""
        self.course, self.crawl, self.world, self.agent, self.shared = course, crawl, world, agent, shared
        self.thrift, self.account, self.telling, self.alone = thrift, account, telling, alone
        self.idle = max(crawl.idle, world.seconds)
        self._turn: _Turn | None = None

    def __repr__(self) -> str:
        return f"<Foraging {self.agent!r}>"

    def forage(self) -> bool:
        """Steps of the foragers whose turn it is until something was downloaded; False if nobody wants anything now."""
        if self.world.clock.time < self.course.fleet_rests:
            return False
        idle = 0
        while idle < len(self.agent.foragers):
            turn = self._turn = self._turn or _Turn(self.agent.turn(), self.agent.settings.slice)
            stepped = take_step(turn.forager, self.agent, self.world, self.shared, self.thrift)
            turn.left -= stepped.downloads * self.world.seconds
            turn.free = 0 if stepped.downloads else turn.free + 1
            if turn.left <= 0 or turn.free >= self.crawl.free_steps:
                idle += turn.free > 0
                self._end(turn)
            self._note(turn.forager, stepped)
            if stepped.downloads:
                self.course.rest = self.idle
                return True
        if self.alone:  # nobody else says that nothing was worth a download
            self.thrift.rested(self.course.rest / self.world.seconds)
        self.course.fleet_rests = self.world.clock.time + self.course.rest
        self.course.rest = min(2 * self.course.rest, max(self.idle, self.world.revisit_after))
        return False

    def _end(self, turn: "_Turn") -> None:
        """A slice is over: multiply or delete (Alg 8)."""
        self._turn = None
        happened = self.agent.manage(turn.forager.id, self.world.clock.time)
        if self.telling is not None:
            self.telling.managed(happened)

    def _note(self, forager: Forager, stepped: Stepped) -> None:
        self.course.fleet_spent += stepped.downloads
        self.account.note(stepped.reinforcements, stepped.downloads, self.world.clock.time, recrawl=False)
        if self.telling is not None:
            self.telling.stepped(forager.id, stepped)


@dataclass(slots=True)
class _Turn:
    """The turn of one forager."""

    forager: Forager
    left: float
    """Seconds of its slice."""
    free: int = 0
    """Steps in a row that cost nothing."""
