"""Trouble on the wire: servers that restart, names that cannot be found, resets, and half of all requests failing."""

import os
import signal
import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import closing
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from forager.clock import Clock
from forager.errors import Exit
from forager.newsroom.newsroom_settings import NewsroomSettings
from forager.settings import load_settings
from forager.terms import Outcome, Request, Response, Trouble
from forager.web.web import Web, failed
from tests.faults.crashing import BUSY, Killer, Stored
from tests.faults.launching import nursery
from tests.faults.restarting import restarting_newsroom
from tests.virtual import QUICK, Crawled

HOUR = 3600.0


def waited(killer: Killer, process_is_alive: Callable[[], bool], more: int) -> None:
    """Until the server had so many more requests."""
    asked, deadline = len(killer.newsroom.requests), time.monotonic() + 60
    while len(killer.newsroom.requests) < asked + more:
        assert process_is_alive() and time.monotonic() < deadline, (killer.folder / "errors").read_text()
        time.sleep(0.01)


def failures(run_dir: Path) -> int:
    """Failed visits on disk, while the crawl runs."""
    with closing(sqlite3.connect(f"file:{run_dir}/crawl.db?mode=ro", uri=True)) as database:
        return int(database.execute("SELECT count(*) FROM visits WHERE outcome = 'failed'").fetchone()[0])


async def test_a_crawl_outlives_a_restart_of_the_servers(tmp_path: Path) -> None:
    settings = NewsroomSettings(pace=20.0, backlog=HOUR, page_size=4000)
    quick = (*BUSY, "retrying.retries=0")
    with restarting_newsroom(settings) as servers:
        killer = Killer(servers.newsroom, tmp_path, nursery().start, quick)
        process = killer.start(killer.arguments(), tmp_path / "errors")
        waited(killer, process.is_alive, 20)
        servers.up.clear()
        while not failures(killer.run_dir):
            assert process.is_alive()
            time.sleep(0.02)
        servers.up.set()
        waited(killer, process.is_alive, 20)
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(60) == 0, (tmp_path / "errors").read_text()
    stored = await Stored.read(killer.run_dir)
    outcomes = [visit.outcome for _, visit in sorted(stored.visits, key=lambda pair: pair[1].at)]
    assert Outcome.FETCHED in outcomes[outcomes.index(Outcome.FAILED) :]


async def test_a_name_that_does_not_exist_is_an_outcome_and_holds_up_nobody(tmp_path: Path) -> None:
    settings = NewsroomSettings(pace=20.0, backlog=HOUR, page_size=4000)
    with restarting_newsroom(settings) as servers:
        killer = Killer(servers.newsroom, tmp_path, nursery().start, (*BUSY, "live.connect_time=2s"))
        arguments = [*killer.arguments("--time-limit", "4s"), "--seed", "http://no-such-host.invalid/"]
        assert killer.start(arguments, tmp_path / "errors").wait(60) == 0, (tmp_path / "errors").read_text()
    stored = await Stored.read(killer.run_dir)
    assert {visit.trouble for url, visit in stored.visits if "invalid" in url} <= {
        Trouble.DNS,
        Trouble.ROBOTS,
    }  # without a name no robots.txt either
    assert len(stored.stories) > 5


class Unreliable:
    """A web in front of another: for some hours a host has no name; it notes when each host was asked, and what came."""

    def __init__(self, inner: Web, clock: Clock, lost: str = "", hours: float = 0.0) -> None:
        self.inner, self.clock, self.lost, self.until = inner, clock, lost, clock.now() + hours * HOUR
        self.log: defaultdict[str, list[tuple[float, Response]]] = defaultdict(list)

    async def fetch(self, request: Request) -> Response:
        name, asked = request.url.split("/")[2], self.clock.now()
        if name == self.lost and asked < self.until:
            response = failed(request, Trouble.DNS, "the name server does not answer", asked=asked)
        else:
            response = await self.inner.fetch(request)
        self.log[name].append((asked, response))
        return response


@cache
def crawled(hours: float, *overrides: str, lost: str = "", lost_for: float = 0.0) -> tuple[Crawled, Unreliable]:
    webs: list[Unreliable] = []

    def wrap(web: Web, clock: Clock) -> Web:
        webs.append(Unreliable(web, clock, lost, lost_for))
        return webs[0]

    return Crawled(load_settings(None, [*QUICK, *overrides]).settings, wrap).run(hours), webs[0]


def test_a_host_whose_name_cannot_be_found_for_hours_is_asked_seldom_and_found_again() -> None:
    done, web = crawled(5, lost="gazette.example", lost_for=2)
    before = [asked for asked, response in web.log["gazette.example"] if response.trouble is Trouble.DNS]
    assert 3 <= len(before) < 0.25 * 2 * HOUR / 20  # a quarter of what politeness would allow
    assert any(story.site.startswith("gazette") for story in done.stories)


@pytest.mark.parametrize("kind", ["newsroom.resets=0.5", "newsroom.errors=0.5"])
def test_with_half_of_all_requests_failing_most_stories_are_found(kind: str) -> None:
    well, _ = crawled(5)
    ill, web = crawled(5, kind)
    assert len(ill.stories) > 0.7 * len(well.stories)
    for log in web.log.values():
        assert min(later - earlier for (earlier, _), (later, _) in pairwise(log)) >= 20 - 1e-3  # download_delay


def test_a_busy_server_is_given_the_time_it_asks_for() -> None:
    well, _ = crawled(5)
    busy, web = crawled(5, "newsroom.busy=0.5", "newsroom.retry_after=100s")
    assert len(busy.stories) > 0.5 * len(well.stories)
    for log in web.log.values():
        pauses = [later - earlier for (earlier, response), (later, _) in pairwise(log) if response.status == 503]
        assert len(pauses) > 10
        assert min(pauses) >= 100


# Signals


@pytest.mark.parametrize(("first", "second"), [(signal.SIGINT, signal.SIGTERM), (signal.SIGTERM, signal.SIGINT)])
async def test_a_second_signal_ends_the_draining_at_once(
    first: signal.Signals, second: signal.Signals, tmp_path: Path
) -> None:
    patient = (*BUSY, "live.total_time=10m")
    settings = NewsroomSettings(
        pace=20.0, backlog=HOUR, page_size=4000, slow=1.0, slow_for=HOUR
    )  # no answer ever comes
    with restarting_newsroom(settings) as servers:
        killer = Killer(servers.newsroom, tmp_path, nursery().start, patient)
        process = killer.start(killer.arguments(), tmp_path / "errors")
        waited(killer, process.is_alive, 1)
        os.kill(process.pid, first)
        time.sleep(0.3)
        assert process.is_alive()  # it waits for what is under way
        os.kill(process.pid, second)
        assert process.wait(60) == Exit.INTERRUPTED
        assert (tmp_path / "errors").read_text().splitlines()[-1:] == ["forager: stopped"]
    assert (await Stored.read(killer.run_dir)).unsettled == []
