"""The system's clock is set while a crawl runs, or between two runs: nothing freezes, and no host is flooded."""

import asyncio
from collections import defaultdict
from itertools import pairwise

import pytest

from forager.clock import Clock, LoopClock, WallClock
from forager.core.page_table import PageTable
from forager.core.parameters import ExpectationSettings
from forager.settings import load_settings
from forager.terms import Request, Response
from forager.web.timetable import HostFacts, Timetable
from forager.web.web import Web
from forager.web.web_settings import TimetableSettings
from tests.virtual import QUICK, Crawled

HOUR = 3600.0


def test_a_wall_clock_follows_steps_forward_and_waits_after_steps_back() -> None:
    wall, steady = [1000.0], [5.0]
    clock = WallClock(lambda: wall[0], lambda: steady[0])

    def after(seconds: float, step: float = 0.0) -> float:
        wall[0] += seconds + step
        steady[0] += seconds
        return clock.now()

    assert after(10) == 1010
    assert after(10, step=HOUR) == 1020 + HOUR  # the machine slept
    assert after(10, step=-HOUR) == pytest.approx(1020 + HOUR + 9)  # nine tenths of ten seconds
    assert after(10 * HOUR) == pytest.approx(1030 + 10 * HOUR, abs=30)  # a tenth of ten hours: both agree again
    assert after(10) == wall[0]


class SetClock(LoopClock):
    """A wall clock in virtual time that somebody sets: at some hours, by some hours."""

    STEPS = ((2.0, -1.0), (3.0, 2.0), (3.5, -5.0))

    def __init__(self, epoch: float) -> None:
        super().__init__(epoch)
        self._clock = WallClock(self._wall, self._steady)

    def now(self) -> float:
        return self._clock.now()

    def _steady(self) -> float:
        return asyncio.get_running_loop().time()

    def _wall(self) -> float:
        steps = sum(step for at, step in self.STEPS if self._steady() >= at * HOUR)
        return self.epoch + self._steady() + steps * HOUR


class Watching:
    """A web that notes when, in true time, each host was asked."""

    def __init__(self, inner: Web) -> None:
        self.inner = inner
        self.asked: defaultdict[str, list[float]] = defaultdict(list)

    async def fetch(self, request: Request) -> Response:
        self.asked[request.url.split("/")[2]].append(asyncio.get_running_loop().time())
        return await self.inner.fetch(request)


def test_a_crawl_neither_freezes_nor_floods_when_the_clock_is_set() -> None:
    watching: list[Watching] = []

    def wrap(web: Web, clock: Clock) -> Web:
        watching.append(Watching(web))
        return watching[0]

    Crawled(load_settings(None, [*QUICK]).settings, wrap, SetClock).run(6)
    for moments in watching[0].asked.values():
        gaps = [later - earlier for earlier, later in pairwise(moments)]
        assert min(gaps) >= 20 - 1e-3  # timetable.download_delay
        assert max(gaps) < HOUR
        assert moments[-1] > 4 * HOUR


def test_what_was_kept_by_a_clock_that_ran_ahead_holds_up_nobody() -> None:
    settings = TimetableSettings(longest_block=HOUR, requests_per_hour=5)
    ahead, behind = Timetable(settings), Timetable(settings)
    tomorrow, now = 1e9 + 24 * HOUR, 1e9
    booking = ahead.reserve("paper.example", tomorrow)
    assert ahead.start(booking, tomorrow)
    ahead.note("paper.example", HostFacts(0.1, 429, retry_after=1e9), tomorrow)
    ahead.give_back(booking, started=True)
    kept = ahead.news("paper.example")
    assert kept is not None
    behind.load({"paper.example": kept}, now)
    assert behind.allowed_at("paper.example", now) == pytest.approx(now + HOUR)
    assert behind.allowed_at("paper.example", now + HOUR) == now + HOUR  # its start of tomorrow counts as one of now
    visits = PageTable(ExpectationSettings())
    visits.record(0, tomorrow, hub=True)
    visits.end_at(now)
    assert visits.worth(visits.hubs, now + HOUR)[0] > 0.4  # half a document in an hour, as foretold for any list
