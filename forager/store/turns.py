"""Decides which pending URL is leased next.

Within a host the earliest due URL comes first. Among the hosts that have a due URL, the one with the fewest leases
comes first, then the one whose last visit is longest ago, then the one with the earliest due URL. This depends only on
what is stored and on the leases, so a crawl that is opened again decides the same.

Every host has a heap of its pending URLs. Hosts are in one of two heaps: `waiting`, by the time at which they become
ready (their first URL is due), and `ready`, by turn. Entries are never removed from inside a heap: a host's entry is
valid only with the host's current stamp, a URL's only if the URL is pending with that due time. Heaps with more invalid
than valid entries are rebuilt, so each operation costs O(log n) on average, however many hosts wait.

Only a sweep asks for turns: foragers and the recrawl side choose for themselves. So the heaps are built at the first
request for a turn, and kept from then on.
"""

import math
from array import array
from heapq import heappop, heappush

import numpy as np

from forager.arrays import FloatArray, IntArray
from forager.terms import UrlId

_SLACK = 32  # number of invalid entries below which a heap is not rebuilt
PendingUrl = tuple[float, UrlId]
"""A pending URL in the heap of its host: when it is due, and its number."""


class Turns:
    """The pending URLs by host, and the order of the hosts."""

    def __init__(self) -> None:
        self.pending = 0
        self._numbers: dict[str, int] = {}
        self.names: list[str] = []
        """Names of all hosts, by number."""
        self._host = array("i")  # of each URL
        self._due = array("d")  # due time of each URL; NaN if it is not pending
        self._living: list[int] = []  # valid entries of each host; all below are per host too
        self._leased: list[int] = []
        self._visited: list[int] = []
        self._stamps: list[int] = []
        self._heaps: list[list[PendingUrl]] = []  # empty before the first request for a turn
        self._asked = False
        self._touched: set[int] = set()  # hosts to place again; their order does not matter
        self._waiting: list[tuple[float, int, int]] = []
        self._ready: list[tuple[int, int, float, UrlId, int, int]] = []

    def enter(self, host: str) -> None:
        """Assigns the next URL number to this host."""
        self._host.append(self._number(host))
        self._due.append(math.nan)

    def enter_all(self, hosts: list[str]) -> None:
        """Assigns the next URL numbers to these hosts."""
        for host in dict.fromkeys(hosts):
            self._number(host)
        self._host.extend(map(self._numbers.__getitem__, hosts))
        self._due.extend([math.nan] * len(hosts))

    @property
    def hosts(self) -> tuple[list[str], "array[int]"]:
        """The names of all hosts, and for each URL the place of its own among them."""
        return self.names.copy(), self._host

    def of(self, host: str) -> list[UrlId]:
        number = self._numbers.get(host, -1)
        return list(map(UrlId, np.flatnonzero(np.asarray(self._host) == number).tolist()))

    def restore(self, names: list[str], hosts: bytes) -> None:
        """Adds URLs as `hosts` returned them before; nothing may have been added."""
        for name in names:
            self._number(name)
        self._host.frombytes(hosts)
        self._due = array("d", [math.nan]) * len(self._host)

    def fill(self, due: FloatArray, seen: IntArray) -> None:
        """Plans all URLs at once, with the number of their last visit; nothing may have been planned before."""
        self._due = array("d", due.tobytes())
        hosts = np.frombuffer(self._host, dtype=self._host.typecode)
        visited = np.zeros(len(self._living), dtype=np.int64)
        np.maximum.at(visited, hosts, seen)
        self._visited = visited.tolist()
        is_pending = ~np.isnan(due)
        self._living = np.bincount(hosts[is_pending], minlength=len(self._living)).tolist()
        self.pending = int(np.count_nonzero(is_pending))

    def plan(self, id: UrlId, due: float) -> None:
        """Makes this URL pending."""
        host = self._host[id]
        if math.isnan(self._due[id]):
            self._living[host] += 1
            self.pending += 1
        self._due[id] = due
        if not self._asked:
            return
        heap = self._heaps[host]
        heappush(heap, (due, id))
        self._touched.add(host)
        if len(heap) > 2 * self._living[host] + _SLACK:
            self._heaps[host] = sorted({entry for entry in heap if self._is_alive(entry)})

    def withdraw(self, id: UrlId) -> None:
        """Makes this URL not pending."""
        if not math.isnan(self._due[id]):
            host = self._host[id]
            self._due[id] = math.nan
            self._living[host] -= 1
            self.pending -= 1
            self._touched.add(host)

    def lend(self, id: UrlId) -> None:
        """Notes that this URL is leased, which puts its host behind those with fewer leases."""
        self.withdraw(id)
        self._leased[self._host[id]] += 1
        self._touched.add(self._host[id])

    def give_back(self, id: UrlId) -> None:
        self._leased[self._host[id]] -= 1
        self._touched.add(self._host[id])

    def visited(self, id: UrlId, number: int) -> None:
        """Notes that the host of this URL had its turn; visits are numbered upwards."""
        host = self._host[id]
        self._visited[host] = max(number, self._visited[host])
        self._touched.add(host)

    def choose(self, now: float) -> UrlId | None:
        """Chooses the URL to lease next, if any is due; the caller lends it."""
        self._advance(now)
        return self._ready[0][3] if self._ready else None

    def next(self, now: float) -> float | None:
        """Returns the earliest time, not before `now`, at which a URL can be chosen; None if none is pending."""
        self._advance(now)
        if self._ready:
            return now
        while self._waiting and self._is_stale(*self._waiting[0][1:]):
            heappop(self._waiting)
        return self._waiting[0][0] if self._waiting else None

    def _number(self, host: str) -> int:
        number = self._numbers.setdefault(host, len(self._living))
        if number == len(self._living):
            if self._asked:
                self._heaps.append([])
            self.names.append(host)
            self._living.append(0)
            self._leased.append(0)
            self._visited.append(0)
            self._stamps.append(0)
        return number

    def _advance(self, now: float) -> None:
        """Brings both heaps of hosts to `now`; then the first in `ready` has its turn."""
        if not self._asked:
            self._build()
        if len(self._waiting) + len(self._ready) > 2 * len(self._heaps) + _SLACK:
            self._rebuild()
        while self._touched:
            self._place(self._touched.pop())
        while self._waiting and self._waiting[0][0] <= now:
            _, host, stamp = heappop(self._waiting)
            if not self._is_stale(host, stamp):
                heappush(self._ready, (self._leased[host], self._visited[host], *self._heaps[host][0], host, stamp))
        while self._ready:
            host, stamp = self._ready[0][4:]
            if not self._is_stale(host, stamp):
                if self._ready_at(host) <= now:
                    return
                self._place(host)  # the clock was set back
            heappop(self._ready)

    def _is_stale(self, host: int, stamp: int) -> bool:
        return self._stamps[host] != stamp

    def _is_alive(self, entry: PendingUrl) -> bool:
        return self._due[entry[1]] == entry[0]

    def _ready_at(self, host: int) -> float:
        return self._heaps[host][0][0]

    def _place(self, host: int) -> None:
        """Puts the host into `waiting`, if it has anything pending; its older entries become invalid."""
        self._stamps[host] += 1
        heap = self._heaps[host]
        while heap and not self._is_alive(heap[0]):
            heappop(heap)
        if heap:
            heappush(self._waiting, (self._ready_at(host), host, self._stamps[host]))

    def _build(self) -> None:
        """Builds the heaps of all hosts at the first request for a turn."""
        self._asked = True
        hosts, due = np.asarray(self._host), np.asarray(self._due)
        pending = np.flatnonzero(~np.isnan(due))
        order = pending[np.lexsort((pending, due[pending], hosts[pending]))]
        ends = np.searchsorted(hosts[order], np.arange(len(self._living)), side="right").tolist()
        entries = list(zip(due[order].tolist(), map(UrlId, order.tolist()), strict=True))
        self._heaps = [
            entries[begin:end] for begin, end in zip([0, *ends], ends, strict=False)
        ]  # sorted, so each is a heap
        self._touched.update(range(len(self._heaps)))

    def _rebuild(self) -> None:
        self._ready.clear()
        self._waiting.clear()
        self._touched.update(host for host, heap in enumerate(self._heaps) if heap)
