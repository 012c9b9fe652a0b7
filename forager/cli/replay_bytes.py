"""`forager replay --bytes`: runs the live crawl over recorded bytes, in simulated time.

Every rule of a live crawl applies: robots.txt, politeness, redirects, retries, reading. So you can examine a crawl that
went wrong as often as needed, and try new settings or code on what the sites really sent. Pages that were
never recorded are counted and not requested.
"""

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from forager.assembly import Reader, make_crawl, wire
from forager.cli.options import ProgressLine
from forager.cli.runner import counts_line, run_facts, topic_lines
from forager.clock import Clock, LoopClock, run_virtual
from forager.engine.crawl import stop_after
from forager.errors import InputError, OutputError
from forager.events import Born, Deleted, Event, Told
from forager.importers.collector import Collector, is_robots
from forager.importers.warcs import WarcReader
from forager.output.outlet import Outlet, StoryWriter
from forager.pages.urls import host, site
from forager.report.account import Account
from forager.report.phrases import shown_moment, span
from forager.settings import Settings, changed_keys
from forager.store.store import Store
from forager.terms import Request, Response, Trouble, Url
from forager.warc.replay_web import WarcWeb
from forager.warc.writer import warcs_in
from forager.web.timetable import Timetable
from forager.web.web import Web, failed


class Rationed:
    """A web that limits the requests per hour, over all hosts, and refuses requests after its end."""

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


SLACK = 2.0
"""Seconds by which a turn may come later than expected."""


class Held:
    """A web around a recording: it answers at once for a page that will not be recorded by its turn, without asking or
    waiting.
    """

    def __init__(self, inner: Web, recording: WarcWeb, timetable: Timetable) -> None:
        self.inner, self.recording, self.timetable = inner, recording, timetable

    async def fetch(self, request: Request) -> Response:
        now = self.recording.clock.now()
        held = self.recording.recorded_from(request.url) <= self.timetable.allowed_at(host(request.url), now) + SLACK
        return await (self.inner if held else self.recording).fetch(request)


def crawl_bytes(
    path: Path,
    settings: Settings,
    seeds: list[Url],
    limit: float | None,
    readers: Sequence[Reader],
    *,
    budget: float | None = None,
    warm_up: Callable[[float], float] = lambda length: 0.0,
    quiet: bool = True,
) -> tuple[dict[str, Any], Store]:
    """Crawls a recording (a run directory or any WARC); returns the results and the store.

    `budget` is in requests per hour; `warm_up` maps the length of the recording to the first seconds that do not count.
    It shows how far it is, unless `quiet`.
    """
    clock = LoopClock(0.0)
    web = WarcWeb(_warcs(path), clock)
    period = web.period
    if period is None:
        raise InputError(f"{path}: no capture of a page in it; --bytes reads WARC files, plain or compressed")
    clock.epoch = period[0]
    outside = [seed for seed in seeds if not web.holds(seed)]
    if outside:
        raise InputError(f"{outside[0]}: is not in the recording; give another --seed, or none")
    seeds = seeds or _first_pages(web)
    if settings.reinforcing.relevancy.identity == "story" and told_by_sample(web) == "text":
        settings = changed_keys(settings, {"reinforcing.relevancy.identity": "text"})
    store, account = Store(), Account()
    length = period[1] - period[0]
    seconds, warm = length if limit is None else min(limit, length), warm_up(length)
    counted = Account() if warm else account
    later = [_since(period[0] + warm, counted)] if warm else []
    line = ProgressLine(quiet=quiet, every=0.5)

    def show(event: Event) -> None:
        line.show(f"{span(event.at - period[0])} of {span(seconds)} crawled again")

    asked: Web = web if budget is None else Rationed(web, clock, budget, period[0] + seconds)

    async def main() -> dict[str, Any]:
        rules = replace(wire(settings, clock, asked), recorded_from=web.recorded_from)
        rules.robots.inner = Held(rules.robots.inner, web, rules.timetable)
        crawl = await make_crawl(settings, clock, rules, store, seeds, account, [*later, *readers, show])
        stopping = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            group.create_task(stop_after(clock, seconds, stopping))
            group.create_task(crawl.run(seeds, stopping))
        world = crawl.world
        return run_facts(counted, crawl) | {
            "skipped": dict(world.ingest.skipped.counts()),
            "pages_out": sum(begin == math.inf for begin in world.held_from.values()),
        }

    facts = run_virtual(main())
    line.end()
    recording = {
        "start": period[0],
        "seconds": seconds,
        "warm_up_s": warm,
        "urls": len(web.urls),
        "asked": web.asked,
        "identity": settings.reinforcing.relevancy.identity,
        "pages_out": facts.pop("pages_out"),
        "unrecorded": web.unrecorded,
        "broken": web.broken,
    }
    return facts | {"recording": recording}, store


def _since(begin: float, account: Account) -> Reader:
    """Passes events from `begin` on to an account; stories published before do not count."""

    def read(event: Event) -> None:
        when = min(event.at, event.published) if isinstance(event, Told) else event.at
        if when >= begin or isinstance(event, Born | Deleted):
            account.hear(event)

    return read


def write_stories(store: Store, writer: StoryWriter) -> None:

    async def write() -> None:
        async with Outlet(store, writer, _refuse):
            pass

    asyncio.run(write())


def bytes_summary(facts: dict[str, Any]) -> str:
    recording = facts["recording"]
    asked, unrecorded = recording["asked"], recording["unrecorded"]
    lines = [
        f"{span(recording['seconds'])} from {shown_moment(recording['start'])[:16]}, crawled again from the recorded bytes of "
        f"{recording['urls']:,} URLs.",
        f"{counts_line(facts)}.",
        f"{unrecorded:,} of {asked:,} requests ({unrecorded / max(1, asked):.0%}) were for what was not recorded by then.",
    ]
    lines += topic_lines(facts)
    if recording["identity"] == "text":
        lines.append("Each new text is a story, also at an address known before.")
    if recording["pages_out"]:
        lines.append(
            f"Links led to {recording['pages_out']:,} pages that were never recorded; these were not asked for."
        )
    if recording["warm_up_s"]:
        lines.append(f"News and requests of the first {span(recording['warm_up_s'])} do not count.")
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


_SAMPLE, _CAPTURES = 100, 24
"""Pages that are looked at to tell what makes a document new, and captures of each."""


def told_by_sample(web: WarcWeb) -> str:
    """What makes a document new in a recording, told by some of the pages that were recorded again."""
    collector = Collector("sample")
    reader = WarcReader(collector)
    again = [url for url in web.urls if web.times(url) > 1 and not is_robots(url)]
    for url in again[:: len(again) // _SAMPLE + 1]:
        for found in web.read(url, _CAPTURES):
            reader.take(found)
    reader.finish()
    return collector.tape(None).identity


def _first_pages(web: WarcWeb) -> list[Url]:
    """The page of each site that was recorded first, as seed."""
    first: dict[str, Url] = {}
    for url in web.urls:
        if not is_robots(url):
            first.setdefault(site(url), url)
    return list(first.values())


def _refuse(line: str) -> None:
    raise OutputError(line)
