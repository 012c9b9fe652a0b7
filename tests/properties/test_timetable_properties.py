"""Politeness is never broken, whatever callers, servers and robots.txt do."""

import asyncio
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from forager.chance import stream
from forager.clock import LoopClock, run_virtual
from forager.pages.urls import host
from forager.terms import Outcome, Request, Response, Trouble, Url
from forager.web.polite import Polite
from forager.web.timetable import GRAIN, Timetable, Window
from forager.web.web_settings import PoliteSettings, TimetableSettings


@dataclass
class MoodyWeb:
    """Answers after a random time with a random status, and logs when each request came and went."""

    rng: np.random.Generator
    clock: LoopClock
    log: list[tuple[str, float, float, int]] = field(default_factory=list)
    under_way: int = 0
    most_under_way: int = 0

    async def fetch(self, request: Request) -> Response:
        came = self.clock.now()
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        size = 0
        try:
            seconds = float(self.rng.choice([0.0, 0.01, 0.5, 7.0]))
            await asyncio.sleep(seconds)
            size = int(self.rng.integers(0, 1001))
            status = int(self.rng.choice([200, 200, 200, 404, 429, 503]))
            headers = (("retry-after", "3"),) if status == 429 else ()
            outcome = Outcome.FETCHED if status == 200 else Outcome.FAILED
            return Response(request.url, outcome, came, seconds, status, headers, wire_bytes=size, trouble=Trouble.NONE)
        finally:
            self.under_way -= 1
            self.log.append((host(request.url), came, self.clock.now(), size))


async def crawl(
    rules: TimetableSettings, seed: int, callers: int, concurrent: int
) -> tuple[MoodyWeb, Timetable, list[Outcome]]:
    clock, rng = LoopClock(1.7e9), stream(seed, "crawl")
    web = MoodyWeb(stream(seed, "web"), clock)
    timetable = Timetable(rules)
    polite = Polite(web, timetable, clock, PoliteSettings(concurrent_requests=concurrent))
    outcomes: list[Outcome] = []

    async def call(number: int) -> None:
        await asyncio.sleep(float(rng.uniform(0, 30)))
        name = f"host{rng.integers(3)}.example"
        if rng.random() < 0.1:
            timetable.set_crawl_delay(name, 2.5)
        patience = float(rng.choice([0.5, 5.0, 1e6]))
        try:
            async with asyncio.timeout(patience):  # some callers are cancelled while they wait or ask
                outcomes.append((await polite.fetch(Request(Url(f"http://{name}/{number}")))).outcome)
        except TimeoutError:
            pass

    async with asyncio.TaskGroup() as group:
        for number in range(callers):
            group.create_task(call(number))
    return web, timetable, outcomes


RULES = st.builds(
    TimetableSettings,
    download_delay=st.sampled_from([0.0, 0.3, 1.0]),
    concurrent_requests_per_host=st.integers(1, 3),
    latency_factor=st.sampled_from([0.0, 1.0]),
    requests_per_hour=st.sampled_from([None, 5, 12]),
    bytes_per_day=st.sampled_from([None, 4000]),
    largest_body=st.just(1000),
)


@settings(max_examples=60, deadline=None)
@given(RULES, st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 8))
def test_no_host_is_ever_asked_more_often_than_the_rules_allow(
    rules: TimetableSettings, seed: int, callers: int, concurrent: int
) -> None:
    web, timetable, _ = run_virtual(crawl(rules, seed, callers, concurrent))
    assert web.most_under_way <= 2 * concurrent  # so many to quick hosts, and as many to slow ones
    for name in {entry[0] for entry in web.log}:
        visits = sorted((came, went, size) for host_name, came, went, size in web.log if host_name == name)
        gaps = [after[0] - before[0] for before, after in pairwise(visits)]
        assert all(gap >= rules.download_delay - 2 * GRAIN for gap in gaps)
        for came, _, _ in visits:
            under_way = sum(start <= came < end for start, end, _ in visits)
            assert under_way <= rules.concurrent_requests_per_host
        if rules.requests_per_hour is not None:  # the whole crawl is shorter than an hour
            assert len(visits) <= rules.requests_per_hour
        if rules.bytes_per_day is not None:
            assert sum(size for *_, size in visits) <= rules.bytes_per_day
    assert " 0 booked, 0 under way" in repr(timetable)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 40))
def test_the_same_seed_gives_the_same_visits(seed: int, callers: int) -> None:
    first, second = (run_virtual(crawl(TimetableSettings(), seed, callers, 4)) for _ in range(2))
    assert first[0].log == second[0].log
    assert first[2] == second[2]


@given(st.lists(st.tuples(st.floats(0, 40), st.integers(1, 9)), max_size=60))
def test_a_window_never_counts_too_little_and_hardly_too_long(entries: list[tuple[float, int]]) -> None:
    window, now, seen = Window(100.0), 0.0, []
    for pause, amount in entries:
        now += pause
        window.add(amount, now)
        seen.append((now, amount))
        exact = sum(amount for at, amount in seen if at + 100.0 > now)
        loose = sum(amount for at, amount in seen if at + 101.0 > now)
        assert exact <= window.total(now) <= loose
