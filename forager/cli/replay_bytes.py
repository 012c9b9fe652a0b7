"""`forager replay --bytes`: the crawl itself over recorded bytes, in the recording's own time.

Every rule of a live crawl holds: robots.txt, politeness, redirects, retries, reading. So a crawl that went wrong can be
looked at again, as often as it takes, and a change of settings or code can be tried on what the sites really sent. What
is asked for and was never recorded is counted.
"""

import asyncio
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from forager.assembly import Reader, make_crawl, wire
from forager.cli.progress import clock_span, clock_time
from forager.cli.statistics import run_facts
from forager.clock import Clock, LoopClock, run_virtual
from forager.engine.crawl import stop_after
from forager.errors import InputError, OutputError
from forager.events import Born, Deleted, Event, Told
from forager.importers.captures import is_robots
from forager.output.outlet import Outlet, StoryWriter
from forager.pages.urls import site
from forager.report.account import Account
from forager.settings import Settings
from forager.store.store import Store
from forager.terms import Request, Response, Trouble, Url
from forager.warc.replay_web import WarcWeb
from forager.warc.writer import warcs_in
from forager.web.web import Web, failed


class Rationed:
    """A web that is asked so many times an hour at most, all hosts together, and not after its end: that is refused."""

    def __init__(self, inner: Web, clock: Clock, per_hour: float, end: float) -> None:
        self.inner, self.clock, self.end = inner, clock, end
        self._distance, self._free = 3600 / per_hour, -math.inf

    def __repr__(self) -> str:
        return f"<Rationed, one request in {self._distance:g} s>"

    async def fetch(self, request: Request) -> Response:
        now = self.clock.now()
        turn = max(now, self._free)
        if turn > self.end:
            return failed(request, Trouble.BUDGET, "the budget leaves no request before the end", asked=now)
        self._free = turn + self._distance
        await self.clock.sleep(turn - now)
        return await self.inner.fetch(request)


def crawl_bytes(
    path: Path,
    settings: Settings,
    seeds: list[Url],
    limit: float | None,
    readers: Sequence[Reader],
    *,
    budget: float | None = None,
    warm_up: Callable[[float], float] = lambda length: 0.0,
) -> tuple[dict[str, Any], Store]:
    """What came of a crawl of a recording, a run directory's or any WARC's, and what it has stored.

    `budget`: requests per hour; `warm_up`: of a recording so long, the first seconds that do not count.
    """
    clock = LoopClock(0.0)
    web = WarcWeb(_warcs(path), clock)
    period = web.period
    if period is None:
        raise InputError(f"{path}: no capture of a page in it")
    clock.epoch = period[0]
    seeds = seeds or _first_pages(web)
    store, account = Store(), Account()
    length = period[1] - period[0]
    seconds, warm = length if limit is None else min(limit, length), warm_up(length)
    counted = Account() if warm else account
    later = [_since(period[0] + warm, counted)] if warm else []
    asked: Web = web if budget is None else Rationed(web, clock, budget, period[0] + seconds)

    async def main() -> dict[str, Any]:
        rules = wire(settings, clock, asked)
        crawl = await make_crawl(settings, clock, rules, store, seeds, account, [*later, *readers])
        stopping = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            group.create_task(stop_after(clock, seconds, stopping))
            group.create_task(crawl.run(seeds, stopping))
        return run_facts(counted, crawl.agent)

    facts = run_virtual(main())
    recording = {
        "start": period[0],
        "seconds": seconds,
        "warm_up_s": warm,
        "urls": len(web.urls),
        "asked": web.asked,
        "unrecorded": web.unrecorded,
        "broken": web.broken,
    }
    return facts | {"recording": recording}, store


def _since(begin: float, account: Account) -> Reader:
    """Tells an account what happened from `begin` on; news from before is none then."""

    def read(event: Event) -> None:
        when = event.at - event.delay if isinstance(event, Told) else event.at
        if when >= begin or isinstance(event, Born | Deleted):
            account.hear(event)

    return read


def write_stories(store: Store, writer: StoryWriter) -> None:
    """All stories that a crawl stored, to a file."""

    async def write() -> None:
        async with Outlet(store, writer, _refuse):
            pass

    asyncio.run(write())


def bytes_summary(facts: dict[str, Any]) -> str:
    """The outcome, for people."""
    recording = facts["recording"]
    asked, unrecorded = recording["asked"], recording["unrecorded"]
    lines = [
        f"{clock_span(recording['seconds'])} from {clock_time(recording['start'])}, crawled again from the recorded bytes of "
        f"{recording['urls']:,} URLs.",
        f"{facts['stories']} stories, median delay {clock_span(facts['delay_median_s'])}, {facts['requests']} requests "
        f"({facts['not_modified']} unchanged), {facts['pages']} pages.",
        f"{unrecorded:,} of {asked:,} requests ({unrecorded / max(1, asked):.0%}) were for what was not recorded by then.",
    ]
    if recording["warm_up_s"]:
        lines.append(f"News and requests of the first {clock_span(recording['warm_up_s'])} do not count.")
    if recording["broken"]:
        lines.append(f"{recording['broken']:,} records are broken and were left out.")
    return "\n".join(lines)


def _warcs(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    folder = path / "warc" if (path / "warc").is_dir() else path
    found = warcs_in(folder) if folder.is_dir() else []
    if not found:
        raise InputError(f"{path}: no WARC in it; give a run directory, a WARC file or a folder of them")
    return found


def _first_pages(web: WarcWeb) -> list[Url]:
    """Of each site the page that was recorded first: where its crawl began."""
    first: dict[str, Url] = {}
    for url in web.urls:
        if not is_robots(url):
            first.setdefault(site(url), url)
    return list(first.values())


def _refuse(line: str) -> None:
    raise OutputError(line)
