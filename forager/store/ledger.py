"""The state of all URLs in a store: known, pending, leased, done, and what visits have taught.

It is synchronous and never touches the disk: all decisions of a store are made here, at once, before anything waits.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import islice

import numpy as np
from xxhash import xxh3_64_intdigest

from forager.arrays import FloatArray, Int32Array, IntArray, PrintArray
from forager.store.columns import Columns, Texts, moment, unpack_validators
from forager.store.protocol import AcceptedStory, Counts, Found, Known, Lease, VersionId, Visit
from forager.store.turns import Turns
from forager.terms import Url, UrlId


@dataclass(frozen=True, slots=True)
class Hashes:
    """Sorted hashes of the first URLs, and the numbers of those URLs."""

    values: PrintArray = field(default_factory=lambda: np.empty(0, np.uint64))
    numbers: Int32Array = field(default_factory=lambda: np.empty(0, np.int32))

    def joined(self, urls: Sequence[str]) -> "Hashes":
        """These hashes with those of further URLs, whose numbers follow."""
        count = len(self.values)
        values = np.concatenate([self.values, _hashes(urls)])
        numbers = np.concatenate([self.numbers, np.arange(count, count + len(urls), dtype=np.int32)])
        order = np.argsort(values, kind="stable")
        return Hashes(values[order], numbers[order])


class Addresses:
    """Every URL at its number, dense from 0.

    The URLs with which a crawl was opened are one block of text and are found by their sorted hashes, so opening a
    million URLs creates no objects. URLs that were looked up once, or came later, are in a dictionary.
    """

    def __init__(self, texts: Texts | None = None, hashes: Hashes | None = None) -> None:
        """The URLs known from the start, with a hash for each."""
        self.texts, self.hashes = texts or Texts(), hashes or Hashes()
        self._numbers: dict[Url, UrlId] = {}

    def __repr__(self) -> str:
        return f"<Addresses {len(self)}, {len(self._numbers)} at hand>"

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, id: UrlId) -> Url:
        return Url(self.texts[id])

    def append(self, url: Url) -> UrlId:
        """Adds a URL; returns its number."""
        id = self._numbers[url] = UrlId(len(self.texts))
        self.texts.append(url)
        return id

    def extend(self, urls: Sequence[Url]) -> None:
        self._numbers.update(zip(urls, map(UrlId, range(len(self), len(self) + len(urls))), strict=True))
        self.texts.extend(urls)

    def find(self, url: Url) -> UrlId | None:
        return self.find_all([url])[0]

    def find_all(self, urls: Sequence[Url]) -> list[UrlId | None]:
        found = list(map(self._numbers.get, urls))
        if len(self.hashes.values) and None in found:
            self._recall([url for url, id in zip(urls, found, strict=True) if id is None])
            return list(map(self._numbers.get, urls))
        return found

    def _recall(self, urls: Sequence[Url]) -> None:
        """Puts those of these URLs that were known from the start into the dictionary."""
        hashes = _hashes(urls)
        begins, ends = (np.searchsorted(self.hashes.values, hashes, side) for side in ("left", "right"))
        for place in np.flatnonzero(begins < ends).tolist():
            for id in self.hashes.numbers[begins[place] : ends[place]].tolist():
                if self.texts[id] == urls[place]:
                    self._numbers[urls[place]] = UrlId(id)


class Ledger:
    """The state of all URLs. A URL is leased if it is in `leases`, otherwise pending if it has a due time, otherwise
    done."""

    def __init__(self) -> None:
        self.urls = Addresses()
        self.columns = Columns()
        self.turns = Turns()
        self.leases: dict[UrlId, float] = {}
        self.unsettled: dict[VersionId, None] = {}
        self.visits = self.versions = self.stories = 0
        self.outcomes: Counter[str] = Counter()
        self.troubles: Counter[str] = Counter()
        self._ends: list[tuple[float, UrlId]] = []  # heap of the ends of leases; some leases have ended before

    def __repr__(self) -> str:
        return f"<Ledger {len(self.urls)} known, {self.turns.pending} pending, {len(self.leases)} leased>"

    def find(self, url: Url) -> UrlId | None:
        return self.urls.find(url)

    def find_all(self, urls: Sequence[Url]) -> list[UrlId | None]:
        return self.urls.find_all(urls)

    def url(self, id: UrlId) -> Url:
        return self.urls[self._checked(id)]

    def known(self, id: UrlId) -> Known:
        return self.columns.known(id, self.url(id))

    def urls_of(self, host: str) -> list[Url]:
        """The known URLs of a host, which is written as in the URL."""
        return [self.urls[id] for id in self.turns.of(host)]

    def hosts(self, begin: int = 0) -> IntArray:
        """The host of each URL from a number on; hosts have numbers of their own, dense, from 0."""
        return np.array(self.turns.hosts[1][begin:], dtype=np.int64)

    def host_name(self, number: int) -> str:
        return self.turns.names[number]

    def last_visits(self) -> FloatArray:
        """By number, when each URL was last visited; NaN if never."""
        return np.array(self.columns.last_visit)

    def counts(self) -> Counts:
        known, pending, leased = len(self.urls), self.turns.pending, len(self.leases)
        return Counts(
            known=known,
            pending=pending,
            leased=leased,
            done=known - pending - leased,
            visits=self.visits,
            versions=self.versions,
            stories=self.stories,
            outcomes=dict(self.outcomes),
            troubles=dict(self.troubles),
        )

    def next_due(self, now: float) -> float | None:
        """The earliest time, not before `now`, at which a URL can be leased; None if nothing is pending.

        A lease counts as pending again only once its time is over.
        """
        self._expire(now)
        return self.turns.next(now)

    def put(self, found: Sequence[Found]) -> tuple[list[UrlId], list[tuple[UrlId, Found]]]:
        """The numbers of all, and those that are new."""
        known = self.urls.find_all([one.url for one in found])
        new: dict[Url, tuple[UrlId, Found]] = {}
        for one, id in zip(found, known, strict=True):
            if id is None and one.url not in new:
                new[one.url] = self._enter(one), one
        ids = [new[one.url][0] if id is None else id for one, id in zip(found, known, strict=True)]
        return ids, list(new.values())

    def lease(self, count: int, now: float, seconds: float, only: Sequence[UrlId] | None) -> list[Lease]:
        self._expire(now)
        in_turn = iter(lambda: self.turns.choose(now), None)
        chosen = in_turn if only is None else (id for id in only if self._checked(id) not in self.leases)
        return [self._lend(id, now + seconds) for id in islice(chosen, max(0, count))]

    def ack(self, visit: Visit) -> VersionId | None:
        id = self._checked(visit.id)
        if self.leases.pop(id, None) is not None:
            self.turns.give_back(id)
        version = None
        if visit.version is not None:
            version = VersionId(self.versions)
            self.versions += 1
            self.unsettled[version] = None
        self.visits += 1
        self.outcomes[visit.outcome.value] += 1
        if visit.trouble:
            self.troubles[visit.trouble.value] += 1
        self.columns.visited(visit, self.visits, version)
        self.turns.visited(id, self.visits)
        self._plan(id)
        return version

    def with_same_text(self, visit: Visit) -> VersionId | None:
        """The newest version of the visited URL, if its text has the same fingerprint as the text seen now."""
        id, columns = self._checked(visit.id), self.columns
        if visit.version is None or columns.version[id] < 0 or columns.text_print[id] != visit.version.text_print:
            return None
        return VersionId(columns.version[id])

    def release(self, leases: Sequence[Lease]) -> None:
        """Ends leases; ignores those that are over or belong to another visitor now."""
        for lease in leases:
            if self.leases.get(lease.id) == lease.until:
                self._return(lease.id)

    def settle(self, version: VersionId, story: AcceptedStory | None) -> bool:
        """Decides on a version; returns whether this is the first decision, which alone counts."""
        if not 0 <= version < self.versions:
            raise IndexError(f"no version has the number {version}")
        if version not in self.unsettled:
            return False
        del self.unsettled[version]
        self.stories += story is not None
        return True

    def _checked(self, id: UrlId) -> UrlId:
        if not 0 <= id < len(self.columns.found):
            raise IndexError(f"no URL has the number {id}")
        return id

    def _enter(self, found: Found) -> UrlId:
        id = self.urls.append(found.url)
        self.columns.append(found)
        self.turns.enter(host_of(found.url))
        self._plan(id)
        return id

    def _plan(self, id: UrlId) -> None:
        due = moment(self.columns.due[id])
        if due is None:
            self.turns.withdraw(id)
        else:
            self.turns.plan(id, due)

    def _lend(self, id: UrlId, until: float) -> Lease:
        self.turns.lend(id)
        self.leases[id] = until
        heappush(self._ends, (until, id))
        if len(self._ends) > 2 * len(self.leases) + 32:
            self._ends = [(end, leased) for leased, end in self.leases.items()]
            heapify(self._ends)
        columns = self.columns
        return Lease(id, self.urls[id], unpack_validators(columns.validators[id]), columns.depth[id], until)

    def _return(self, id: UrlId) -> None:
        del self.leases[id]
        self.turns.give_back(id)
        self._plan(id)

    def _expire(self, now: float) -> None:
        while self._ends and self._ends[0][0] <= now:
            until, id = heappop(self._ends)
            if self.leases.get(id) == until:
                self._return(id)


def host_of(url: str) -> str:
    """The host of a canonical URL, with port if any."""
    return url.split("/", 3)[2] if url.count("/", 0, 10) >= 2 else url


def _hashes(urls: Sequence[str]) -> PrintArray:
    return np.array([xxh3_64_intdigest(url.encode("utf-8", "surrogatepass")) for url in urls], dtype=np.uint64)
