"""Runs a crawl from the command line: progress, dashboard, time limit, final figures; Ctrl-C once drains, twice stops.

The final figures are the output of `--json`, and `statistics.json` in the run directory. On a terminal, one screenful
shows sites, foragers and the latest stories.
"""

import asyncio
import json
import math
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable, Container, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from forager.cli.log import CrawlLog
from forager.clock import Clock, FastClock, WallClock, pause
from forager.core.fleet import ForagerRecord
from forager.dashboard.chronicle import Chronicle
from forager.dashboard.watched import Coverage, Watched, watch
from forager.engine.crawl import Crawl, stop_after
from forager.engine.crawl_settings import DashboardSettings
from forager.engine.policy import function_source
from forager.engine.scope import Skipped
from forager.events import Told
from forager.report.account import Account
from forager.report.phrases import amount, day_only, shown, shown_moment, span
from forager.store.rundir import write_own
from forager.terms import Url

if TYPE_CHECKING:  # slow to import, or needed for types only
    from rich.console import Group
    from rich.table import Table

    from forager.assembly import OpenCrawl, Reader
    from forager.settings import Settings
    from forager.simulation.replay import Replay

STOPS = (signal.SIGINT, signal.SIGTERM)
T = TypeVar("T")


def run_live(main: Coroutine[Any, Any, T]) -> T:
    """Runs on uvloop if installed, otherwise on asyncio's own loop; cancellation raises KeyboardInterrupt."""
    make_loop: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop
    with suppress(ImportError):
        import uvloop

        make_loop = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=make_loop) as runner:
        try:
            return runner.run(main)
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None


@asynccontextmanager
async def watched_crawl(
    run_dir: Path,
    settings: "Settings",
    seeds: list[Url],
    clock: Clock,
    log: CrawlLog,
    *readers: "Reader",
    name: str = "",
    coverage: Callable[[], Coverage] | None = None,
) -> AsyncIterator["OpenCrawl"]:
    """Opens a crawl that writes its log and is shown on the dashboard, under this name or that of its directory.

    These readers read its journal too. `coverage` is asked once the crawl is open; without it, coverage is that of the
    stories announced in feeds.
    """
    from forager.assembly import open_crawl

    chronicles: list[Chronicle] = []

    def all_readers(account: Account) -> "list[Reader]":
        chronicles.append(Chronicle(account))
        return [*readers, *chronicles, log]

    async with open_crawl(run_dir, settings, seeds, clock, all_readers, say=log.saying("kernels", clock)) as opened:
        (chronicle,) = chronicles
        measured = None if coverage is None else coverage()
        watched = watch(name or str(run_dir), opened.crawl, chronicle.account, opened.wire, measured)
        with log.kept_in(run_dir):
            async with show_dashboard(watched, chronicle, settings.dashboard, log.dashboard(clock)):
                yield opened


async def run_crawl(
    opened: "OpenCrawl",
    log: CrawlLog,
    time_limit: float | None,
    beside: Sequence[Callable[[asyncio.Event], Coroutine[Any, Any, None]]] = (),
) -> None:
    """Crawls until the time limit (on the crawl's clock) or until stopped.

    `beside` are called with the event that stops the crawl, and run as long as it does.
    """
    clock, stopping = opened.crawl.clock, asyncio.Event()
    ends = math.inf if time_limit is None else clock.now() + time_limit
    speed = clock.speed if isinstance(clock, FastClock) else 1.0

    def left() -> float | None:
        return None if time_limit is None else max(0.0, ends - clock.now()) / speed

    with stopped_by_signals(stopping):
        async with asyncio.TaskGroup() as group:
            group.create_task(stop_after(clock, time_limit, stopping))
            group.create_task(_show_progress(opened, stopping, log, left))
            for task in beside:
                group.create_task(task(stopping))
            await opened.crawl.run(opened.seeds, stopping, ends)


@asynccontextmanager
async def show_dashboard(
    watched: Watched, chronicle: Chronicle, settings: DashboardSettings, say: Callable[[str], None]
) -> AsyncIterator[None]:
    """Serves the dashboard, if wanted, and logs its address."""
    if not settings.enabled:
        yield
        return
    from forager.dashboard.server import serve_dashboard

    async with serve_dashboard(watched, chronicle, settings) as address:
        say(f"{address}{'?token=' + settings.token if settings.token else ''}")
        yield


@contextmanager
def stopped_by_signals(stopping: asyncio.Event) -> Iterator[None]:
    """The first signal asks the crawl to finish; the second ends it at once. No acknowledged work is lost."""
    loop = asyncio.get_running_loop()
    main = asyncio.current_task()

    def stop() -> None:
        if stopping.is_set() and main is not None:
            main.cancel()
        stopping.set()

    for name in STOPS:
        loop.add_signal_handler(name, stop)
    try:
        yield
    finally:
        for name in STOPS:
            loop.remove_signal_handler(name)


FILE = "statistics.json"
HOSTS = 10
"""Number of hosts listed per reason for skipping URLs (ours)."""


def run_facts(account: Account, run: "Crawl | Replay", skipped: Skipped | None = None) -> dict[str, Any]:
    """Results of a run: its account, all foragers that ever lived, the function in force, and what was skipped."""
    agent, policy = run.agent, run.scheduler.policy
    facts = account.facts() | {"kind": agent.forager_settings.label, "profit": {"decided": agent.decided}}
    facts["foragers"]["kinds"] = Counter(one.kind.value for one in agent.foragers.values())
    facts["topic_doubt"] = "" if run.topic is None else run.topic.focus.doubt
    lessons = [] if run.retraining is None else run.retraining.lessons
    facts["recrawl"] = {
        "function": str(policy),
        "from": function_source(policy, lessons),
        "lessons": len(lessons),
        "replaced": sum(one.replaced for one in lessons),
        "cycles": account.cycles.done,
    }
    facts["foragers"]["list"] = [_life(record) for record in agent.records.values()]
    return facts if skipped is None else facts | {"skipped": skipped_facts(skipped)}


def counts_line(facts: dict[str, Any]) -> str:
    """What a crawl brought, and at what cost."""
    delay = f"median delay {span(facts['delay_median_s'])}{day_only(facts['day_only'])}"
    requests = f"{amount(facts['requests'], 'request')} ({facts['not_modified']:,} unchanged)"
    return f"{amount(facts['stories'], 'story', 'stories')}, {delay}, {requests}, {amount(facts['pages'], 'page')}"


def fleet_line(facts: dict[str, Any]) -> str:
    """What became of the fleet, in a sentence."""
    foragers = facts["foragers"]
    alive = amount(foragers["alive"], "forager")
    return f"Fleet: {alive} alive, {foragers['born']:,} born, {foragers['deleted']:,} deleted."


def topic_lines(facts: dict[str, Any]) -> list[str]:
    """What a focused crawl made of the documents that it read, in a line; none if nothing was held against a topic."""
    on, off, unsure = (facts[name] for name in ("on_topic", "off_topic", "cannot_tell"))
    if not on + off + unsure:
        return []
    why = f" because {facts['topic_doubt']}" if facts["topic_doubt"] else ""
    waiting = f"; of {unsure} it cannot tell yet{why}" if unsure else ""
    return [f"Topic: {amount(on, 'document')} on it, {off:,} off it, which were left out of the stories{waiting}."]


def _life(record: ForagerRecord) -> dict[str, Any]:
    return {
        "id": record.id,
        "kind": record.kind.value,
        "score": round(record.score, 3),
        "sent": record.sent,
        "relevant": record.relevant,
        "downloads": record.downloads,
        "parent": record.parent,
        "born": record.born,
        "deleted": record.deleted,
        "parameters": {key: round(value, 4) for key, value in record.genes.items()},
    }


def write_statistics(facts: dict[str, Any], run_dir: Path) -> None:
    """Writes the final figures into the run directory, as `--json` prints them."""
    write_own(run_dir / FILE, json.dumps(facts, indent=1) + "\n", "make room, the crawl itself is kept")


def skipped_facts(skipped: Skipped) -> dict[str, Any]:
    """What was skipped: links by reason, with the hosts that had most of them and an example."""
    facts: dict[str, Any] = {}
    for skip in skipped:
        one = facts.setdefault(skip.reason, {"links": 0, "hosts": {}, "example": skip.example})
        one["links"] += skip.count
        if len(one["hosts"]) < HOSTS:
            one["hosts"][skip.host] = skip.count
    return facts


async def _show_progress(
    opened: "OpenCrawl", stopping: asyncio.Event, log: CrawlLog, left: Callable[[], float | None]
) -> None:
    """Shows progress on standard error until the crawl stops; `left` returns the seconds until then, if known.

    Other output to standard error appears above the view, because rich redirects it.
    """
    account, clock = opened.account, opened.crawl.clock
    if log.quiet:
        await stopping.wait()
    elif log.view:
        from rich.console import Console  # slow to import, and only a terminal needs it
        from rich.live import Live as Screen

        with Screen(console=Console(stderr=True), refresh_per_second=4, transient=True) as screen:
            while not stopping.is_set():
                screen.update(screenful(opened.crawl, account, log.latest, left()))
                await pause(WallClock(), 0.25, stopping)
    else:
        while not stopping.is_set():
            await pause(WallClock(), 60.0, stopping)
            if not stopping.is_set():
                requests = account.total.requests
                log.say("progress", progress_line(account), at=clock.now(), stories=account.stories, requests=requests)
    if log.is_for_people:
        typer.echo("forager: finishing what is under way; Ctrl-C ends it at once", err=True)


def progress_line(account: Account) -> str:
    facts = account.facts()
    errors = sum(facts["errors"].values())
    return f"{counts_line(facts)}, {amount(account.alive, 'forager')}, {amount(errors, 'error')}"


NARROW = 80
"""A terminal with fewer columns is narrow."""
TALLEST = 12
"""Sites and foragers shown at once (ours)."""


def screenful(crawl: Crawl, account: Account, latest: Sequence[Told], left: float | None) -> "Group":
    """A crawl on a terminal: its sites, its foragers and the latest stories."""
    from rich.console import Group
    from rich.text import Text

    total, ending = account.total, "" if left is None else f"   {span(left)} left"
    headline = Text.assemble(
        (f"{shown_moment(crawl.clock.now())[:16]} UTC", "bold"),
        f"   {amount(account.stories, 'story', 'stories')}   {amount(total.requests, 'request')}\n",
        (f"{total.not_modified:,} unchanged   {crawl.store.counts().known:,} URLs known{ending}   Ctrl-C stops", "dim"),
    )
    return Group(headline, "", _sites(account), "", _fleet(crawl), "", _stories(latest))


def _sites(account: Account) -> "Table":
    """The sites with most requests."""
    rows: list[tuple[object, ...]] = []
    busiest = sorted(account.sites.items(), key=lambda item: -item[1].requests)[:TALLEST]
    for name, one in sorted(busiest):
        facts = one.facts()
        delays = span(facts["delay_median_s"]), span(facts["delay_p90_s"])
        counts = facts["requests"], facts["not_modified"], sum(facts["errors"].values())
        channels = ", ".join(f"{channel} {count}" for channel, count in [*facts["channels"].items()][:3])
        rows.append((name, facts["stories"], *delays, *counts, channels))
    rows += [("…", f"{len(account.sites)} sites")] if len(account.sites) > TALLEST else []
    columns = ("site", "stories", "median delay", "p90", "requests", "304", "errors", "found first by")
    return screen_table(columns, rows, minor=("p90", "304", "errors", "found first by"))


def _fleet(crawl: Crawl) -> "Table":
    alive = sorted((crawl.agent.records[id] for id in crawl.agent.foragers), key=lambda one: -one.score)
    rows: list[tuple[object, ...]] = [
        (
            one.id,
            one.kind.value,
            round(one.score),
            one.relevant,
            one.downloads,
            "" if one.parent is None else one.parent,
        )
        for one in alive[:TALLEST]
    ]
    more = [("…", f"{len(alive)} alive")] if len(alive) > TALLEST else []
    return screen_table(("forager", "kind", "score", "stories", "downloads", "parent"), [*rows, *more])


def _stories(latest: Sequence[Told]) -> "Table":
    rows = [
        (shown_moment(one.published)[:16], span(one.delay), one.site, one.via.value, shown(one.title, 70))
        for one in reversed(latest)
    ]
    return screen_table(
        ("published", "delay", "site", "found by", "latest stories"), rows, minor=("published", "found by")
    )


def screen_table(columns: Sequence[str], rows: Sequence[Sequence[object]], minor: Container[str] = ()) -> "Table":
    """Columns as wide as they need; on a narrow terminal minor ones are left out, and the last one is cut. Numbers stand
    to the right."""
    from rich.table import Table
    from rich.text import Text

    if get_terminal_size().columns < NARROW:
        kept = [place for place, column in enumerate(columns) if column not in minor]
        columns, rows = (
            [columns[place] for place in kept],
            [[row[place] for place in kept if place < len(row)] for row in rows],
        )
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for place, column in enumerate(columns):
        cells = [row[place] for row in rows if len(row) > place]
        numbers = bool(cells) and all(isinstance(cell, int | float) for cell in cells)
        is_last = place == len(columns) - 1  # only a column that may wrap gives way, though its cells do not
        table.add_column(column, no_wrap=not is_last, justify="right" if numbers else "left")
    for row in rows:
        table.add_row(*(Text(str(cell), no_wrap=True, overflow="ellipsis") for cell in row))
    return table
