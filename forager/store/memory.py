"""A store in memory: for simulated time, tests and short trials. Nothing survives it."""

from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from forager.store.ledger import Ledger
from forager.store.protocol import Counts, Found, Known, Lease, Story, Version, VersionId, Visit
from forager.terms import Url, UrlId


class MemoryStore:
    """Obeys `protocol.Store`; no call ever waits."""

    def __init__(self) -> None:
        self._ledger = Ledger()
        self._visits: list[Visit] = []
        self._visits_of: defaultdict[UrlId, list[int]] = defaultdict(list)
        self._versions: list[tuple[UrlId, float, Version]] = []
        self._versions_of: defaultdict[UrlId, list[tuple[VersionId, float]]] = defaultdict(list)
        self._stories: list[Story] = []
        self._kept: dict[str, bytes] = {}

    def __repr__(self) -> str:
        return f"<MemoryStore {self._ledger!r}>"

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
        return self._ledger.put(found)[0]

    async def put(self, found: Sequence[Found]) -> list[UrlId]:
        return self.enter(found)

    async def lease(
        self, count: int, now: float, *, seconds: float = 600.0, only: Sequence[UrlId] | None = None
    ) -> list[Lease]:
        return self._ledger.lease(count, now, seconds, only)

    async def ack(self, visit: Visit) -> VersionId | None:
        return self.record(visit)

    def record(self, visit: Visit) -> VersionId | None:
        version = self._ledger.ack(visit)
        self._visits_of[visit.id].append(len(self._visits))
        self._visits.append(visit if visit.version is None else replace(visit, version=None))
        if visit.version is not None and version is not None:
            self._versions.append((visit.id, visit.at, visit.version))
            self._versions_of[visit.id].append((version, visit.at))
        return version

    async def release(self, leases: Sequence[Lease]) -> None:
        self._ledger.release(leases)

    async def settle(self, version: VersionId, story: Story | None) -> None:
        if self._ledger.settle(version, story) and story is not None:
            self._stories.append(story)

    async def block(self, host: str, until: float) -> None:
        self._ledger.turns.block(host, until)

    async def keep(self, name: str, value: bytes) -> None:
        self._kept[name] = value

    async def recall(self, name: str) -> bytes | None:
        return self._kept.get(name)

    async def unsettled(self) -> list[VersionId]:
        return list(self._ledger.unsettled)

    async def version(self, version: VersionId) -> tuple[UrlId, float, Version]:
        if version < 0:
            raise IndexError(f"no version has the number {version}")
        return self._versions[version]

    async def versions(self, id: UrlId) -> list[tuple[VersionId, float]]:
        return list(self._versions_of.get(id, ()))

    async def visits(self, id: UrlId | None = None, after: int = 0) -> AsyncIterator[Visit]:
        chosen = range(after, len(self._visits)) if id is None else list(self._visits_of.get(id, ()))
        for number in chosen:
            if number >= after:
                yield self._visits[number]

    async def stories(self, after: int = 0) -> AsyncIterator[Story]:
        for number in range(max(0, after), len(self._stories)):
            yield self._stories[number]

    async def close(self) -> None:
        pass
