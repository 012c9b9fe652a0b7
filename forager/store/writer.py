"""Group commit: calls that arrive while a batch is being written share the next one.

A batch is written in the writer's own thread by one function call. There is no task that could be cancelled: the end of
a batch begins the next. A caller that is cancelled while it waits only stops waiting; its rows are committed anyway.

After a batch the writer rests some times as long as it took: a commit of few rows costs hardly less than one of many,
so under load batches grow, and writing takes a bounded share of the time. While several callers share batches, the rest
grows to its longest, and with it the batches. A lonely caller hardly waits.
"""

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from forager.errors import StoreError
from forager.store.settings import StoreSettings

REST = 3.0
"""How many times as long as it wrote the writer rests (ours)."""
LONGEST_REST = 0.02
"""Seconds it rests at most (ours)."""
LONGER, SHORTER = 4.0, 0.8
"""What the rest is multiplied by after a batch that several callers shared, or that one caller had to itself (ours)."""


class Writer:
    """Commits what `take` hands over, one batch after the other; after an error it refuses everything."""

    def __init__(self, take: Callable[[], Callable[[], None]], settings: StoreSettings, where: str) -> None:
        """`take` ends the batch that is being collected and returns what writes it."""
        self._take, self._settings, self._where = take, settings, where
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="store-writer")
        self._waiters: list[asyncio.Future[None]] = []
        self._rows = 0
        self._writing = self._hurries = False
        self._began = self._rested = -1.0
        self._rest = 0.0
        self._start: asyncio.TimerHandle | None = None
        self._error: BaseException | None = None

    def __repr__(self) -> str:
        state = f"failed: {self._error}" if self._error else "writing" if self._writing else "idle"
        return f"<Writer {state}, {self._rows} rows waiting>"

    @property
    def is_busy(self) -> bool:
        """Whether anything is being written or waits to be."""
        return self._writing or self._start is not None

    def check(self) -> None:
        """Raise if nothing can be committed any more."""
        if self._error is not None:
            raise self._failure()

    def collect(self, rows: int) -> None:
        """Count rows that wait for the next batch without a caller who waits for them, and see that it begins soon."""
        self._rows += rows
        if rows:
            self._arrange()

    async def commit(self, rows: int) -> None:
        """Wait until everything collected so far is on disk; `rows` of it are new."""
        self.check()
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        self._rows += rows
        self._arrange()
        await waiter

    async def finish(self) -> None:
        """Commit what can be committed; refuse everything afterwards."""
        if self._error is None:
            try:
                await self.commit(0)
            finally:
                self._error = self._error or StoreError(f"{self._where}: the store is closed")
        self._thread.shutdown()

    def _arrange(self) -> None:
        """See that a batch begins soon; while one is being written its end takes care of that."""
        if self._writing or self._hurries:
            return
        self._hurries = self._rows >= self._settings.batch_rows
        if self._start is not None and self._hurries:
            self._start.cancel()
        if self._start is None or self._hurries:
            loop = asyncio.get_running_loop()
            wait = 0.0 if self._hurries else max(self._settings.batch_wait, self._rested - loop.time())
            self._start = loop.call_later(wait, self._begin)

    def _begin(self) -> None:
        self._start, self._writing, self._hurries, self._rows = None, True, False, 0
        waiters, self._waiters = self._waiters, []
        loop = asyncio.get_running_loop()
        self._began = loop.time()
        writing = loop.run_in_executor(self._thread, self._take())
        writing.add_done_callback(partial(self._end, waiters))

    def _end(self, waiters: list[asyncio.Future[None]], writing: asyncio.Future[None]) -> None:
        self._writing = False
        now = asyncio.get_running_loop().time()
        least = REST * (now - self._began)
        self._rest = min(LONGEST_REST, max(least, self._rest * (LONGER if len(waiters) > 1 else SHORTER)))
        self._rested = now + self._rest
        self._error = writing.exception()
        if self._error is not None:
            waiters, self._waiters = waiters + self._waiters, []
        for waiter in waiters:
            if waiter.done():
                continue
            if self._error is None:
                waiter.set_result(None)
            else:
                waiter.set_exception(self._failure())
        if self._waiters or (self._rows and self._error is None):
            self._arrange()

    def _failure(self) -> BaseException:
        """The error, afresh for each caller."""
        if isinstance(self._error, sqlite3.Error):
            return StoreError(
                f"{self._where}: cannot write ({self._error}); mend that and start again, nothing committed is lost"
            )
        if isinstance(self._error, StoreError):
            return StoreError(str(self._error))
        return RuntimeError(f"{self._where}: writing failed with {self._error!r}")
