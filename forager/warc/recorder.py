"""Records every exchange with the web, including robots.txt, redirects, errors and timeouts, beside the event loop.

`Recording` is the innermost web, `Polite(Recording(Live))`, so a recording holds what really went over the wire, each
exchange with its start and duration on the clock of the crawl. `BackgroundRecorder` runs the writer in a thread.

An exchange enters the queue at once. Fetches wait only while more bytes are queued than the queue may hold. A busy
crawl is written in larger batches, because each batch costs the event loop some time: the next one begins a short pause
after the last has ended. There is no task that could be cancelled.
"""

import asyncio
import math
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from forager.clock import Clock
from forager.errors import ForagerError, OutputError
from forager.terms import Request, Response
from forager.warc.exchange import Exchange
from forager.warc.writer import WarcWriter
from forager.web.web import Web

REST = 0.05
"""Seconds between the end of a batch and the next, unless a fetch waits for room (ours)."""
_OVERHEAD = 1000  # rough size of an exchange's headers and objects in bytes


class Recorder(Protocol):
    async def take(self, exchange: Exchange) -> None:
        """Keeps an exchange. It is accepted at once, even if the caller is cancelled while waiting here."""


class Recording:
    """A web that passes every exchange to a recorder."""

    def __init__(self, inner: Web, recorder: Recorder, clock: Clock) -> None:
        self.inner, self.recorder, self.clock = inner, recorder, clock
        self._taken = 0

    def __repr__(self) -> str:
        return f"<Recording {self._taken} taken>"

    async def fetch(self, request: Request) -> Response:
        started = self.clock.now()
        response = await self.inner.fetch(request)
        self._taken += 1
        await self.recorder.take(Exchange(request, response, self.clock.now() - started))
        return response


class BackgroundRecorder:
    """Writes batches in a thread of its own; after an error it refuses everything."""

    def __init__(self, writer: WarcWriter) -> None:
        self.writer = writer
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="warc-writer")
        self._pending: list[Exchange] = []
        self._bytes = self._taken = 0
        self._is_writing = False
        self._start: asyncio.TimerHandle | None = None
        self._rested = -math.inf
        self._waiters: list[asyncio.Future[None]] = []
        self._error: BaseException | None = None

    def __repr__(self) -> str:
        state = f"failed: {self._error}" if self._error else "writing" if self._is_writing else "idle"
        return f"<BackgroundRecorder {self._taken} taken, {self._bytes} bytes waiting, {state}>"

    async def take(self, exchange: Exchange) -> None:
        self._check()
        self._taken += 1
        self._pending.append(exchange)
        self._bytes += _weight(exchange)
        self._arrange()
        while self._bytes > self.writer.settings.queue:
            await self._batch_end()

    async def close(self) -> None:
        """Writes what is queued and closes the file; raises if anything could not be written."""
        try:
            while self._error is None and (self._is_writing or self._pending):
                await self._batch_end()
            self._check()
            await asyncio.get_running_loop().run_in_executor(self._thread, self.writer.close)
        finally:
            self._error = self._error or OutputError(f"{self.writer.directory}: the recording is closed")
            self._thread.shutdown()

    async def _batch_end(self) -> None:
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        self._arrange()
        await waiter
        self._check()

    def _arrange(self) -> None:
        """Schedules the next batch: now, or when the pause after the last one is over."""
        if self._is_writing or not self._pending or self._error is not None:
            return
        loop = asyncio.get_running_loop()
        wait = 0.0 if self._waiters else self._rested - loop.time()
        if wait <= 0:
            self._begin()
        elif self._start is None:
            self._start = loop.call_later(wait, self._begin)

    def _begin(self) -> None:
        if self._start is not None:
            self._start.cancel()
            self._start = None
        batch, self._pending = self._pending, []
        self._is_writing = True
        writing = asyncio.get_running_loop().run_in_executor(self._thread, self.writer.write, batch)
        weight = sum(map(_weight, batch))
        writing.add_done_callback(lambda done: self._end(done, weight))

    def _end(self, writing: asyncio.Future[None], weight: int) -> None:
        self._is_writing = False
        self._bytes -= weight
        self._error = self._error or writing.exception()
        self._rested = asyncio.get_running_loop().time() + REST
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)
        self._arrange()

    def _check(self) -> None:
        """Raises a new error for each caller if writing has failed."""
        if isinstance(self._error, ForagerError):
            raise OutputError(str(self._error))
        if self._error is not None:
            raise RuntimeError(f"writing the recording failed with {self._error!r}")


def _weight(exchange: Exchange) -> int:
    return len(exchange.response.body) + len(exchange.response.coded) + _OVERHEAD
