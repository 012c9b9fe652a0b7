"""The store: known URLs, their visits and versions, the stories, and whatever a part wants to keep.

A URL is *pending* (waits for its due time), *leased* (somebody is visiting it) or *done* (no visit planned). A lease
that is never acknowledged returns: when its time is over, or when the run directory is opened again.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from forager.store.ledger import Ledger
from forager.store.protocol import Archive, Counts, Found, Known, Lease, Story, Version, VersionId, Visit
from forager.store.rundir import StoreSettings
from forager.terms import Url, UrlId


class Store:
    """A ledger, which decides at once and in memory, and an archive, which keeps the rows: on disk or in memory.

    `Store()` keeps everything in memory, for simulated time, tests and short trials: no call waits, no thread runs.
    `await Store.open(directory)` keeps it in a run directory: a call that is awaited returns when its effect is
    committed, and what was acknowledged survives `kill -9`.
    """

    def __init__(self, ledger: Ledger | None = None, archive: Archive | None = None) -> None:
        self._ledger, self._archive = ledger or Ledger(), archive or MemoryArchive()

    @classmethod
    async def open(cls, directory: Path, settings: StoreSettings | None = None) -> "Store":
        """Create the run directory or go on with it; a StoreError says why that cannot be done."""
        from forager.store.disk import Disk

        disk = await Disk.open(directory, settings or StoreSettings())
        return cls(disk.ledger, disk)

    @classmethod
    async def view(cls, directory: Path, settings: StoreSettings | None = None) -> "Store":
        """Look into a run directory without disturbing it, also beside a crawl, as of now; nothing can be changed."""
        from forager.store.disk import Disk

        disk = await Disk.view(directory, settings or StoreSettings())
        return cls(disk.ledger, disk)

    def __repr__(self) -> str:
        return f"<Store {self._ledger!r} {self._archive!r}>"

    # Asking, from memory: never waits.

    def find(self, url: Url) -> UrlId | None:
        """The number of a known URL."""
        return self._ledger.find(url)

    def find_all(self, urls: Sequence[Url]) -> list[UrlId | None]:
        """The number of each URL; None for those that are not known."""
        return self._ledger.find_all(urls)

    def url(self, id: UrlId) -> Url:
        return self._ledger.url(id)

    def urls_of(self, host: str) -> list[Url]:
        """The known URLs of a host, which is named as in the URL."""
        return self._ledger.urls_of(host)

    def hosts(self, begin: int = 0) -> NDArray[np.int64]:
        """The host of each URL from a number on: hosts have numbers of their own, dense, from 0."""
        return self._ledger.hosts(begin)

    def known(self, id: UrlId) -> Known:
        return self._ledger.known(id)

    def last_visits(self) -> NDArray[np.float64]:
        """By number, when each URL was visited last; NaN for those that never were."""
        return self._ledger.last_visits()

    def counts(self) -> Counts:
        return self._ledger.counts()

    def next_due(self, now: float) -> float | None:
        """When the next lease can be had: `now` or later; None if nothing is pending.

        A lease counts as pending again only once its time is over.
        """
        return self._ledger.next_due(now)

    # Changing: returns when committed.

    def enter(self, found: Sequence[Found]) -> list[UrlId]:
        """As `put`, without waiting: committed together with, or before, whatever is changed next."""
        self._archive.check()
        ids, new = self._ledger.put(found)
        if new:
            self._archive.add_urls(new)
        return ids

    async def put(self, found: Sequence[Found]) -> list[UrlId]:
        """Enter URLs not yet known; the numbers of all, in order. Known ones stay as they are."""
        known = len(self._ledger.urls)
        ids = self.enter(found)
        if len(self._ledger.urls) > known:
            await self._archive.commit()
        return ids

    async def lease(
        self, count: int, now: float, *, seconds: float = 600.0, only: Sequence[UrlId] | None = None
    ) -> list[Lease]:
        """Up to `count` pending URLs that are due, of hosts not blocked: earliest due first, hosts taking turns.

        A host with fewer leases goes before one with more, then the one whose last visit is longest ago. With `only`,
        exactly those among them that are not leased, in this order, due, done or not; a blocked host stays blocked.
        """
        self._archive.check()
        return self._ledger.lease(count, now, seconds, only)

    async def ack(self, visit: Visit) -> VersionId | None:
        """End a lease with its visit: everything learned from it in one transaction. The number of the new version.

        A visit of a URL that was not leased is recorded just so.
        """
        number = self.record(visit)
        await self._archive.commit()
        return number

    def record(self, visit: Visit) -> VersionId | None:
        """As `ack`, without waiting: committed soon, together with, or before, whatever is changed next."""
        self._archive.check()
        same_text = self._ledger.with_same_text(visit)
        number = self._ledger.ack(visit)
        self._archive.add_visit(self._ledger.visits, visit, number, same_text)
        return number

    async def release(self, leases: Sequence[Lease]) -> None:
        """Give leases back unvisited; they are pending (or done) again as before."""
        self._archive.check()
        self._ledger.release(leases)

    async def settle(self, version: VersionId, story: Story | None) -> None:
        """The decision on a version: a story, or not. Only the first decision counts."""
        self._archive.check()
        if self._ledger.settle(version, story):
            self._archive.add_decision(version, self._ledger.stories, story)
            await self._archive.commit()

    async def block(self, host: str, until: float) -> None:
        """No leases for this host (as in the URL, with port if any) before `until`; a longer block stays."""
        self._archive.check()
        self._archive.add_block(host, self._ledger.turns.block(host, until))
        await self._archive.commit()

    async def keep(self, name: str, value: bytes) -> None:
        """Store a part's state under its name, replacing what was there."""
        self._archive.check()
        self._archive.add_state(name, value)
        await self._archive.commit()

    # Reading back.

    async def recall(self, name: str) -> bytes | None:
        """The state that a part kept under its name."""
        return await self._archive.state(name)

    async def unsettled(self) -> list[VersionId]:
        """Versions on which no decision was stored, in order."""
        return list(self._ledger.unsettled)

    async def version(self, version: VersionId) -> tuple[UrlId, float, Version]:
        """A version with its URL and the time it was fetched."""
        return await self._archive.version(version)

    async def versions(self, id: UrlId) -> list[tuple[VersionId, float]]:
        """The versions of a URL with their times, oldest first."""
        end = self._ledger.versions
        return [one for one in await self._archive.versions(id) if one[0] < end]

    def visits(self, id: UrlId | None = None, after: int = 0) -> AsyncIterator[Visit]:
        """Visits of a URL, or of all, without the first `after` of all, in the order of acknowledgement.

        `version` is not filled in.
        """
        return self._archive.visits(id, after, self._ledger.visits)

    def stories(self, after: int = 0) -> AsyncIterator[Story]:
        """Stories in the order of acceptance, without the first `after`."""
        return self._archive.stories(max(0, after), self._ledger.stories)

    async def close(self) -> None:
        """Commit everything and let go of the run directory."""
        await self._archive.close()


class MemoryArchive:
    """Keeps rows as long as the process lives; no call ever waits."""

    def __init__(self) -> None:
        self._visits: list[Visit] = []
        self._visits_of: defaultdict[UrlId, list[int]] = defaultdict(list)
        self._versions: list[tuple[UrlId, float, Version]] = []
        self._versions_of: defaultdict[UrlId, list[tuple[VersionId, float]]] = defaultdict(list)
        self._stories: list[Story] = []
        self._states: dict[str, bytes] = {}

    def __repr__(self) -> str:
        return f"<MemoryArchive {len(self._visits)} visits>"

    def check(self) -> None:
        pass

    def add_urls(self, new: Sequence[tuple[UrlId, Found]]) -> None:
        pass

    def add_visit(self, number: int, visit: Visit, version: VersionId | None, same_text: VersionId | None) -> None:
        self._visits_of[visit.id].append(len(self._visits))
        self._visits.append(visit if visit.version is None else replace(visit, version=None))
        if visit.version is not None and version is not None:
            self._versions.append((visit.id, visit.at, visit.version))
            self._versions_of[visit.id].append((version, visit.at))

    def add_decision(self, version: VersionId, number: int, story: Story | None) -> None:
        if story is not None:
            self._stories.append(story)

    def add_block(self, host: str, until: float) -> None:
        pass

    def add_state(self, name: str, value: bytes) -> None:
        self._states[name] = value

    async def commit(self) -> None:
        pass

    async def state(self, name: str) -> bytes | None:
        return self._states.get(name)

    async def version(self, version: VersionId) -> tuple[UrlId, float, Version]:
        if version < 0:
            raise IndexError(f"no version has the number {version}")
        return self._versions[version]

    async def versions(self, id: UrlId) -> list[tuple[VersionId, float]]:
        return list(self._versions_of.get(id, ()))

    async def visits(self, id: UrlId | None, after: int, end: int) -> AsyncIterator[Visit]:
        for number in range(after, end) if id is None else list(self._visits_of.get(id, ())):
            if number >= after:
                yield self._visits[number]

    async def stories(self, after: int, end: int) -> AsyncIterator[Story]:
        for number in range(after, end):
            yield self._stories[number]

    async def close(self) -> None:
        pass
