"""One clock for every part: wall time, accelerated time, or the time of a loop that jumps.

`VirtualLoop` is an event loop that jumps to the next timer whenever nothing can run, so hours of crawling pass in seconds
through the very same engine. Under it there must be no threads, processes or sockets: the loop cannot see them work.

`rest` waits on a clock, and ends when the crawl does.
"""

import asyncio
import math
import time
from collections.abc import Callable, Coroutine
from typing import Any, NoReturn, Protocol, TypeVar

T = TypeVar("T")

_GRAIN = 2.0**-20
"""Seconds: the steps of virtual time, exact in floating point, so that a replay meets the very same moments."""


_BEHIND = 0.9
"""How fast a wall clock runs that waits to be caught up with."""


class Clock(Protocol):
    def now(self) -> float:
        """UTC seconds since the epoch."""

    async def sleep(self, seconds: float) -> None:
        """Wait this long on this clock; not at all if negative."""


class WallClock:
    """The time of the world, but it never goes back.

    A step forward is followed at once: the machine may have slept. After a step back ours goes on at nine tenths of the
    pace until both agree again, so nobody waits for hours because a moment that was over lies ahead once more.
    """

    def __init__(self, wall: Callable[[], float] = time.time, steady: Callable[[], float] = time.monotonic) -> None:
        """`wall` is the clock that may be set, `steady` one that only runs."""
        self._wall, self._steady = wall, steady
        self._told, self._at = wall(), steady()

    def now(self) -> float:
        wall, at = self._wall(), self._steady()
        self._told, self._at = max(wall, self._told + _BEHIND * (at - self._at)), at
        return self._told

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(0.0, seconds))


class FastClock:
    """Runs `speed` times as fast as the world, from `epoch` on; the demo lives on it."""

    def __init__(self, epoch: float, speed: float) -> None:
        self.epoch, self.speed = epoch, speed
        self._started = time.monotonic()

    def now(self) -> float:
        return self.epoch + (time.monotonic() - self._started) * self.speed

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(0.0, seconds) / self.speed)


class LoopClock:
    """The time of the running event loop, counted from `epoch`; with `VirtualLoop` this is simulated time."""

    def __init__(self, epoch: float) -> None:
        self.epoch = epoch

    def now(self) -> float:
        return self.epoch + asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(0.0, seconds))


class VirtualLoop(asyncio.base_events.BaseEventLoop):
    """An event loop whose time stands still while anything can run and jumps to the next timer otherwise."""

    def __init__(self) -> None:
        super().__init__()
        self._time = 0.0
        self._selector = self  # BaseEventLoop asks its selector to wait: we jump instead

    def time(self) -> float:
        return self._time

    def select(self, timeout: float | None) -> list[Any]:
        if timeout is None:
            raise RuntimeError("every task waits for something that is not a timer: nothing can ever happen again")
        self._time = math.ceil((self._time + max(0.0, timeout)) / _GRAIN) * _GRAIN
        return []

    def _process_events(self, event_list: list[Any]) -> None:
        pass

    def _write_to_self(self) -> None:
        pass

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> NoReturn:  # type: ignore[override]
        raise RuntimeError("no threads or processes in simulated time: they would take no time at all")


def run_virtual(main: Coroutine[Any, Any, T]) -> T:
    """Run to the end in simulated time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


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
