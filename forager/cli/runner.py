"""Runs a crawl from the command line: progress, dashboard, time limit; Ctrl-C once drains, twice stops."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from forager.cli.log import Log
from forager.cli.progress import show_progress
from forager.clock import Clock, FastClock
from forager.dashboard.chronicle import Chronicle
from forager.dashboard.coverage import Announced, Coverage
from forager.dashboard.dashboard_settings import DashboardSettings
from forager.dashboard.watched import Watched, watch
from forager.engine.crawl import Crawl, stop_after
from forager.report.account import Account
from forager.terms import Url

if TYPE_CHECKING:  # slow to import, or needed for types only
    from forager.assembly import Wire


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


async def run_crawl(
    crawl: Crawl,
    seeds: list[Url],
    account: Account,
    clock: Clock,
    *,
    time_limit: float | None,
    stopping: asyncio.Event,
    log: Log,
    beside: tuple[Coroutine[Any, Any, None], ...] = (),
) -> None:
    """Crawls until the time limit (on the crawl's clock) or until stopped; `beside` runs as long as the crawl."""
    ends = None if time_limit is None else clock.now() + time_limit
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
                    left=lambda: None if ends is None else max(0.0, ends - clock.now()) / speed,
                )
            )
            for task in beside:
                group.create_task(task)
            await crawl.run(seeds, stopping)


@asynccontextmanager
async def shown(
    watched: Watched, chronicle: Chronicle, settings: DashboardSettings, say: Callable[[str], None]
) -> AsyncIterator[None]:
    """Serves the dashboard, if wanted, and logs its address."""
    if not settings.enabled:
        yield
        return
    from forager.dashboard.app import serve_dashboard

    async with serve_dashboard(watched, chronicle, settings) as address:
        say(f"{address}{'?token=' + settings.token if settings.token else ''}")
        yield


def live_view(name: str, crawl: Crawl, chronicle: Chronicle, wire: "Wire", coverage: Coverage | None = None) -> Watched:
    """View of a live crawl for the dashboard; coverage is by default measured against the entries of feeds."""
    account = chronicle.account
    announced = Announced(crawl.store, account.is_told, lambda: account.began)
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
