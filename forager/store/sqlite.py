"""The store on disk: `crawl.db` in a run directory, written by one process at a time.

Decisions are made at once in the ledger, in memory; the rows they cause are collected and committed in batches. Leases
are not written: whatever is not acknowledged is pending again when the directory is opened next.
"""

import sqlite3
from asyncio import Future, get_running_loop, shield
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from forager.store.archive import Archive
from forager.store.batch import Batch
from forager.store.ledger import Ledger
from forager.store.loading import load
from forager.store.protocol import Counts, Found, Known, Lease, Story, Version, VersionId, Visit
from forager.store.rows import Codec, NewVersion, state_row, story_row, url_row, visit_row
from forager.store.rundir import Lock, connect_writer, prepare
from forager.store.settings import StoreSettings
from forager.store.snapshot import SHARE, is_behind, taken
from forager.store.writer import Writer
from forager.terms import Url, UrlId

RECENT = 256
"""Versions kept at hand."""


class SqliteStore:
    """Obeys `protocol.Store`. Open it with `await SqliteStore.open(directory)`."""

    def __init__(
        self,
        directory: Path,
        lock: Lock,
        connection: sqlite3.Connection,
        ledger: Ledger,
        archive: Archive,
        settings: StoreSettings,
    ) -> None:
        self._directory, self._lock, self._connection = directory, lock, connection
        self._ledger, self._archive = ledger, archive
        self._batch = Batch()
        self._learned: dict[UrlId, None] = {}  # URLs whose state row is out of date
        self._recent: OrderedDict[VersionId, tuple[UrlId, float, Version]] = OrderedDict()  # forgets its first at once
        self._codec = Codec()
        self._writer = Writer(self._take_batch, settings, str(directory))
        self._snapshot: Future[None] = get_running_loop().create_future()
        self._snapshot.set_result(None)
        self._is_renewing = False

    @classmethod
    async def open(cls, directory: Path, settings: StoreSettings | None = None) -> "SqliteStore":
        """Create the run directory or go on with it; a StoreError says why that cannot be done."""
        settings = settings or StoreSettings()
        lock, connection = prepare(directory), None
        try:
            loop = get_running_loop()
            connection = await loop.run_in_executor(None, connect_writer, directory, settings)
            ledger = await loop.run_in_executor(None, load, connection, directory)
            archive = Archive(directory)
        except BaseException:
            if connection is not None:
                connection.close()
            lock.release()
            raise
        store = cls(directory, lock, connection, ledger, archive, settings)
        if is_behind(directory, ledger):
            store._snapshot = loop.run_in_executor(None, taken(ledger).write, directory)
        return store

    def __repr__(self) -> str:
        return f"<SqliteStore {self._directory} {self._ledger!r} {self._writer!r}>"

    def find(self, url: Url) -> UrlId | None:
        return self._ledger.find(url)

    def find_all(self, urls: Sequence[Url]) -> list[UrlId | None]:
        return self._ledger.find_all(urls)

    def url(self, id: UrlId) -> Url:
        return self._ledger.url(id)

    def urls_of(self, host: str) -> list[Url]:
        return self._ledger.urls_of(host)

    def hosts(self, begin: int = 0) -> NDArray[np.int64]:
        return self._ledger.hosts(begin)

    def known(self, id: UrlId) -> Known:
        return self._ledger.known(id)

    def last_visits(self) -> NDArray[np.float64]:
        return self._ledger.last_visits()

    def counts(self) -> Counts:
        return self._ledger.counts()

    def next_due(self, now: float) -> float | None:
        return self._ledger.next_due(now)

    def enter(self, found: Sequence[Found]) -> list[UrlId]:
        self._writer.check()
        ids, new = self._ledger.put(found)
        self._batch.urls.extend(url_row(id, one) for id, one in new)
        self._writer.collect(len(new))
        return ids

    async def put(self, found: Sequence[Found]) -> list[UrlId]:
        known = len(self._ledger.urls)
        ids = self.enter(found)
        if len(self._ledger.urls) > known:
            await self._writer.commit(0)
        return ids

    async def lease(
        self, count: int, now: float, *, seconds: float = 600.0, only: Sequence[UrlId] | None = None
    ) -> list[Lease]:
        self._writer.check()
        return self._ledger.lease(count, now, seconds, only)

    async def ack(self, visit: Visit) -> VersionId | None:
        number = self.record(visit)
        await self._writer.commit(0)
        return number

    def record(self, visit: Visit) -> VersionId | None:
        self._writer.check()
        url = self._ledger.url(visit.id)
        before, print_before = self._ledger.columns.version[visit.id], self._ledger.columns.text_print[visit.id]
        number = self._ledger.ack(visit)
        self._learned[visit.id] = None
        self._batch.visits.append(visit_row(self._ledger.visits, visit))
        if visit.version is not None and number is not None:
            version = visit.version
            same_text_as = VersionId(before) if before >= 0 and print_before == version.text_print else None
            new = NewVersion(number, visit.id, visit.at, version.canonical == url, same_text_as, version)
            self._batch.versions.append(new)
            self._remember(number, (visit.id, visit.at, version))
        self._writer.collect(3)
        return number

    def _remember(self, number: VersionId, version: tuple[UrlId, float, Version]) -> None:
        """The latest versions are asked for at once, to be judged: they need not be read back from the disk."""
        self._recent[number] = version
        if len(self._recent) > RECENT:
            self._recent.popitem(last=False)

    async def release(self, leases: Sequence[Lease]) -> None:
        self._writer.check()
        self._ledger.release(leases)

    async def settle(self, version: VersionId, story: Story | None) -> None:
        self._writer.check()
        is_own_url = story is not None and story.url == self._ledger.url(story.id)
        if self._ledger.settle(version, story):
            self._batch.settled.append(version)
            if story is not None:
                self._batch.stories.append(story_row(self._ledger.stories, story, is_own_url=is_own_url))
            await self._writer.commit(2)

    async def block(self, host: str, until: float) -> None:
        self._writer.check()
        self._batch.blocks[host] = self._ledger.turns.block(host, until)
        await self._writer.commit(1)

    async def keep(self, name: str, value: bytes) -> None:
        self._writer.check()
        self._batch.kept[name] = value
        await self._writer.commit(1)
        if self._snapshot.done() and not self._is_renewing and is_behind(self._directory, self._ledger, SHARE):
            await self._renew_columns()

    async def recall(self, name: str) -> bytes | None:
        await self._catch_up()
        return await self._archive.recall(name)

    async def unsettled(self) -> list[VersionId]:
        return list(self._ledger.unsettled)

    async def version(self, version: VersionId) -> tuple[UrlId, float, Version]:
        if version in self._recent:
            return self._recent[version]
        await self._catch_up()
        return await self._archive.version(version)

    async def versions(self, id: UrlId) -> list[tuple[VersionId, float]]:
        await self._catch_up()
        return await self._archive.versions(id)

    async def visits(self, id: UrlId | None = None, after: int = 0) -> AsyncIterator[Visit]:
        end = self._ledger.visits
        await self._catch_up()
        async for visit in self._archive.visits(id, after, end):
            yield visit

    async def stories(self, after: int = 0) -> AsyncIterator[Story]:
        end = self._ledger.stories
        await self._catch_up()
        async for story in self._archive.stories(after, end):
            yield story

    async def close(self) -> None:
        try:
            await self._snapshot
            await self._writer.finish()
            if is_behind(self._directory, self._ledger):
                await get_running_loop().run_in_executor(None, taken(self._ledger).write, self._directory)
        finally:
            self._archive.close()
            self._connection.close()
            self._lock.release()

    async def _renew_columns(self) -> None:
        """Write what is known as columns, beside the loop, once all that they tell of is committed."""
        snapshot, self._is_renewing = taken(self._ledger), True
        try:
            await self._writer.commit(0)
            self._snapshot = get_running_loop().run_in_executor(None, snapshot.write, self._directory)
            await shield(self._snapshot)
        finally:
            self._is_renewing = False

    async def _catch_up(self) -> None:
        """A reader sees whatever was decided before it asked, even if the caller that decided was cancelled."""
        self._writer.check()
        if self._writer.is_busy:
            await self._writer.commit(0)

    def _take_batch(self) -> Callable[[], None]:
        """End the batch. Whatever the ledger has decided so far has its rows in it, so the ledger's state fits."""
        batch, self._batch = self._batch, Batch()
        batch.states = [state_row(id, self._ledger.columns) for id in self._learned]
        self._learned = {}
        if batch.visits:
            batch.tallies.update((f"outcome {name}", count) for name, count in self._ledger.outcomes.items())
            batch.tallies.update((f"trouble {name}", count) for name, count in self._ledger.troubles.items())
        return partial(batch.write, self._connection, self._codec)
