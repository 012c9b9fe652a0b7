"""Who reads pages: this process, or others beside it, so that a crawl uses more than one core.

The readers beside it only read: bytes go in, `Facts` come out, and everything is decided here. A page that takes too long,
or that crashes a reader twice, is kept as one that cannot be read. If the readers cannot be had at all, pages are read
here. They end with the crawl, however it ends (see `reading_process`).
"""

import asyncio
import logging
import os
import socket
import struct
import subprocess
import sys
from collections import deque
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol, Self, cast

import msgspec

from forager.pages.facts import Facts, page_with, unreadable
from forager.pages.reader import Page, read
from forager.pages.settings import PagesSettings
from forager.pages.urls import UrlMemo
from forager.terms import Response, Url

LENGTH = struct.Struct("<I")
"""What stands before every answer: its length."""
LENGTHS = struct.Struct("<II")
"""What stands before every job: the lengths of what is asked and of the body."""
SMALL = 2_000
"""Bytes below which a page is read here: sending it would cost as much (ours)."""
LONGEST = 20.0
"""Seconds that reading one page may take beside us; usual ones take a thousandth (ours)."""
BUSY = 32
"""Pages that wait for every reader, from which on the next is read here (ours): mostly this process has more to do."""
ATTEMPTS = 2
"""Readers that a page may crash before it is given up (ours)."""
VAIN_STARTS = 3
"""Readers in a row that die before they have read anything, after which pages are read here (ours)."""

_log = logging.getLogger(__name__)


class Job(msgspec.Struct, array_like=True):
    """A page to be read; its body follows."""

    url: Url
    asked: float
    headers: tuple[tuple[str, str], ...]


class PageReader(Protocol):
    """Entered with `async with` while the crawl runs."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    async def read(self, response: Response) -> Page:
        """The page in a response that was fetched."""


class ReadHere:
    """Reads in this process, and only what is asked for."""

    def __init__(self, settings: PagesSettings) -> None:
        self.settings = settings
        self._memo = UrlMemo()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    async def read(self, response: Response) -> Page:
        return self.page(response)

    def page(self, response: Response) -> Page:
        return read(response, memo=self._memo, settings=self.settings)


@dataclass(slots=True)
class _Task:
    frame: tuple[bytes, bytes]
    done: "asyncio.Future[Facts | None]"
    crashes: int = 0


@dataclass(slots=True, eq=False)
class _Reader(asyncio.Protocol):
    """One process beside this one, and what it has to do."""

    pool: "ReadBeside"
    process: "subprocess.Popen[bytes]"
    tasks: deque[_Task] = field(default_factory=deque)
    is_ready: bool = False
    """It has started and waits for pages, or reads one."""
    transport: asyncio.Transport | None = None
    _received: bytearray = field(default_factory=bytearray)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def take(self, task: _Task) -> None:
        assert self.transport is not None
        self.tasks.append(task)
        self.transport.writelines(task.frame)

    def data_received(self, data: bytes) -> None:
        received = self._received
        received += data
        at = 0
        while len(received) - at >= LENGTH.size:
            (length,) = LENGTH.unpack_from(received, at)
            if len(received) - at - LENGTH.size < length:
                break
            at += LENGTH.size
            if length:
                with memoryview(received) as view, view[at : at + length] as answer:
                    self._answered(answer)
            self.is_ready = True
            at += length
        del received[:at]

    def _answered(self, answer: memoryview) -> None:
        task = self.tasks.popleft()
        if not task.done.done():
            task.done.set_result(_DECODER.decode(answer))

    def connection_lost(self, error: Exception | None) -> None:
        self.pool.lost(self)


class ReadBeside:
    """Reads in other processes."""

    def __init__(self, processes: int, settings: PagesSettings, seconds: float = LONGEST) -> None:
        """`seconds` are what one page may take."""
        self.processes, self.settings, self.seconds = processes, settings, seconds
        self._here = ReadHere(settings)
        self._readers: list[_Reader] = []
        self._waiting: deque[_Task] = deque()
        self._vain = 0
        self._closing = False
        self._stack = AsyncExitStack()
        self._group: asyncio.TaskGroup | None = None

    def __repr__(self) -> str:
        return (
            f"<ReadBeside {len(self._readers)} readers, {sum(len(one.tasks) for one in self._readers)} pages waiting>"
        )

    @property
    def ready(self) -> "list[_Reader]":
        """The readers that have started; until there is one, pages are read here."""
        return [reader for reader in self._readers if reader.is_ready]

    @property
    def pids(self) -> list[int]:
        """The numbers of the processes beside us."""
        return [reader.process.pid for reader in self._readers]

    async def __aenter__(self) -> Self:
        self._group = await self._stack.enter_async_context(asyncio.TaskGroup())
        for _ in range(self.processes):
            await self._start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing = True
        for reader in self._readers:
            if reader.transport is not None:
                reader.transport.close()
        loop = asyncio.get_running_loop()
        for reader in self._readers:
            await loop.run_in_executor(None, _end, reader.process)
        await self._stack.__aexit__(kind, error, trace)

    async def read(self, response: Response) -> Page:
        reader = min(self.ready, key=lambda one: len(one.tasks), default=None)  # the one with the least to do
        if len(response.body) < SMALL or reader is None or len(reader.tasks) >= BUSY:
            return self._here.page(response)
        try:
            job = msgspec.msgpack.encode(Job(response.url, response.asked, response.headers))
        except UnicodeEncodeError:  # half a surrogate pair in a header
            return self._here.page(response)
        frame = LENGTHS.pack(len(job), len(response.body)) + job, response.body
        task = _Task(frame, asyncio.get_running_loop().create_future())
        reader.take(task)
        facts = await task.done
        if task.crashes >= ATTEMPTS:
            return unreadable(response, "markup: reading it takes too long or crashes", self.settings)
        return self._here.page(response) if facts is None else page_with(response, facts, self.settings)

    def lost(self, reader: _Reader) -> None:
        """A reader is gone; the page it was at is suspect, the others go to the next one."""
        if reader not in self._readers or self._closing:
            return
        self._readers.remove(reader)
        self._vain = 0 if reader.is_ready else self._vain + 1
        if reader.tasks and reader.is_ready:
            reader.tasks[0].crashes += 1
            if reader.tasks[0].crashes >= ATTEMPTS:
                _settle(reader.tasks.popleft())
        self._waiting.extendleft(reversed(reader.tasks))
        if self._vain >= VAIN_STARTS:
            self._give_up()
            return
        assert self._group is not None
        self._group.create_task(self._replace(reader))

    def _give_up(self) -> None:
        """Go on with the readers that live, or without any."""
        if not self._readers:
            _log.warning("pages are read in this process: the readers beside it end at once")
            while self._waiting:
                _settle(self._waiting.popleft())
        while self._waiting:
            self._readers[0].take(self._waiting.popleft())

    async def _replace(self, reader: _Reader) -> None:
        await asyncio.get_running_loop().run_in_executor(None, _end, reader.process)
        if not self._closing:
            await self._start()

    async def _start(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            reader = _Reader(self, _spawned(theirs, self.seconds, self.settings))
        await asyncio.get_running_loop().create_connection(lambda: reader, sock=ours)
        self._readers.append(reader)
        while self._waiting:
            reader.take(self._waiting.popleft())


def _spawned(connection: socket.socket, seconds: float, settings: PagesSettings) -> "subprocess.Popen[bytes]":
    """A reader at the other end of a connection. It dies with the thread that calls this: that must be the main one."""
    told = (str(os.getpid()), str(connection.fileno()), str(seconds), msgspec.json.encode(settings).decode())
    command = [sys.executable, "-m", "forager.world.reading_process", *told]
    return subprocess.Popen(command, pass_fds=[connection.fileno()], stdin=subprocess.DEVNULL)


def _settle(task: _Task) -> None:
    """Nobody beside us could read it."""
    if not task.done.done():
        task.done.set_result(None)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """It ends by itself when its connection does; if not, it is ended."""
    try:
        process.wait(timeout=2)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


_DECODER = msgspec.msgpack.Decoder(Facts | None)
