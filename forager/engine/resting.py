"""Waiting that ends when the crawl does."""

import asyncio

from forager.clock import Clock


async def rest(clock: Clock, seconds: float, stopping: asyncio.Event, bell: asyncio.Event | None = None) -> None:
    """Sleep on the clock, but not longer than until the crawl is told to stop, or the bell rings."""
    if stopping.is_set() or seconds <= 0:
        return
    async with asyncio.TaskGroup() as group:
        ends = {group.create_task(clock.sleep(seconds)), group.create_task(stopping.wait())}
        if bell is not None:
            ends.add(group.create_task(bell.wait()))
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for end in ends:
            end.cancel()
