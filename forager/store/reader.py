"""Looking into a run directory without disturbing it: for reports, exports and questions, also beside a crawl."""

from asyncio import get_running_loop
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from forager.store.archive import Archive
from forager.store.ledger import Ledger
from forager.store.loading import load
from forager.store.protocol import Counts, Known, Story, Version, VersionId, Visit
from forager.store.rundir import DATABASE, check, connect_reader
from forager.store.settings import StoreSettings
from forager.terms import Url, UrlId


class SqliteReader:
    """The asking and reading half of `protocol.Store`, as of the moment it was opened."""

    def __init__(self, directory: Path, ledger: Ledger, archive: Archive) -> None:
        self._directory, self._ledger, self._archive = directory, ledger, archive

    @classmethod
    async def open(cls, directory: Path, settings: StoreSettings | None = None) -> "SqliteReader":
        """A StoreError says why it cannot be read."""
        ledger = await get_running_loop().run_in_executor(None, _load, directory, settings or StoreSettings())
        return cls(directory, ledger, Archive(directory))

    def __repr__(self) -> str:
        return f"<SqliteReader {self._directory} {self._ledger!r}>"

    def find(self, url: Url) -> UrlId | None:
        return self._ledger.find(url)

    def url(self, id: UrlId) -> Url:
        return self._ledger.url(id)

    def known(self, id: UrlId) -> Known:
        return self._ledger.known(id)

    def last_visits(self) -> NDArray[np.float64]:
        return self._ledger.last_visits()

    def counts(self) -> Counts:
        return self._ledger.counts()

    def next_due(self, now: float) -> float | None:
        return self._ledger.next_due(now)

    async def recall(self, name: str) -> bytes | None:
        return await self._archive.recall(name)

    async def unsettled(self) -> list[VersionId]:
        return list(self._ledger.unsettled)

    async def version(self, version: VersionId) -> tuple[UrlId, float, Version]:
        return await self._archive.version(version)

    async def versions(self, id: UrlId) -> list[tuple[VersionId, float]]:
        return [one for one in await self._archive.versions(id) if one[0] < self._ledger.versions]

    async def visits(self, id: UrlId | None = None, after: int = 0) -> AsyncIterator[Visit]:
        async for visit in self._archive.visits(id, after, self._ledger.visits):
            yield visit

    async def stories(self, after: int = 0) -> AsyncIterator[Story]:
        async for story in self._archive.stories(after, self._ledger.stories):
            yield story

    async def close(self) -> None:
        self._archive.close()


def _load(directory: Path, settings: StoreSettings) -> Ledger:
    with closing(connect_reader(directory)) as connection:
        check(directory / DATABASE, settings)
        return load(connection, directory)
