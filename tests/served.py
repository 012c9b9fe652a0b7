"""A Newsroom over real HTTP in a thread of its own, so that commands can be run against it as a user would."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from forager.clock import WallClock
from forager.newsroom.newsroom import Newsroom, serve
from forager.newsroom.newsroom_settings import NewsroomSettings


@contextmanager
def served_newsroom(settings: NewsroomSettings | None = None, *, backlog_hours: float = 6.0) -> Iterator[Newsroom]:
    """Serve news of this very hour, at night and on Sundays as many as else, on loopback ports until left."""
    now = WallClock().now()
    settings = settings or NewsroomSettings()
    settings = replace(settings, start=now, days=1.0, backlog=backlog_hours * 3600, latency=0.0)
    settings = replace(settings, rhythm=0.0, weekend=1.0)
    ready, done = threading.Event(), threading.Event()
    served: list[Newsroom] = []

    async def main() -> None:
        clock = WallClock()
        async with serve(Newsroom(settings, clock), clock) as newsroom:
            served.append(newsroom)
            ready.set()
            while not done.is_set():
                await asyncio.sleep(0.05)

    thread = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
    thread.start()
    assert ready.wait(120), "the newsroom did not open"
    try:
        yield served[0]
    finally:
        done.set()
        thread.join(10)
