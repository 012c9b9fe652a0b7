import asyncio
from dataclasses import replace
from itertools import pairwise

import pytest

from forager.clock import LoopClock, WallClock, run_virtual
from forager.terms import Outcome, Request, Response, Trouble, Url
from forager.web.live import Live
from forager.web.polite import Polite
from forager.web.timetable import Timetable
from forager.web.web_settings import LiveSettings, PoliteSettings, TimetableSettings
from tests.server import LOOPBACK, Served, serving

CLOCK = LoopClock(1_700_000_000.0)


class SlowWeb:
    """Takes `seconds` for each answer; logs when it was asked for what."""

    def __init__(self, seconds: float = 0.0, status: int = 200, headers: tuple[tuple[str, str], ...] = ()) -> None:
        self.seconds, self.status, self.headers = seconds, status, headers
        self.log: list[tuple[float, str]] = []

    async def fetch(self, request: Request) -> Response:
        self.log.append((round(asyncio.get_running_loop().time(), 3), request.url))
        await asyncio.sleep(self.seconds)
        outcome = Outcome.FETCHED if self.status == 200 else Outcome.FAILED
        return Response(request.url, outcome, 0.0, self.seconds, self.status, self.headers)


def request(host: str, path: str = "") -> Request:
    return Request(Url(f"http://{host}.example/{path}"))


async def all_of(web: Polite, requests: list[Request]) -> list[Response]:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(web.fetch(one)) for one in requests]
    return [task.result() for task in tasks]


async def test_fifty_callers_are_polite_by_the_log_of_the_server() -> None:
    delay = 0.2
    pages = {f"/{n}": Served(b"page", pause=0.05 if n % 7 == 0 else 0.0) for n in range(50)}
    async with serving(pages, hosts=3) as site:
        async with Live(WallClock(), LiveSettings(allow_addresses=LOOPBACK)) as live:
            polite = Polite(live, Timetable(TimetableSettings(download_delay=delay)), WallClock())
            responses = await all_of(polite, [Request(site.url(f"/{n}", host=n % 3)) for n in range(50)])
        assert all(response.outcome is Outcome.FETCHED for response in responses)
        for port in site.ports:
            times = sorted(seen.at for seen in site.log if seen.port == port)
            gaps = [after - before for before, after in pairwise(times)]
            assert len(gaps) >= 15
            assert min(gaps) >= delay - 0.005  # though the way to the server takes a varying moment
            assert times[-1] - times[0] >= len(gaps) * delay - 0.05
        started = [min(seen.at for seen in site.log if seen.port == port) for port in site.ports]
        assert max(started) - min(started) < delay * 15  # the hosts were visited side by side


class LateWeb(SlowWeb):
    """Takes a request up only at the end of `seconds`, as a busy server does."""

    async def fetch(self, request: Request) -> Response:
        return replace(await super().fetch(request), begun=CLOCK.now())


def test_a_server_that_takes_a_request_up_late_does_not_see_the_next_one_too_soon() -> None:
    web = LateWeb(0.4)
    polite = Polite(web, Timetable(TimetableSettings(download_delay=1.0)), CLOCK)
    run_virtual(all_of(polite, [request("a", str(n)) for n in range(3)]))
    assert [at for at, _ in web.log] == pytest.approx([0.0, 1.4, 2.8], abs=0.001)


def test_visits_to_a_host_start_one_delay_apart_and_in_the_order_of_asking() -> None:
    web = SlowWeb(0.1)
    polite = run_virtual_polite(web, [request("a", str(n)) for n in range(4)])
    assert web.log == [(float(n), f"http://a.example/{n}") for n in range(4)]
    assert polite == [Outcome.FETCHED] * 4


def run_virtual_polite(
    web: SlowWeb, requests: list[Request], rules: TimetableSettings | None = None, concurrent: int = 64
) -> list[Outcome]:
    async def main() -> list[Outcome]:
        polite = Polite(web, Timetable(rules), CLOCK, PoliteSettings(concurrent_requests=concurrent))
        return [response.outcome for response in await all_of(polite, requests)]

    return run_virtual(main())


def test_after_a_slow_answer_the_next_two_do_not_come_at_once() -> None:
    web = SlowWeb(5.0)

    async def main() -> None:
        polite = Polite(web, Timetable(TimetableSettings(latency_factor=0.0)), CLOCK)
        async with asyncio.TaskGroup() as group:
            group.create_task(polite.fetch(request("a", "slow")))
            await asyncio.sleep(0.5)
            web.seconds = 0.1
            for n in range(3):
                group.create_task(polite.fetch(request("a", str(n))))

    run_virtual(main())
    assert [at for at, _ in web.log] == [0.0, 5.0, 6.0, 7.0]  # one at a time, then a second apart


def test_waiting_for_one_host_does_not_hold_up_another() -> None:
    web = SlowWeb(0.0)
    requests = [request("a", str(n)) for n in range(10)] + [request("b"), request("c")]
    run_virtual_polite(web, requests, concurrent=1)
    assert {url: at for at, url in web.log if "a.example" not in url} == {
        "http://b.example/": 0.0,
        "http://c.example/": 0.0,
    }


@pytest.mark.parametrize("seconds", [1.5, 10.0])
def test_no_more_than_the_concurrent_requests_are_under_way(seconds: float) -> None:
    """As many again to those that are slow, or that have never answered."""
    web = SlowWeb(seconds)
    run_virtual_polite(web, [request(name, str(n)) for n in range(4) for name in "abcdef"], concurrent=2)
    assert len(web.log) == 24
    known = seconds + max(at for at, url in web.log if url.endswith("/0"))
    under_way = [(at, sum(at - seconds + 0.01 < other <= at for other, _ in web.log)) for at, _ in web.log]
    assert max(count for _, count in under_way) <= 2 + 2
    assert max(count for at, count in under_way if at >= known + seconds) == 2


def test_a_crawl_delay_that_arrives_while_waiting_is_obeyed() -> None:
    web = SlowWeb(0.0)

    async def main() -> None:
        timetable = Timetable()
        polite = Polite(web, timetable, CLOCK)
        async with asyncio.TaskGroup() as group:
            for n in range(3):
                group.create_task(polite.fetch(request("a", str(n))))
            await asyncio.sleep(0.5)
            timetable.set_crawl_delay("a.example", 10.0)

    run_virtual(main())
    assert [at for at, _ in web.log] == [0.0, 10.0, 20.0]


def test_a_retry_after_that_arrives_while_others_wait_is_obeyed() -> None:
    web = SlowWeb(0.0, 429, (("retry-after", "30"),))
    run_virtual_polite(web, [request("a", str(n)) for n in range(3)])
    assert [at for at, _ in web.log] == [0.0, 30.0, 60.0]


def test_a_spent_budget_is_a_refusal_that_says_when_it_opens() -> None:
    web = SlowWeb(0.0)

    async def main() -> Response:
        polite = Polite(web, Timetable(TimetableSettings(requests_per_hour=2)), CLOCK)
        await all_of(polite, [request("a", "1"), request("a", "2")])
        return await polite.fetch(request("a", "3"))

    refused = run_virtual(main())
    assert (refused.outcome, refused.trouble) == (Outcome.REFUSED, Trouble.BUDGET)
    assert "opens again in 3600 s" in refused.error  # visits of the same half minute count as one, from the later
    assert len(web.log) == 2


@pytest.mark.parametrize("moment", [0.05, 0.5, 1.05])
def test_a_cancelled_caller_gives_everything_back(moment: float) -> None:
    """Cancelled while its request is under way, while it waits for its turn, and after it has started late."""
    web = SlowWeb(0.1)

    async def main() -> tuple[str, str, list[Outcome]]:
        timetable = Timetable()
        polite = Polite(web, timetable, CLOCK, PoliteSettings(concurrent_requests=1))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(moment):
                await all_of(polite, [request("a", str(n)) for n in range(5)])
        state = repr(timetable), repr(polite)
        return *state, [response.outcome for response in await all_of(polite, [request("a"), request("b")])]

    timetable, polite, outcomes = run_virtual(main())
    assert " 0 booked, 0 under way" in timetable
    assert polite == "<Polite 0 asking, 0 waiting for their turn>"
    assert outcomes == [Outcome.FETCHED, Outcome.FETCHED]


class MixedWeb(SlowWeb):
    """Hosts whose names begin with `s` take half a minute, all others a tenth of a second."""

    async def fetch(self, request: Request) -> Response:
        seconds = self.seconds = 30.0 if "//s" in request.url else 0.1
        return replace(await super().fetch(request), seconds=seconds)


@pytest.mark.parametrize("slow_hosts", [4, 8, 40])
def test_quick_hosts_do_not_wait_for_slow_ones_however_many_there_are(slow_hosts: int) -> None:
    """Four places for all: before slow hosts had their own, four of them were enough to hold up everybody."""
    web = MixedWeb()
    polite = Polite(web, Timetable(TimetableSettings(longest_wait=9e9)), CLOCK, PoliteSettings(concurrent_requests=4))

    async def ask(host: str, times: int) -> None:
        for number in range(times):
            await polite.fetch(request(host, str(number)))

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(ask("quick", 300))
            for number in range(slow_hosts):
                group.create_task(ask(f"s{number}", 5))

    run_virtual(main())
    began = [at for at, url in web.log if "quick" in url]
    gaps = [after - before for before, after in pairwise(began)]
    assert max(gaps) < 1.2  # its delay, and the time of an answer
    slow = [at for at, url in web.log if "quick" not in url]
    assert len(slow) == 5 * slow_hosts
    assert max(slow) >= 30 * (5 * slow_hosts / 8 - 1)  # no more at once than places
