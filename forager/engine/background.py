"""Long calculations of a crawl: beside the event loop, or at once in simulated time."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

T = TypeVar("T")


class Offload(Protocol):
    """Runs a long calculation so that the crawl need not wait for it."""

    def __call__(self, work: Callable[[], T]) -> Awaitable[T]: ...


async def in_thread(work: Callable[[], T]) -> T:
    """Beside the event loop."""
    return await asyncio.to_thread(work)


async def inline(work: Callable[[], T]) -> T:
    """At once: for simulated time, which knows no threads."""
    return work()
