"""Stays: links that stood on pages for a while become the link sets of versions.

`PageTimes` holds rising pairs of page and time, in which others are looked up, millions at once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from forager.arrays import distinct
from forager.errors import InputError
from forager.importers.values import Flags, Floats, Ids, Prints

Rows = NDArray[np.int32]
Numbers = Ids | Rows


class PageTimes:
    """The versions of a table, by page, then by time."""

    def __init__(self, page: Ids, time: Floats) -> None:
        self._times, rank = np.unique(time, return_inverse=True)
        self._key = page * len(self._times) + rank

    def before(self, page: Numbers, time: Floats) -> Ids:
        """How many pairs come before each of others."""
        return self._before(page, np.searchsorted(self._times, time))

    def up_to(self, page: Numbers, time: Floats) -> Ids:
        """The same, those equal to it counted too."""
        return self._before(page, np.searchsorted(self._times, time, side="right"))

    def places(self, page: Numbers, time: Floats) -> Ids:
        """Where others stand; -1 where they do not."""
        place = self.before(page, time)
        found: NDArray[np.bool_] = self.up_to(page, time) > place
        return np.where(found, place, -1)

    def _before(self, page: Numbers, rank: Ids) -> Ids:
        return np.searchsorted(self._key, page.astype(np.int64) * len(self._times) + rank)


MOST_LINKS = 300_000_000
"""Links of all versions together; more would not fit in memory."""
AT_ONCE = 1_000_000
"""Links that are unfolded at a time, but for a page that has more."""


@dataclass(frozen=True, slots=True)
class Versions:
    """What a table says of the versions of pages, in columns."""

    page: Ids
    time: Floats
    digest: Prints
    text: Prints
    published: Floats | None
    gone: Flags
    state: Rows
    """Row of its state; -1 if it has none."""

    def __len__(self) -> int:
        return len(self.page)


NO_VERSIONS = Versions(
    np.empty(0, np.int64),
    np.empty(0),
    np.empty(0, np.uint64),
    np.empty(0, np.uint64),
    None,
    np.empty(0, np.bool_),
    np.empty(0, np.int32),
)
"""Nobody said more than which links stood where."""


def joined_versions(parts: Sequence[Versions]) -> Versions:
    """All versions by page, then by time; of several rows for one page at one time the last counts."""
    page = np.concatenate([part.page for part in parts])
    time = np.concatenate([part.time for part in parts])
    order = np.lexsort((time, page))
    last = np.ones(len(order), np.bool_)
    last[:-1] = (page[order][1:] != page[order][:-1]) | (time[order][1:] != time[order][:-1])
    kept = order[last]
    dates = None
    if any(part.published is not None for part in parts):
        dates = np.concatenate(
            [np.full(len(part), np.nan) if part.published is None else part.published for part in parts]
        )
    return Versions(
        page[kept],
        time[kept],
        np.concatenate([part.digest for part in parts])[kept],
        np.concatenate([part.text for part in parts])[kept],
        None if dates is None else dates[kept],
        np.concatenate([part.gone for part in parts])[kept],
        np.concatenate([part.state for part in parts])[kept],
    )


@dataclass(frozen=True, slots=True)
class Stays:
    """Links that stood on pages: first and last seen there at these times."""

    page: Rows
    target: Rows
    first: Floats
    last: Floats


def joined_stays(parts: Sequence[Stays]) -> Stays:
    """All of them, by page."""
    order = np.argsort(np.concatenate([part.page for part in parts]), kind="stable")
    return Stays(*(np.concatenate([getattr(part, one.name) for part in parts])[order] for one in fields(Stays)))


def with_changes(versions: Versions, stays: Stays) -> Versions:
    """The versions in order, with one more wherever a page was seen; it shows what the version before it did.

    A link was still seen at its last time: it went by the next time at which its own page was seen.
    """
    times = np.unique(np.concatenate([versions.time, stays.first, stays.last]))
    seen = np.concatenate(
        [
            page.astype(np.int64) * len(times) + np.searchsorted(times, time)
            for page, time in ((versions.page, versions.time), (stays.page, stays.first), (stays.page, stays.last))
        ]
    )
    at_page, rank = np.divmod(distinct(seen), max(len(times), 1))
    at_time = times[rank]
    source = PageTimes(versions.page, versions.time).up_to(at_page, at_time) - 1
    shown = np.where((source >= 0) & (np.append(versions.page, -1)[source] == at_page), source, -1)
    return Versions(
        at_page,
        at_time,
        np.append(versions.digest, np.uint64(0))[shown],
        np.append(versions.text, np.uint64(0))[shown],
        None if versions.published is None else np.append(versions.published, np.nan)[shown],
        np.append(versions.gone, False)[shown],
        np.append(versions.state, np.int32(-1))[shown],
    )


def standing(versions: Versions, stays: Stays, place: str) -> Iterator[tuple[int, int, Ids, Rows]]:
    """Which stay stands in which version, some pages at a time; versions and stays are in order.

    The first of some versions and how many they are, then version, counted from the first, and target of each link.
    """
    order = PageTimes(versions.page, versions.time)
    begin = order.before(stays.page, stays.first)
    count = order.up_to(stays.page, stays.last) - begin
    sums = np.cumsum(count)
    if len(sums) and sums[-1] > MOST_LINKS:
        raise InputError(f"{place}: its stays unfold to {sums[-1]:,} links, more than {MOST_LINKS:,}; cut it in parts")
    ends = np.append(np.flatnonzero(np.diff(stays.page)) + 1, len(count))
    at = 0
    while at < len(count):
        done = int(sums[at - 1]) if at else 0
        fits = ends[np.searchsorted(sums[ends - 1], done + AT_ONCE, side="right") - 1]
        end = int(max(fits, ends[np.searchsorted(ends, at, side="right")]))
        some = count[at:end]
        low = int(np.searchsorted(versions.page, stays.page[at]))
        high = int(np.searchsorted(versions.page, stays.page[end - 1], side="right"))
        rows = np.arange(some.sum()) + np.repeat(begin[at:end] - low - (np.cumsum(some) - some), some)
        yield low, high - low, rows, np.repeat(stays.target[at:end], some)
        at = end
