"""Runs a crawl from the command line: progress, dashboard, time limit, final figures; Ctrl-C once drains, twice stops.

The final figures are the output of `--json`, and `statistics.json` in the run directory.
"""

import asyncio
import math
import signal
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from forager.cli.log import CrawlLog
from forager.clock import Clock, FastClock
from forager.dashboard.chronicle import Chronicle
from forager.dashboard.dashboard_settings import DashboardSettings
from forager.dashboard.watched import AnnouncedStories, Coverage, Watched, watch
from forager.engine.crawl import Crawl, stop_after
from forager.report.account import Account
from forager.terms import Url

if TYPE_CHECKING:  # slow to import, or needed for types only
    from forager.assembly import OpenCrawl, Reader, Wire
    from forager.engine.teacher import Retraining
    from forager.settings import Settings

import json
from collections import Counter
from pathlib import Path

from forager.core.agent import ReinforcingAgent
from forager.core.fleet import ForagerRecord
from forager.core.scheduler import Scheduler
from forager.engine.policy import function_source
from forager.engine.scope import Skipped
from forager.errors import OutputError
from forager.report.phrases import span
from forager.store.rundir import own_file

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
async def logged_crawl(
    run_dir: Path, settings: "Settings", seeds: list[Url], clock: Clock, log: CrawlLog, *readers: "Reader"
) -> AsyncIterator[tuple["OpenCrawl", Chronicle]]:
    """Opens a crawl whose journal is read by these readers, a chronicle and the log."""
    from forager.assembly import open_crawl

    chronicles: list[Chronicle] = []

    def all_readers(account: Account) -> "list[Reader]":
        chronicles.append(Chronicle(account))
        return [*readers, *chronicles, log]

    async with open_crawl(run_dir, settings, seeds, clock, all_readers, say=log.saying("kernels", clock)) as opened:
        with log.kept_in(run_dir):
            yield opened, chronicles[0]


async def run_crawl(
    crawl: Crawl,
    seeds: list[Url],
    account: Account,
    clock: Clock,
    *,
    time_limit: float | None,
    stopping: asyncio.Event,
    log: CrawlLog,
    beside: tuple[Coroutine[Any, Any, None], ...] = (),
) -> None:
    """Crawls until the time limit (on the crawl's clock) or until stopped; `beside` runs as long as the crawl."""
    ends = math.inf if time_limit is None else clock.now() + time_limit
    speed = clock.speed if isinstance(clock, FastClock) else 1.0
    with stopped_by_signals(stopping):
        async with asyncio.TaskGroup() as group:
            group.create_task(stop_after(clock, time_limit, stopping))
            group.create_task(
                show_progress(
                    crawl,
                    account,
                    clock,
                    stopping,
                    log=log,
                    left=lambda: None if time_limit is None else max(0.0, ends - clock.now()) / speed,
                )
            )
            for task in beside:
                group.create_task(task)
            await crawl.run(seeds, stopping, ends)


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


def live_view(name: str, crawl: Crawl, chronicle: Chronicle, wire: "Wire", coverage: Coverage | None = None) -> Watched:
    """View of a live crawl for the dashboard; coverage is by default measured against the entries of feeds."""
    account = chronicle.account
    announced = AnnouncedStories(crawl.store, account.is_told, lambda: account.began)
    measured = coverage or Coverage("stories announced in feeds", announced)
    return watch(name, crawl, measured, wire.timetable, wire.robots)


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


def run_facts(
    account: Account,
    agent: ReinforcingAgent,
    scheduler: Scheduler,
    retraining: "Retraining | None",
    skipped: Skipped | None = None,
) -> dict[str, Any]:
    """Results of a run: its account, all foragers that ever lived, the function in force, and what was skipped."""
    facts = account.facts() | {"kind": agent.forager_settings.label, "profit": {"decided": agent.decided}}
    facts["foragers"]["kinds"] = Counter(one.kind.value for one in agent.foragers.values())
    lessons = [] if retraining is None else retraining.lessons
    facts["recrawl"] = {
        "function": str(scheduler.policy),
        "from": function_source(scheduler.policy, lessons),
        "lessons": len(lessons),
        "replaced": sum(one.replaced for one in lessons),
        "cycles": account.cycles.done,
    }
    facts["foragers"]["list"] = [_life(record) for record in agent.records.values()]
    return facts if skipped is None else facts | {"skipped": skipped_facts(skipped)}


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
    path = run_dir / FILE
    try:
        with open(path, "w", encoding="utf-8", opener=own_file) as file:
            file.write(json.dumps(facts, indent=1) + "\n")
    except OSError as error:
        raise OutputError(
            f"{path}: cannot be written ({error.strerror}); make room, the crawl itself is kept"
        ) from None


def skipped_facts(skipped: Skipped) -> dict[str, Any]:
    """What was skipped: links by reason, with the hosts that had most of them and an example."""
    facts: dict[str, Any] = {}
    for skip in skipped:
        one = facts.setdefault(skip.reason, {"links": 0, "hosts": {}, "example": skip.example})
        one["links"] += skip.count
        if len(one["hosts"]) < HOSTS:
            one["hosts"][skip.host] = skip.count
    return facts


async def show_progress(
    crawl: Crawl,
    account: Account,
    clock: Clock,
    stopping: asyncio.Event,
    *,
    log: CrawlLog,
    left: Callable[[], float | None],
) -> None:
    """Shows progress on standard error until the crawl stops; `left` returns the seconds until then, if known.

    Other output to standard error appears above the view, because rich redirects it.
    """
    if log.quiet:
        await stopping.wait()
    elif log.view:
        from rich.console import Console  # slow to import, and only a terminal needs it
        from rich.live import Live as Screen

        from forager.cli.screen import picture

        console = Console(stderr=True)
        with Screen(console=console, refresh_per_second=4, transient=True) as screen:
            while not stopping.is_set():
                screen.update(picture(crawl, account, log.latest, clock, left()))
                await _pause(0.25, stopping)
    else:
        while not stopping.is_set():
            await _pause(60.0, stopping)
            if not stopping.is_set():
                line = progress_line(account)
                log.say("progress", line, at=clock.now(), stories=account.stories, requests=account.requests)


async def _pause(seconds: float, stopping: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(seconds):
            await stopping.wait()
    except TimeoutError:
        pass


def progress_line(account: Account) -> str:
    """The progress in one line."""
    return (
        f"{account.stories} stories, median delay {span(account.delay(0.5))}, {account.requests} requests "
        f"({account.not_modified} unchanged), {account.pages} pages, {account.alive} foragers, "
        f"{account.error_count} errors"
    )
