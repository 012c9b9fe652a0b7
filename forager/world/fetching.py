"""The live web over several cores: other processes fetch and read, this one decides.

`LiveBeside` stands where `Live` stands, innermost: robots.txt, politeness, retries, redirects and recording are wrapped
round it here, and a process beside us only does what it is told: one GET, within caps, to public addresses only (each has a
`Live` of its own), and reading the page. What it read comes back packed; the body stays there unless it is to be recorded.

- A host belongs to one process, which keeps its connection. Only what is asked of it at the same time may go to others.
- If a process ends, its requests fail as a lost connection does, so that they are asked again in their turn, and another
  one is started. A page that ended two of them is fetched, but not read any more.
- Until the processes have started, or if they cannot be had, pages are fetched here.
- They end with the crawl, however it ends (see `fetching_process`).
"""

import asyncio
import logging
import mmap
import os
import socket
import subprocess
import sys
import tempfile
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self, cast

import msgspec

from forager.clock import Clock
from forager.pages.settings import PagesSettings
from forager.pages.urls import host
from forager.terms import DateSource, Request, Response, Trouble, Url
from forager.world.fetching_jobs import NUMBER, Arrangement, Frames, Job, Outbox, Told
from forager.world.http import failed
from forager.world.live import Live
from forager.world.settings import LiveSettings

LONGEST = 20.0
"""Seconds that reading one page may take beside us; usual ones take a thousandth (ours)."""
SLACK = 10.0
"""Seconds after which an answer is overdue, beyond all that it may take; the process that owes it is ended (ours)."""
CRASHES = 2
"""Processes that a page may end before nobody reads it any more (ours)."""
SUSPECTS = 1000
"""Pages remembered because a process ended while it read them (ours)."""
VAIN_STARTS = 3
"""Processes in a row that end before they have started, after which no more are (ours)."""
LOST = "the process that fetched it has ended"

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Asked:
    url: Url
    since: float
    """On the loop's clock."""
    done: "asyncio.Future[Told | None]"


@dataclass(slots=True, eq=False)
class _Fetcher(asyncio.Protocol):
    """One process beside this one, and what it was asked."""

    pool: "LiveBeside"
    process: "subprocess.Popen[bytes]"
    reading: mmap.mmap
    """Where it says which job's page it reads."""
    asked: dict[int, _Asked] = field(default_factory=dict)
    """By number, the oldest first."""
    is_ready: bool = False
    transport: asyncio.Transport | None = None
    _frames: Frames = field(default_factory=Frames)
    _outbox: Outbox | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self._outbox = Outbox(self.transport)

    def ask(self, number: int, job: bytes, asked: _Asked) -> None:
        assert self._outbox is not None
        self.asked[number] = asked
        self._outbox.put(job)

    def data_received(self, data: bytes) -> None:
        for record in self._frames.fed(data):
            self.is_ready = True
            if record:
                told = _DECODER.decode(record)
                asked = self.asked.pop(told.number)
                if not asked.done.done():
                    asked.done.set_result(told)

    def connection_lost(self, error: Exception | None) -> None:
        self.pool.lost(self)


class LiveBeside:
    """A web on the sockets of other processes; enter it with `async with`."""

    def __init__(
        self,
        processes: int,
        clock: Clock,
        live: LiveSettings,
        pages: PagesSettings,
        *,
        keep_bodies: bool = False,
        seconds: float = LONGEST,
    ) -> None:
        """`keep_bodies`: responses carry their bodies, also as transferred. `seconds` are what reading one may take."""
        self.processes, self.clock = processes, clock
        self.arrangement = Arrangement(live, pages, seconds, keep_bodies)
        self.liars: Callable[[Url], Collection[DateSource]] = lambda url: ()
        """Which sources of dates are not believed on the site of a URL."""
        self._here = Live(clock, live, keep_coded=keep_bodies)
        self._fetchers: list[_Fetcher] = []
        self._under_way: Counter[str] = Counter()
        self._homes: dict[str, int] = {}
        self._suspects: OrderedDict[Url, int] = OrderedDict()
        self._numbers = self._vain = 0
        self._closing = False
        self._stack = AsyncExitStack()
        self._group: asyncio.TaskGroup | None = None

    def __repr__(self) -> str:
        return f"<LiveBeside {len(self._fetchers)} processes, {sum(self._under_way.values())} requests under way>"

    @property
    def ready(self) -> list[_Fetcher]:
        """The processes that have started."""
        return [fetcher for fetcher in self._fetchers if fetcher.is_ready]

    @property
    def pids(self) -> list[int]:
        """The numbers of the processes beside us."""
        return [fetcher.process.pid for fetcher in self._fetchers]

    async def __aenter__(self) -> Self:
        await self._stack.enter_async_context(self._here)
        self._group = await self._stack.enter_async_context(asyncio.TaskGroup())
        for _ in range(self.processes):
            await self._start()
        self._watching = self._group.create_task(self._end_overdue())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing = True
        self._watching.cancel()
        for fetcher in self._fetchers:
            if fetcher.transport is not None:
                fetcher.transport.close()
        loop = asyncio.get_running_loop()
        for fetcher in self._fetchers:
            await loop.run_in_executor(None, _end, fetcher.process)
        await self._stack.__aexit__(kind, error, trace)

    async def fetch(self, request: Request) -> Response:
        name, now = host(request.url), self.clock.now()
        fetcher, job = self._fetcher_for(name), self._job(request, now)
        if fetcher is None or job is None:
            return await self._here.fetch(request)
        loop = asyncio.get_running_loop()
        asked = _Asked(request.url, loop.time(), loop.create_future())
        self._under_way[name] += 1
        try:
            fetcher.ask(self._numbers, job, asked)
            told = await asked.done
        finally:
            self._under_way[name] -= 1
            if not self._under_way[name]:
                del self._under_way[name]
        if told is None:
            return failed(request, Trouble.CONNECT, LOST, asked=now, seconds=loop.time() - asked.since)
        return _response(request.url, now, told)

    def _fetcher_for(self, name: str) -> _Fetcher | None:
        """The process that a host belongs to; the one with the least to do for what is asked of it at the same time."""
        ready = self.ready
        if name in self._under_way or not ready:
            return min(ready, key=lambda one: len(one.asked), default=None)
        home = self._homes.get(name)
        if home is None:
            home = self._homes[name] = len(self._homes)
        return ready[home % len(ready)]

    def _job(self, request: Request, now: float) -> bytes | None:
        """What to ask of a process beside us, packed; None if it cannot be: half a surrogate pair is no URL."""
        self._numbers += 1
        job = Job(
            number=self._numbers,
            url=request.url,
            asked=now,
            etag=request.validators.etag,
            last_modified=request.validators.last_modified,
            body_limit=request.body_limit,
            ignored=tuple(self.liars(request.url)),
            is_read=self._suspects.get(request.url, 0) < CRASHES,
        )
        try:
            return msgspec.msgpack.encode(job)
        except UnicodeEncodeError:
            return None

    def lost(self, fetcher: _Fetcher) -> None:
        """A process is gone; the page that it read then is suspect, and all that it was asked has failed."""
        if fetcher not in self._fetchers or self._closing:
            return
        self._fetchers.remove(fetcher)
        self._vain = 0 if fetcher.is_ready else self._vain + 1
        (number,) = NUMBER.unpack_from(fetcher.reading, 0)
        if number in fetcher.asked:
            self._suspect(fetcher.asked[number].url)
        for asked in fetcher.asked.values():
            if not asked.done.done():
                asked.done.set_result(None)
        if self._vain < VAIN_STARTS:
            assert self._group is not None
            self._group.create_task(self._replace(fetcher))
        elif not self._fetchers:
            _log.warning("pages are fetched in this process: those beside it end at once")

    def _suspect(self, url: Url) -> None:
        self._suspects[url] = self._suspects.get(url, 0) + 1
        if len(self._suspects) > SUSPECTS:
            self._suspects.popitem(last=False)

    async def _replace(self, fetcher: _Fetcher) -> None:
        await asyncio.get_running_loop().run_in_executor(None, _end, fetcher.process)
        if not self._closing:
            await self._start()

    async def _start(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs, tempfile.TemporaryFile() as shared:
            shared.write(NUMBER.pack(-1))
            shared.flush()
            process = _spawned(theirs, shared.fileno(), self.arrangement)
            fetcher = _Fetcher(self, process, mmap.mmap(shared.fileno(), NUMBER.size))
        await asyncio.get_running_loop().create_connection(lambda: fetcher, sock=ours)
        self._fetchers.append(fetcher)

    async def _end_overdue(self) -> None:
        """A process that owes an answer for too long hangs, and is ended."""
        longest = self.arrangement.live.total_time + self.arrangement.seconds + SLACK
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(SLACK)
            for fetcher in self._fetchers:
                oldest = next(iter(fetcher.asked.values()), None)
                if oldest is not None and loop.time() - oldest.since > longest:
                    fetcher.process.kill()


def _response(url: Url, asked: float, told: Told) -> Response:
    return Response(
        url=url,
        outcome=told.outcome,
        asked=asked,
        seconds=told.seconds,
        status=told.status,
        headers=told.headers,
        body=told.body,
        wire_bytes=told.wire_bytes,
        trouble=told.trouble,
        error=told.error,
        address=told.address,
        coded=told.coded,
        facts=told.facts,
    )


def _spawned(connection: socket.socket, shared: int, arrangement: Arrangement) -> "subprocess.Popen[bytes]":
    """A process at the other end of a connection. It dies with the thread that calls this: that must be the main one."""
    told = (str(os.getpid()), str(connection.fileno()), str(shared), msgspec.json.encode(arrangement).decode())
    command = [sys.executable, "-m", "forager.world.fetching_process", *told]
    return subprocess.Popen(command, pass_fds=[connection.fileno(), shared], stdin=subprocess.DEVNULL)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """It ends by itself when its connection does; if not, it is ended."""
    try:
        process.wait(timeout=2)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


_DECODER = msgspec.msgpack.Decoder(Told)
