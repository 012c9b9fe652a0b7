"""What a process that fetches does: many requests at once over connections of its own, and each page is read as it comes.

Only what was read goes back to the crawl. A page that takes longer to read than it may ends the process: no parser written
in C could be told otherwise. Which page that was stands in memory that the crawl sees as well.
"""

import asyncio
import mmap
import signal
import socket
from contextlib import suppress
from dataclasses import replace
from typing import cast

import msgspec

from forager.allocation import tune_allocation
from forager.clock import WallClock
from forager.pages.facts import facts_of, unreadable
from forager.pages.reader import read
from forager.pages.urls import UrlMemo
from forager.terms import Outcome, Request, Response, Url, Validators
from forager.world.fetching_jobs import NUMBER, Arrangement, Frames, Job, Outbox, Told
from forager.world.live import Live

NOBODY_READS = "markup: reading it takes too long or crashes"
"""The trouble of a page that crashed its readers."""


def run(handle: int, memory: int, arrangement: str) -> None:
    """Serve jobs that come over a socket until it is closed; `arrangement` is JSON."""
    told = msgspec.json.decode(arrangement, type=Arrangement)
    with suppress(ImportError):
        import uvloop

        uvloop.run(_serve(handle, memory, told))
        return
    asyncio.run(_serve(handle, memory, told))


async def _serve(handle: int, memory: int, told: Arrangement) -> None:
    loop = asyncio.get_running_loop()
    tune_allocation()
    async with Live(WallClock(), told.live, keep_coded=told.is_raw) as live, asyncio.TaskGroup() as group:
        service = FetchingService(live, group, told, mmap.mmap(memory, NUMBER.size))
        await loop.create_connection(lambda: service, sock=socket.socket(fileno=handle))
        await service.ended.wait()
        service.stop()


class FetchingService(asyncio.Protocol):
    """Takes jobs and answers them, in whatever order they end."""

    def __init__(self, live: Live, group: asyncio.TaskGroup, told: Arrangement, reading: mmap.mmap) -> None:
        self.live, self.group, self.told, self.reading = live, group, told, reading
        self.ended = asyncio.Event()
        self._frames, self._jobs = Frames(), msgspec.msgpack.Decoder(Job)
        self._tasks: set[asyncio.Task[None]] = set()
        self._outbox: Outbox | None = None
        self._memo = UrlMemo()
        self._told: set[Url] = set()

    def __repr__(self) -> str:
        return f"<FetchingService {len(self._tasks)} under way>"

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._outbox = Outbox(cast(asyncio.Transport, transport))
        self._outbox.put(b"")

    def data_received(self, data: bytes) -> None:
        for record in self._frames.fed(data):
            task = self.group.create_task(self._do(self._jobs.decode(record)))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def connection_lost(self, error: Exception | None) -> None:
        self._outbox = None
        self.ended.set()

    def stop(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def _do(self, job: Job) -> None:
        request = Request(job.url, Validators(job.etag, job.last_modified), job.body_limit)
        response = replace(await self.live.fetch(request), asked=job.asked)
        if self._outbox is not None:
            self._outbox.put(msgspec.msgpack.encode(self._answer(job, response)))

    def _answer(self, job: Job, response: Response) -> Told:
        facts = b""
        if response.outcome is Outcome.FETCHED and job.body_limit is None:
            facts = self._facts(job, response)
        has_body = self.told.is_raw or (response.outcome is Outcome.FETCHED and not facts)
        return Told(
            number=job.number,
            outcome=response.outcome,
            seconds=response.seconds,
            status=response.status,
            headers=response.headers,
            wire_bytes=response.wire_bytes,
            trouble=response.trouble,
            error=response.error,
            address=response.address,
            facts=facts,
            body=response.body if has_body else b"",
            coded=response.coded,
        )

    def _facts(self, job: Job, response: Response) -> bytes:
        """What the page says; nothing if that cannot be told in UTF-8: the crawl reads the page itself then."""
        if job.is_read:
            NUMBER.pack_into(self.reading, 0, job.number)
            signal.setitimer(signal.ITIMER_REAL, self.told.seconds)  # what it does by default is to end the process
            page = read(response, memo=self._memo, settings=self.told.pages)
        else:
            page = unreadable(response, NOBODY_READS, self.told.pages)
        try:
            return msgspec.msgpack.encode(facts_of(page, self._told, job.ignored))
        except UnicodeEncodeError:  # half a surrogate pair
            return b""
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            NUMBER.pack_into(self.reading, 0, -1)
