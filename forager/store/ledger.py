"""The state of all URLs in a store: known, pending, leased, done, and what visits have taught.

It is synchronous and never touches the disk: all decisions of a store are made here, at once, before anything waits.
"""

import math
from array import array
from collections import Counter
from collections.abc import Collection, Sequence
from heapq import heapify, heappop, heappush
from itertools import islice

import numpy as np

from forager.arrays import FloatArray, IntArray
from forager.store.known_urls import Addresses, Texts
from forager.store.protocol import AcceptedStory, Counts, Found, Known, Lease, VersionId, Visit
from forager.store.turns import Turns
from forager.terms import Channel, Kind, Url, UrlId, Validators

CHANNELS = tuple(Channel)
KINDS = tuple(Kind)
CHANNEL_CODES = {channel: code for code, channel in enumerate(CHANNELS)}
KIND_CODES = {kind: code for code, kind in enumerate(KINDS)}
NEVER = math.nan
PART = b"\0"
"""Separates the validators of two URLs; no header can contain it."""
_UNSEEN = KIND_CODES[Kind.OTHER]


class Columns:
    """What is known of each URL, as columns of plain numbers: about 100 bytes per URL instead of an object of a thousand.

    A missing time (no visit, no due time) is NaN; a missing number (no source, no version) is -1.
    """

    def __init__(self) -> None:
        self.found, self.published = array("d"), array("d")
        self.channel, self.kind = array("b"), array("b")
        self.source, self.depth = array("i"), array("i")
        self.visits, self.changes = array("i"), array("i")
        self.last_visit, self.last_change, self.due = array("d"), array("d"), array("d")
        self.seen = array("q")
        """Number of the last visit, counted over all URLs from 1; 0 if there was none."""
        self.version = array("i")
        self.byte_print, self.text_print = array("Q"), array("Q")
        self.validators = Texts(part=PART)
        """Date and entity tag in one text, separated by a line end, which no header can contain; empty if there are none."""

    def extend(self, found: Collection[Found]) -> None:
        """Adds the next URLs, never visited."""
        self.found.extend([one.at for one in found])
        self.published.extend([_moment(one.published) for one in found])
        self.channel.extend([CHANNEL_CODES[one.channel] for one in found])
        self.source.extend([-1 if one.source is None else one.source for one in found])
        self.depth.extend([one.depth for one in found])
        self.due.extend([_moment(one.due) for one in found])
        self.extend_unvisited(len(found))

    def extend_unvisited(self, count: int) -> None:
        """Adds default values of the columns `VISITED` for `count` URLs."""
        self.kind.extend(array("b", [_UNSEEN]) * count)
        for column in (self.visits, self.changes, self.seen, self.byte_print, self.text_print):
            column.frombytes(bytes(count * column.itemsize))
        for moments in (self.last_visit, self.last_change):
            moments.extend(array("d", [NEVER]) * count)
        self.version.extend(array("i", [-1]) * count)
        self.validators.extend([""] * count)

    def visited(self, visit: Visit, number: int, version: VersionId | None) -> None:
        """Learns from the visit with this number, which made this version."""
        id = visit.id
        self.visits[id] += 1
        self.seen[id] = number
        self.last_visit[id] = visit.at
        if visit.changed:
            self.changes[id] += 1
            self.last_change[id] = visit.at
        self.due[id] = _moment(visit.due)
        self.validators[id] = _packed(visit.validators)
        if visit.version is not None and version is not None:
            self.kind[id] = KIND_CODES[visit.version.kind]
            self.version[id] = version
            self.byte_print[id] = visit.version.byte_print
            self.text_print[id] = visit.version.text_print


def _time(number: float) -> float | None:
    """Returns a time of a column; None if it is missing."""
    return None if math.isnan(number) else number


def _moment(time: float | None) -> float:
    return NEVER if time is None else time


def _packed(validators: Validators) -> str:
    if not validators.etag and not validators.last_modified:
        return ""
    return f"{validators.last_modified}\n{validators.etag}"


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

    def known(self, id: UrlId) -> Known:
        id, columns = self._checked(id), self.columns
        times = (columns.published, columns.last_visit, columns.last_change, columns.due)
        published, last_visit, last_change, due = [_time(column[id]) for column in times]
        last_modified, _, etag = columns.validators[id].partition("\n")
        return Known(
            id=id,
            url=self.urls.url(id),
            found=columns.found[id],
            channel=CHANNELS[columns.channel[id]],
            source=None if columns.source[id] < 0 else UrlId(columns.source[id]),
            depth=columns.depth[id],
            published=published,
            kind=KINDS[columns.kind[id]],
            visits=columns.visits[id],
            changes=columns.changes[id],
            last_visit=last_visit,
            last_change=last_change,
            due=due,
            version=None if columns.version[id] < 0 else VersionId(columns.version[id]),
            byte_print=columns.byte_print[id],
            text_print=columns.text_print[id],
            validators=Validators(etag, last_modified),
        )

    def urls_of(self, host: str) -> list[Url]:
        """Returns the known URLs of a host, which is written as in the URL."""
        return [self.urls.url(id) for id in self.turns.of(host)]

    def hosts(self, begin: int = 0) -> IntArray:
        """Returns the host of each URL from a number on; hosts have numbers of their own, dense, from 0."""
        return np.array(self.turns.hosts[1][begin:], dtype=np.int64)

    def host_name(self, number: int) -> str:
        return self.turns.names[number]

    def last_visits(self) -> FloatArray:
        """Returns by number when each URL was last visited; NaN if never."""
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
        """Returns the earliest time, not before `now`, at which a URL can be leased; None if nothing is pending.

        A lease counts as pending again only once its time is over.
        """
        self._expire(now)
        return self.turns.next(now)

    def put(self, found: Sequence[Found]) -> tuple[list[UrlId], list[tuple[UrlId, Found]]]:
        """Adds unknown URLs; returns the numbers of all, and those that are new."""
        known = self.urls.find_all([one.url for one in found])
        new: dict[Url, Found] = {}
        for one, id in zip(found, known, strict=True):
            if id is None:
                new.setdefault(one.url, one)
        numbers = dict(zip(new, self.urls.extend(new), strict=True))
        entered = list(zip(numbers.values(), new.values(), strict=True))
        self.columns.extend(new.values())
        for number, one in entered:
            self.turns.enter(host_of(one.url))
            self._plan(number)
        return [numbers[one.url] if id is None else id for one, id in zip(found, known, strict=True)], entered

    def lease(self, count: int, now: float, seconds: float, only: Sequence[UrlId] | None) -> list[Lease]:
        self._expire(now)
        in_turn = iter(lambda: self.turns.choose(now), None)
        chosen = in_turn if only is None else (id for id in only if self._checked(id) not in self.leases)
        return [self._lend(id, now + seconds) for id in islice(chosen, max(0, count))]

    def ack(self, visit: Visit) -> tuple[VersionId | None, VersionId | None]:
        """Ends a lease with its visit; returns the new version, and the one before it if their texts look the same."""
        id, columns = self._checked(visit.id), self.columns
        if self.leases.pop(id, None) is not None:
            self.turns.give_back(id)
        version = same_text = None
        if visit.version is not None:
            version = VersionId(self.versions)
            self.versions += 1
            self.unsettled[version] = None
            if columns.version[id] >= 0 and columns.text_print[id] == visit.version.text_print:
                same_text = VersionId(columns.version[id])
        self.visits += 1
        self.outcomes[visit.outcome.value] += 1
        if visit.trouble:
            self.troubles[visit.trouble.value] += 1
        columns.visited(visit, self.visits, version)
        self.turns.visited(id, self.visits)
        self._plan(id)
        return version, same_text

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

    def _plan(self, id: UrlId) -> None:
        due = _time(self.columns.due[id])
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
        last_modified, _, etag = self.columns.validators[id].partition("\n")
        return Lease(id, self.urls.url(id), Validators(etag, last_modified), self.columns.depth[id], until)

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
    """Returns the host of a canonical URL, with port if any."""
    return url.split("/", 3)[2] if url.count("/", 0, 10) >= 2 else url
