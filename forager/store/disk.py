"""crawl.db in a run directory, through aiosqlite: one connection that writes, one that reads.

Group commit: rows added while a batch is being written share the next one. A batch is one call into the thread of the
writing connection, so it is committed as a whole even if callers are cancelled; a cancelled caller only stops waiting.
After a batch the disk rests a multiple of the time it wrote, because a commit of few rows costs hardly less than one of
many: under load batches grow, and writing takes a bounded share of the time. A single caller hardly waits.

Long results are read in pieces, each a short query of its own, so a slow reader keeps no old state of the file open and
the writer's log does not grow. Rows are only ever added, so the end is fixed when reading begins.
"""

import asyncio
import sqlite3
from asyncio import Future, Task, get_running_loop
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import aiosqlite
import zstandard

from forager.clock import VirtualLoop
from forager.errors import StoreError
from forager.store.ledger import Ledger
from forager.store.protocol import AcceptedStory, Found, Version, VersionId, Visit
from forager.store.rows import STORIES, URLS, VISITS, DiskRow, Packer, RowTable, as_read, versions_table, written
from forager.store.rundir import (
    DATABASE,
    Lock,
    StoreSettings,
    bridge,
    check,
    connect_reader,
    connect_writer,
    damaged,
    prepare,
)
from forager.store.snapshot import SHARE, VISITED, is_behind, load, state_row, taken
from forager.terms import UrlId

T = TypeVar("T")

REST = 3.0
"""How long the disk rests, as a multiple of the time it wrote (ours)."""
LONGEST_REST = 0.02
"""Maximum seconds of rest (ours)."""
LONGER, SHORTER = 4.0, 0.8
"""Factors of the rest after a batch that several callers shared, or that had one caller (ours)."""
RECENT = 256
"""Number of versions cached."""
_PIECE = 256
_INSERT_STATE = (
    f"INSERT OR REPLACE INTO states (url, {', '.join(VISITED)}) VALUES ({', '.join('?' * (1 + len(VISITED)))})"
)

Statements = Iterable[tuple[str, Iterable[DiskRow]]]


class Connection(aiosqlite.Connection):
    """A connection whose thread ends with the process, closed or not, and which writes a transaction in one call."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        """`connect` is called in the thread of the connection."""
        super().__init__(connect, iter_chunk_size=_PIECE)
        self._thread.daemon = True  # otherwise a process that fails without closing never ends

    @classmethod
    async def opened(cls, connect: Callable[[], sqlite3.Connection]) -> "Connection":
        if isinstance(get_running_loop(), VirtualLoop):
            raise RuntimeError("no disk in simulated time: its thread would take no time at all")
        connection = cls(connect)
        try:
            await connection
        except BaseException:
            connection._thread.join()  # it is about to end, and would otherwise call a loop that may be closed by then
            raise
        return connection

    async def transact(self, statements: Statements) -> None:
        """Executes each statement for all its rows: all or nothing. The thread generates the rows."""
        await self._execute(self._transact, statements)  # type: ignore[no-untyped-call]

    def _transact(self, statements: Statements) -> None:
        connection = self._conn
        connection.execute("BEGIN IMMEDIATE")
        try:
            for statement, rows in statements:
                connection.executemany(statement, rows)
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")


@dataclass(slots=True)
class Batch:
    """What was added since the last batch, and is committed together with it."""

    urls: list[tuple[UrlId, Found]] = field(default_factory=list)
    learned: dict[UrlId, None] = field(default_factory=dict)
    """URLs whose row in `states` is out of date."""
    states: list[DiskRow] = field(default_factory=list)
    visits: list[tuple[int, Visit]] = field(default_factory=list)
    versions: dict[VersionId, tuple[UrlId, float, VersionId | None, Version]] = field(default_factory=dict)
    """With URL, time, and the older version whose text may be the same."""
    settled: dict[VersionId, None] = field(default_factory=dict)
    stories: list[tuple[int, AcceptedStory]] = field(default_factory=list)
    hosts: dict[str, bytes] = field(default_factory=dict)
    kept: dict[str, bytes] = field(default_factory=dict)
    tallies: dict[str, int] = field(default_factory=dict)

    def finish(self, ledger: Ledger) -> None:
        """Takes the state of the ledger, which fits, because every decision so far has its rows in this batch."""
        self.states = [state_row(ledger.columns, id) for id in self.learned]
        if self.visits:
            self.tallies.update((f"outcome {name}", count) for name, count in ledger.outcomes.items())
            self.tallies.update((f"trouble {name}", count) for name, count in ledger.troubles.items())

    def statements(self, versions: RowTable[Version]) -> Iterator[tuple[str, Iterable[DiskRow]]]:
        """Statements in an order in which each row comes after those it refers to."""
        yield URLS.insert, (URLS.row((id,), found) for id, found in self.urls)
        yield _INSERT_STATE, self.states
        yield VISITS.insert, (VISITS.row((number,), visit) for number, visit in self.visits)
        yield (
            versions.insert,
            (
                versions.row((number, url, at, same_text), version)
                for number, (url, at, same_text, version) in self.versions.items()
            ),
        )
        yield (
            "INSERT INTO unsettled (version) VALUES (?)",
            [(number,) for number in self.versions if number not in self.settled],
        )
        yield (
            "DELETE FROM unsettled WHERE version = ?",
            [(number,) for number in self.settled if number not in self.versions],
        )
        yield STORIES.insert, (STORIES.row((number,), story) for number, story in self.stories)
        yield (
            "INSERT OR REPLACE INTO hosts (name, state) VALUES (?, ?)",
            [(written(name), state) for name, state in self.hosts.items()],
        )
        yield (
            "INSERT OR REPLACE INTO kept (name, value) VALUES (?, ?)",
            [(written(name), value) for name, value in self.kept.items()],
        )
        yield "INSERT OR REPLACE INTO tallies (name, count) VALUES (?, ?)", list(self.tallies.items())


class Disk:
    """The archive of a store in a run directory (see `protocol.Archive`), with the ledger as of the last commit.

    Leases are not written: whatever is not acknowledged is pending again when the directory is opened next.
    """

    def __init__(
        self,
        directory: Path,
        settings: StoreSettings,
        ledger: Ledger,
        reading: Connection,
        writing: Connection | None = None,
        lock: Lock | None = None,
    ) -> None:
        """Read-only without a writing connection."""
        self.ledger = ledger
        self._directory, self._settings = directory, settings
        self._reading, self._writing, self._lock = reading, writing, lock
        self._batch, self._rows = Batch(), 0
        self._recent: OrderedDict[VersionId, tuple[UrlId, float, Version]] = OrderedDict()  # forgets its first at once
        self._packer = Packer()
        self._packed, self._read = versions_table(Packer()), versions_table(self._packer)  # one for each thread
        self._writer: Task[None] | None = None
        self._waiters: list[Future[None]] = []
        self._committing: list[Future[None]] = []  # callers whose batch is being written
        self._full = asyncio.Event()
        self._rest = self._rested = 0.0
        self._error: BaseException | None = None
        self._is_closed = False
        self._snapshot: Future[None] = get_running_loop().create_future()
        self._snapshot.set_result(None)

    @classmethod
    async def open(cls, directory: Path, settings: StoreSettings) -> "Disk":
        """Creates the run directory or continues it; raises a StoreError that says why it cannot."""
        lock, writing = prepare(directory), None
        try:
            writing, ledger = await _open(partial(connect_writer, directory, settings), directory)
            reading = await Connection.opened(partial(connect_reader, directory))
        except BaseException:
            if writing is not None:
                await writing.close()
            lock.release()
            raise
        disk = cls(directory, settings, ledger, reading, writing, lock)
        if is_behind(directory, ledger):
            disk._snapshot = get_running_loop().run_in_executor(None, taken(ledger).write, directory)
        return disk

    @classmethod
    async def view(cls, directory: Path, settings: StoreSettings) -> "Disk":
        """Opens it read-only, also beside a crawl; raises a StoreError that says why it cannot."""
        reading, ledger = await _open(partial(_checked_reader, directory, settings), directory)
        return cls(directory, settings, ledger, reading)

    def __repr__(self) -> str:
        state = f"failed: {self._error}" if self._error else f"{self._rows} rows waiting"
        return f"<Disk {self._directory}, {state}>"

    def check(self) -> None:
        if self._writing is None:
            raise StoreError(f"{self._directory}: opened to be read only")
        if self._error is not None:
            raise self._failure()

    def add_urls(self, new: Sequence[tuple[UrlId, Found]]) -> None:
        self._batch.urls.extend(new)
        self._collect(len(new))

    def add_visit(self, number: int, visit: Visit, version: VersionId | None, same_text: VersionId | None) -> None:
        self._batch.learned[visit.id] = None
        self._batch.visits.append((number, visit))
        if visit.version is not None and version is not None:
            self._batch.versions[version] = visit.id, visit.at, same_text, visit.version
            self._recent[version] = visit.id, visit.at, visit.version  # it is read again at once, to be judged
            if len(self._recent) > RECENT:
                self._recent.popitem(last=False)
        self._collect(3)

    def add_decision(self, version: VersionId, number: int, story: AcceptedStory | None) -> None:
        self._batch.settled[version] = None
        if story is not None:
            self._batch.stories.append((number, story))
        self._collect(2)

    def add_host(self, host: str, state: bytes) -> None:
        self._batch.hosts[host] = state
        self._collect(1)

    def add_state(self, name: str, value: bytes) -> None:
        self._batch.kept[name] = value
        self._collect(1)

    async def commit(self) -> None:
        self.check()
        if self._rows or self._is_writing:
            waiter = get_running_loop().create_future()
            (self._waiters if self._rows else self._committing).append(waiter)
            await waiter

    async def state(self, name: str) -> bytes | None:
        rows = await self._ask("SELECT value FROM kept WHERE name = ?", written(name))
        return rows[0][0] if rows else None

    async def hosts(self) -> dict[str, bytes]:
        return {as_read(name): state for name, state in await self._ask("SELECT name, state FROM hosts")}

    async def version(self, version: VersionId) -> tuple[UrlId, float, Version]:
        if version in self._recent:
            return self._recent[version]
        rows = await self._ask(f"{self._read.select} WHERE versions.id = ?", version)
        if not rows:
            raise IndexError(f"no version has the number {version}")
        _, url, at, *_ = rows[0]
        return UrlId(url), at, self._struct(self._read, rows[0])

    async def versions(self, id: UrlId) -> list[tuple[VersionId, float]]:
        rows = await self._ask("SELECT id, at FROM versions WHERE url = ? ORDER BY id", id)
        return [(VersionId(number), at) for number, at in rows]

    async def links_shown(self, id: UrlId) -> list[tuple[UrlId, ...]]:
        rows = await self._ask("SELECT links FROM versions WHERE url = ?", id)
        return [self._packer.unpack_links(packed) for (packed,) in rows]

    async def visits(self, id: UrlId | None, after: int, end: int) -> AsyncIterator[Visit]:
        where = "" if id is None else f"url = {int(id)} AND"
        question = f"{VISITS.select} WHERE {where} id > ? AND id <= ? ORDER BY id LIMIT ?"
        async for row in self._pieces(question, max(0, after), end):
            yield self._struct(VISITS, row)

    async def stories(self, after: int, end: int) -> AsyncIterator[AcceptedStory]:
        async for row in self._pieces(f"{STORIES.select} WHERE id > ? AND id <= ? ORDER BY id LIMIT ?", after, end):
            yield self._struct(STORIES, row)

    async def close(self) -> None:
        async with AsyncExitStack() as stack:  # releases everything even if something fails or is cancelled
            if self._lock is not None:
                stack.callback(self._lock.release)
            if self._writing is not None:
                stack.push_async_callback(self._writing.close)
            stack.push_async_callback(self._reading.close)
            stack.callback(self._refuse)
            stack.push_async_callback(self._write_columns)
            if self._writing is not None and self._error is None:
                await self.commit()

    async def _write_columns(self) -> None:
        """Writes the columns a last time if much has changed; first waits for a write in progress."""
        await self._snapshot
        if self._writing is not None and self._error is None and is_behind(self._directory, self.ledger):
            await get_running_loop().run_in_executor(None, taken(self.ledger).write, self._directory)

    def _refuse(self) -> None:
        self._is_closed, self._error = True, self._error or StoreError(f"{self._directory}: the store is closed")

    @property
    def _is_writing(self) -> bool:
        return self._writer is not None and not self._writer.done()

    def _collect(self, rows: int) -> None:
        """Counts added rows, and ensures that a batch begins soon."""
        self._rows += rows
        if self._rows >= self._settings.batch_rows:
            self._full.set()
        if not self._is_writing:
            self._writer = get_running_loop().create_task(self._write(), name="store writer")
            self._writer.add_done_callback(self._end)

    async def _write(self) -> None:
        """Writes batches until nothing waits; a task of its own, which belongs to no caller and ends before `close`
        does."""
        assert self._writing is not None
        loop = get_running_loop()
        while self._rows and self._error is None:
            await self._pause()
            batch, self._batch, self._rows = self._batch, Batch(), 0
            waiters, self._waiters = self._waiters, []
            self._committing = waiters
            self._full.clear()
            batch.finish(self.ledger)
            is_due = bool(batch.kept) and self._snapshot.done() and is_behind(self._directory, self.ledger, SHARE)
            snapshot = taken(self.ledger) if is_due else None
            began = loop.time()
            await self._writing.transact(batch.statements(self._packed))
            if snapshot is not None:  # all that it contains is committed now
                self._snapshot = loop.run_in_executor(None, snapshot.write, self._directory)
            least, factor = REST * (loop.time() - began), LONGER if len(waiters) > 1 else SHORTER
            self._rest = min(LONGEST_REST, max(least, self._rest * factor))
            self._rested = loop.time() + self._rest
            self._committing = []
            for waiter in waiters:
                if not waiter.done():
                    waiter.set_result(None)

    async def _pause(self) -> None:
        """Rests, unless there is much to write."""
        seconds = max(self._settings.batch_wait, self._rested - get_running_loop().time())
        if seconds > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._full.wait()

    def _end(self, writer: Task[None]) -> None:
        """Fails all waiting callers and all later calls, if the writer failed."""
        if not writer.cancelled() and writer.exception() is None:
            return
        if self._error is None:
            stopped = StoreError(f"{self._directory}: the writer was stopped")
            self._error = stopped if writer.cancelled() else writer.exception()
        waiters, self._waiters, self._committing = self._committing + self._waiters, [], []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_exception(self._failure())

    def _failure(self) -> BaseException:
        """Makes a new copy of the error for each caller."""
        if isinstance(self._error, sqlite3.Error):
            return StoreError(
                f"{self._directory}: cannot write ({self._error}); mend that and start again, nothing committed is lost"
            )
        if isinstance(self._error, StoreError):
            return StoreError(str(self._error))
        return RuntimeError(f"{self._directory}: writing failed with {self._error!r}")

    def _struct(self, table: RowTable[T], row: Sequence[Any]) -> T:
        try:
            return table.read(row)
        except (zstandard.ZstdError, ValueError, TypeError, AttributeError) as error:
            raise damaged(self._directory / DATABASE, error) from None

    async def _pieces(self, question: str, start: int, end: int) -> AsyncIterator[Sequence[Any]]:
        """Rows that begin with their number, from after `start` to `end`."""
        while rows := await self._ask(question, start, end, _PIECE):
            for row in rows:
                yield row
            start = rows[-1][0]

    async def _ask(self, question: str, *values: int | str | bytes) -> list[Any]:
        """Runs a query that sees everything decided before, even if the caller that decided was cancelled."""
        if self._writing is not None:
            await self.commit()
        if self._is_closed:
            raise StoreError(f"{self._directory}: the store is closed")
        try:
            return list(await self._reading.execute_fetchall(question, values))
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise damaged(self._directory / DATABASE, error) from None


async def _open(connect: Callable[[], sqlite3.Connection], directory: Path) -> tuple[Connection, Ledger]:
    """Opens a connection and reads the ledger through it, all in the thread of the connection."""
    ledgers: list[Ledger] = []

    def connected() -> sqlite3.Connection:
        connection = connect()
        try:
            ledgers.append(load(connection, directory))
        except BaseException:
            connection.close()
            raise
        return connection

    return await Connection.opened(connected), ledgers[0]


def _checked_reader(directory: Path, settings: StoreSettings) -> sqlite3.Connection:
    connection = connect_reader(directory)
    try:
        check(directory / DATABASE, settings)
        bridge(connection)
    except BaseException:
        connection.close()
        raise
    return connection
