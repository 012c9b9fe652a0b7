"""Waiting that ends when the crawl does."""

import asyncio

from forager.clock import Clock


async def rest(clock: Clock, seconds: float, stopping: asyncio.Event) -> None:
    """Sleep on the clock, but not longer than until the crawl is told to stop."""
    if stopping.is_set() or seconds <= 0:
        return
    async with asyncio.TaskGroup() as group:
        ends = {group.create_task(clock.sleep(seconds)), group.create_task(stopping.wait())}
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for end in ends:
            end.cancel()
