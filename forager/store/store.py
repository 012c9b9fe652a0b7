"""The store: known URLs, their visits and versions, the stories, and the saved state of other parts.

A URL is *pending* (waits for its due time), *leased* (being visited) or *done* (no visit planned). A lease that is
never acknowledged returns: when its time is over, or when the run directory is opened again.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from forager.arrays import IntArray
from forager.store.ledger import Ledger
from forager.store.protocol import AcceptedStory, Archive, Found, Lease, Version, VersionId, Visit
from forager.store.rundir import StoreSettings
from forager.terms import UrlId


class Store:
    """A ledger, which decides at once and in memory, and an archive, which keeps the rows: on disk or in memory.

    `Store()` keeps everything in memory, for simulated time, tests and short trials: no call waits, no thread runs.
    `await Store.open(directory)` keeps it in a run directory: an awaited call returns when its effect is committed, and
    what was acknowledged survives `kill -9`.
    """

    def __init__(self, ledger: Ledger | None = None, archive: Archive | None = None) -> None:
        self._ledger, self._archive = ledger or Ledger(), archive or MemoryArchive()
        known, urls = self._ledger, self._ledger.urls  # they answer from memory and never wait
        self.find, self.find_all, self.url, self.known = urls.find, urls.find_all, urls.url, known.known
        self.urls_of, self.hosts, self.host_name = known.urls_of, known.hosts, known.host_name
        self.last_visits, self.counts, self.next_due = known.last_visits, known.counts, known.next_due

    @classmethod
    async def open(cls, directory: Path, settings: StoreSettings | None = None) -> "Store":
        """Creates the run directory or continues it; raises a StoreError that says why it cannot."""
        from forager.store.disk import Disk

        disk = await Disk.open(directory, settings or StoreSettings())
        return cls(disk.ledger, disk)

    @classmethod
    async def view(cls, directory: Path, settings: StoreSettings | None = None) -> "Store":
        """Opens a run directory read-only as of now, without disturbing a running crawl."""
        from forager.store.disk import Disk

        disk = await Disk.view(directory, settings or StoreSettings())
        return cls(disk.ledger, disk)

    def __repr__(self) -> str:
        return f"<Store {self._ledger!r} {self._archive!r}>"

    # Changes: return when committed.

    def enter(self, found: Sequence[Found]) -> list[UrlId]:
        """Does the same as `put`, without waiting: committed together with, or before, the next change."""
        self._archive.check()
        ids, new = self._ledger.put(found)
        if new:
            self._archive.add_urls(new)
        return ids

    async def put(self, found: Sequence[Found]) -> list[UrlId]:
        """Adds unknown URLs; returns the numbers of all, in order. Known ones stay as they are."""
        known = len(self._ledger.urls)
        ids = self.enter(found)
        if len(self._ledger.urls) > known:
            await self._archive.commit()
        return ids

    async def lease(
        self, count: int, now: float, *, seconds: float = 600.0, only: Sequence[UrlId] | None = None
    ) -> list[Lease]:
        """Leases up to `count` pending URLs that are due, earliest due first, hosts taking turns.

        A host with fewer leases goes before one with more, then the one whose last visit is longest ago. With `only`,
        exactly those among them that are not leased, in this order, due, done or not.
        """
        self._archive.check()
        return self._ledger.lease(count, now, seconds, only)

    async def ack(self, visit: Visit) -> VersionId | None:
        """Ends a lease with its visit: everything learned from it in one transaction. Returns the number of the new
        version.

        A visit of a URL that was not leased is recorded the same way.
        """
        number = self.record(visit)
        await self._archive.commit()
        return number

    def record(self, visit: Visit) -> VersionId | None:
        """Does the same as `ack`, without waiting: committed soon, together with, or before, the next change."""
        self._archive.check()
        number, same_text = self._ledger.ack(visit)
        self._archive.add_visit(self._ledger.visits, visit, number, same_text)
        return number

    async def release(self, leases: Sequence[Lease]) -> None:
        """Gives leases back unvisited; the URLs are pending (or done) again as before."""
        self._archive.check()
        self._ledger.release(leases)

    async def settle(self, version: VersionId, story: AcceptedStory | None) -> None:
        """Stores the decision on a version: a story, or none. Only the first decision counts."""
        self._archive.check()
        if self._ledger.settle(version, story):
            self._archive.add_decision(version, self._ledger.stories, story)
            await self._archive.commit()

    def note_host(self, host: str, state: bytes) -> None:
        """Keeps what the next run must know of a host (its waits and budgets), replacing what was there.

        Committed together with, or before, whatever is changed next; `commit` waits for that.
        """
        self._archive.check()
        self._archive.add_host(host, state)

    async def commit(self) -> None:
        """Returns when all changes are committed."""
        await self._archive.commit()

    async def keep(self, name: str, value: bytes) -> None:
        """Stores a part's state under its name, replacing the old one."""
        self._archive.check()
        self._archive.add_state(name, value)
        await self._archive.commit()

    # Reading back.

    async def recall(self, name: str) -> bytes | None:
        """Returns the state that a part stored under its name."""
        return await self._archive.state(name)

    async def noted_hosts(self) -> dict[str, bytes]:
        return await self._archive.hosts()

    async def unsettled(self) -> list[VersionId]:
        """Versions without a stored decision, in order."""
        return list(self._ledger.unsettled)

    async def version(self, version: VersionId) -> tuple[UrlId, float, Version]:
        """Returns a version with its URL and the time it was fetched."""
        return await self._archive.version(version)

    async def versions(self, id: UrlId) -> list[tuple[VersionId, float]]:
        """Returns the versions of a URL with their times, oldest first."""
        end = self._ledger.versions
        return [one for one in await self._archive.versions(id) if one[0] < end]

    async def links_shown(self, id: UrlId) -> IntArray:
        """Returns every link that a kept version of a URL showed, rising."""
        shown = await self._archive.links_shown(id)
        return np.unique(np.concatenate([np.empty(0, np.int64), *(np.asarray(one, np.int64) for one in shown)]))

    def visits(self, id: UrlId | None = None, after: int = 0) -> AsyncIterator[Visit]:
        """Visits of a URL, or of all, without the first `after` of all, in the order of acknowledgement.

        `version` is not filled in.
        """
        return self._archive.visits(id, after, self._ledger.visits)

    def stories(self, after: int = 0) -> AsyncIterator[AcceptedStory]:
        """Stories in the order of acceptance, without the first `after`."""
        return self._archive.stories(max(0, after), self._ledger.stories)

    async def close(self) -> None:
        """Commits everything and releases the run directory."""
        await self._archive.close()


class MemoryArchive:
    """Keeps rows as long as the process lives; no call ever waits."""

    def __init__(self) -> None:
        self._visits: list[Visit] = []
        self._visits_of: defaultdict[UrlId, list[int]] = defaultdict(list)
        self._versions: list[tuple[UrlId, float, Version]] = []
        self._versions_of: defaultdict[UrlId, list[tuple[VersionId, float]]] = defaultdict(list)
        self._stories: list[AcceptedStory] = []
        self._states: dict[str, bytes] = {}
        self._hosts: dict[str, bytes] = {}

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

    def add_decision(self, version: VersionId, number: int, story: AcceptedStory | None) -> None:
        if story is not None:
            self._stories.append(story)

    def add_host(self, host: str, state: bytes) -> None:
        self._hosts[host] = state

    def add_state(self, name: str, value: bytes) -> None:
        self._states[name] = value

    async def commit(self) -> None:
        pass

    async def state(self, name: str) -> bytes | None:
        return self._states.get(name)

    async def hosts(self) -> dict[str, bytes]:
        return dict(self._hosts)

    async def version(self, version: VersionId) -> tuple[UrlId, float, Version]:
        if version < 0:
            raise IndexError(f"no version has the number {version}")
        return self._versions[version]

    async def versions(self, id: UrlId) -> list[tuple[VersionId, float]]:
        return list(self._versions_of.get(id, ()))

    async def links_shown(self, id: UrlId) -> list[tuple[UrlId, ...]]:
        return [self._versions[number][2].links for number, _ in self._versions_of.get(id, ())]

    async def visits(self, id: UrlId | None, after: int, end: int) -> AsyncIterator[Visit]:
        for number in range(after, end) if id is None else list(self._visits_of.get(id, ())):
            if number >= after:
                yield self._visits[number]

    async def stories(self, after: int, end: int) -> AsyncIterator[AcceptedStory]:
        for number in range(after, end):
            yield self._stories[number]

    async def close(self) -> None:
        pass
