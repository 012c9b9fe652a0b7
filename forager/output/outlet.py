"""From a store to a writer: every story in the order of acceptance, each exactly once, while the crawl runs.

A `Writer` puts stories into one output, in one format.
"""

import asyncio
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, TypeVar

from forager.errors import OutputError
from forager.output.fields import Row, row
from forager.store.protocol import AcceptedStory, RunRecords


@dataclass(frozen=True, slots=True)
class Last:
    """The last complete story in a file."""

    number: int
    url: str


class Mode(Enum):
    """What happens to a file that is there already."""

    APPEND = "append"  # -o: continue after the last story in it
    REPLACE = "replace"  # -O of a finished crawl: the new file takes its place when complete
    REWRITE = "rewrite"  # -O of a running crawl: emptied, then written while others may read


class StoryWriter(Protocol):
    @property
    def name(self) -> str:
        """The name of the output, for messages."""

    @property
    def newest(self) -> int | None:
        """How many of the newest stories it has room for; None: all."""

    def open(self) -> Last | None:
        """Checks everything without changing anything; returns where to continue, or None for the first story. May
        raise OutputError.

        Every method but `discard` lets an OSError of the system through.
        """

    def write(self, rows: Sequence[Row]) -> None:
        """Adds stories and hands them to the system. The first call, even without rows, begins the file."""

    def close(self) -> None:
        """Completes the output."""

    def discard(self) -> None:
        """Lets go of an output that will not be completed; what was there before stays as far as the mode allows."""


T = TypeVar("T")

BATCH = 100
"""Stories handed to the writer at once."""
EVERY = 1.0
"""Seconds between two looks at the store without a wake-up."""


class Outlet:
    """Follows a store: enter it before the crawl, let `follow` run beside it, leave it when the crawl has ended.

    Entering checks the output and raises an OutputError before anything is changed. Later trouble with the output is
    reported once to `warn` and ends the writing, not the crawl: `error` holds it, and the stories stay in the store.
    Leaving writes what is still missing and completes the output; leaving with an exception discards it. A slow reader
    of a pipe holds up only the thread of the writer.
    """

    def __init__(
        self,
        source: RunRecords,
        writer: StoryWriter,
        warn: Callable[[str], None],
        wanted: Callable[[AcceptedStory], bool] | None = None,
    ) -> None:
        """`wanted` chooses stories; None: all."""
        self._source, self._writer, self._warn, self._wanted = source, writer, warn, wanted
        self._wake = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="outlet")
        self._next = 0
        self.written = 0
        self.error: OSError | None = None
        self._has_warned = False

    def __repr__(self) -> str:
        return f"<Outlet {self._writer!r} {self.written} written, {'failed' if self.failed else 'well'}>"

    @property
    def failed(self) -> bool:
        """Whether the output is incomplete."""
        return self.error is not None

    def wake(self) -> None:
        """Tells that a story was stored, so that it is written at once."""
        self._wake.set()

    async def __aenter__(self) -> Self:
        try:
            self._next = await self._start(await self._do(self._writer.open))
            await self._do(lambda: self._writer.write([]))
        except BaseException as error:
            await self._do(self._writer.discard)
            self._thread.shutdown(wait=False)
            if isinstance(error, OSError):
                raise self._refusal(error) from None
            raise
        return self

    async def follow(self, stopping: asyncio.Event) -> None:
        """Writes stories as they come until told to stop, or until the output fails."""
        while not (stopping.is_set() or self.failed):
            self._wake.clear()
            await self.catch_up()
            async with asyncio.TaskGroup() as group:
                ends = {group.create_task(self._wake.wait()), group.create_task(stopping.wait())}
                await asyncio.wait(ends, timeout=EVERY, return_when=asyncio.FIRST_COMPLETED)
                for end in ends:
                    end.cancel()

    async def catch_up(self) -> None:
        """Writes all stories that are stored and not yet written."""
        number = await self._do(lambda: self._next)  # after a write that nobody waited for
        if self.failed or number >= self._source.counts().stories:
            return
        batch: list[Row] = []
        async for story in self._source.stories(number):
            if self._wanted is None or self._wanted(story):
                batch.append(await row(number, story, self._source))
            number += 1
            if len(batch) == BATCH:
                await self._write(batch, number)
                batch = []
                if self.failed:
                    return
        await self._write(batch, number)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        is_complete = False
        try:
            if error is None:
                await self.catch_up()
                await self._attempt(self._writer.close)
                is_complete = not self.failed
        finally:
            if not is_complete:
                await self._do(self._writer.discard)
            self._thread.shutdown(wait=False)

    async def _start(self, last: Last | None) -> int:
        """The number of the first story to write; raises an error for a file that ends with a story of another crawl."""
        if last is None:
            newest = self._writer.newest
            return 0 if newest is None or self._wanted else max(0, self._source.counts().stories - newest)
        async for story in self._source.stories(last.number):
            if story.url == last.url:
                return last.number + 1
            break
        name = self._writer.name
        raise OutputError(f"{name}: ends with a story of another crawl; choose another file, or overwrite it with -O")

    async def _write(self, batch: list[Row], following: int) -> None:
        def write() -> None:
            if batch:
                self._writer.write(batch)
            self._next = following
            self.written += len(batch)

        await self._attempt(write)

    async def _attempt(self, act: Callable[[], None]) -> None:
        def attempt() -> None:
            try:
                if not self.failed:
                    act()
            except OSError as error:
                self.error = error

        await self._do(attempt)
        if self.error is not None and not self._has_warned:
            self._has_warned = True
            self._warn(f"{self._reason(self.error)}; nothing stored is lost, `forager export` writes it anew")

    async def _do(self, act: Callable[[], T]) -> T:
        """Runs a call in the writer's own thread, one after the other, even if the caller was cancelled meanwhile."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, act)

    def _refusal(self, error: OSError) -> OutputError:
        if isinstance(error, FileNotFoundError):
            folder = Path(self._writer.name).parent
            return OutputError(f"{self._writer.name}: there is no directory {folder}; create it or choose another")
        return OutputError(f"{self._reason(error)}; choose another file")

    def _reason(self, error: OSError) -> str:
        why = os.strerror(error.errno) if error.errno else type(error).__name__
        return f"{self._writer.name}: cannot be written ({why})"
