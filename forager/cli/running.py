"""Running a crawl from the command line: progress, time limit, and Ctrl-C once to drain, twice to stop."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, TypeVar

from forager.cli.view import watch
from forager.clock import Clock, FastClock
from forager.dashboard.app import serve_dashboard
from forager.dashboard.chronicle import Chronicle
from forager.dashboard.settings import DashboardSettings
from forager.engine.crawl import Crawl, stop_after
from forager.engine.summary import Summary
from forager.frontier.timetable import Timetable
from forager.terms import Url

STOPS = (signal.SIGINT, signal.SIGTERM)
T = TypeVar("T")


def run_live(main: Coroutine[Any, Any, T]) -> T:
    """Run on uvloop where it is installed, else on asyncio's own loop; cancelled, it ends like a Ctrl-C."""
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
    summary: Summary,
    clock: Clock,
    *,
    time_limit: float | None,
    stopping: asyncio.Event,
    quiet: bool,
    beside: tuple[Coroutine[Any, Any, None], ...] = (),
) -> None:
    """Crawl until the time (on the crawl's clock) is over or somebody stops it; `beside` runs as long as the crawl."""
    ends = None if time_limit is None else clock.now() + time_limit
    speed = clock.speed if isinstance(clock, FastClock) else 1.0
    with _stopped_by_signals(stopping):
        async with asyncio.TaskGroup() as group:
            group.create_task(stop_after(clock, time_limit, stopping))
            group.create_task(
                watch(
                    crawl,
                    summary,
                    clock,
                    stopping,
                    quiet=quiet,
                    left=lambda: None if ends is None else max(0.0, ends - clock.now()) / speed,
                )
            )
            for task in beside:
                group.create_task(task)
            await crawl.run(seeds, stopping)


@asynccontextmanager
async def shown(
    crawl: Crawl, chronicle: Chronicle, settings: DashboardSettings, timetable: Timetable
) -> AsyncIterator[None]:
    """Serve the dashboard, if it is wanted, and say where."""
    if not settings.enabled:
        yield
        return
    async with serve_dashboard(crawl, chronicle, settings, timetable) as address:
        sys.stderr.write(f"Dashboard: {address}{'?token=' + settings.token if settings.token else ''}\n")
        sys.stderr.flush()
        yield


@contextmanager
def _stopped_by_signals(stopping: asyncio.Event) -> Iterator[None]:
    """The first signal asks the crawl to finish; the second ends it at once, and nothing acknowledged is lost."""
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
