"""The clocks of a crawl: wall-clock time, accelerated time, and simulated time.

`VirtualLoop` is an event loop that jumps to the next timer when no task can run, so hours of crawling pass in seconds
with the same engine code. It does not support threads, processes or sockets, because it cannot see them work.

`rest` sleeps on a clock and wakes early when the crawl stops. Long calculations run beside the event loop, or at once in
simulated time.
"""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, NoReturn, Protocol, TypeVar

T = TypeVar("T")

_GRAIN = 2.0**-20
"""Step of virtual time in seconds; a power of two is exact in floating point, so replays see exactly the same times."""


_BEHIND = 0.9
"""Speed of `WallClock`, relative to real time, while it waits for a system clock that was set back."""


class Clock(Protocol):
    def now(self) -> float:
        """UTC seconds since the epoch."""

    async def sleep(self, seconds: float) -> None:
        """Waits this many seconds on this clock; returns at once if negative."""


class WallClock:
    """System time that never goes back.

    It follows a jump forward at once, because the machine may have slept. After the system clock was set back, it runs
    at nine tenths of real time until both agree again, so no task waits hours for a moment that has already passed.
    """

    def __init__(self, wall: Callable[[], float] = time.time, steady: Callable[[], float] = time.monotonic) -> None:
        """`wall` is the system clock, which can be set; `steady` is a monotonic clock."""
        self._wall, self._steady = wall, steady
        self._told, self._at = wall(), steady()

    def now(self) -> float:
        wall, at = self._wall(), self._steady()
        self._told, self._at = max(wall, self._told + _BEHIND * (at - self._at)), at
        return self._told

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(0.0, seconds))


class FastClock:
    """Runs `speed` times as fast as real time, starting at `epoch`; the demo uses it."""

    def __init__(self, epoch: float, speed: float) -> None:
        self.epoch, self.speed = epoch, speed
        self._started = time.monotonic()

    def now(self) -> float:
        return self.epoch + (time.monotonic() - self._started) * self.speed

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(0.0, seconds) / self.speed)


class LoopClock:
    """Time of the running event loop, counted from `epoch`; with `VirtualLoop` this is simulated time."""

    def __init__(self, epoch: float) -> None:
        self.epoch = epoch

    def now(self) -> float:
        return self.epoch + asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(0.0, seconds))


class VirtualLoop(asyncio.base_events.BaseEventLoop):
    """Event loop whose time stands still while a task can run and otherwise jumps to the next timer."""

    def __init__(self) -> None:
        super().__init__()
        self._time = 0.0
        self._selector = self  # BaseEventLoop waits by calling its selector; ours jumps instead

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
    """Runs a coroutine to its end in simulated time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)


async def pause(clock: Clock, seconds: float, stopping: asyncio.Event, bell: asyncio.Event | None = None) -> None:
    """Sleeps on the clock until the time is over, the crawl is told to stop, or `bell` is set."""
    if stopping.is_set() or seconds <= 0:
        return
    async with asyncio.TaskGroup() as group:
        ends = {group.create_task(clock.sleep(seconds)), group.create_task(stopping.wait())}
        if bell is not None:
            ends.add(group.create_task(bell.wait()))
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for end in ends:
            end.cancel()


class Offload(Protocol):
    """Runs a long calculation so that the crawl need not wait for it."""

    def __call__(self, work: Callable[[], T]) -> Awaitable[T]: ...


async def in_thread(work: Callable[[], T]) -> T:
    """Beside the event loop."""
    return await asyncio.to_thread(work)


async def inline(work: Callable[[], T]) -> T:
    """At once: for simulated time, which knows no threads."""
    return work()
