"""Stays: links that stood on pages for a while become the link sets of versions.

`PageTimes` holds rising pairs of page and time, in which others are looked up, millions at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forager.arrays import distinct
from forager.errors import InputError
from forager.importers.values import Flags, Floats, Ids, Prints


class PageTimes:
    """The versions of a table, by page, then by time."""

    def __init__(self, page: Ids, time: Floats) -> None:
        self._times, rank = np.unique(time, return_inverse=True)
        self._key = page * len(self._times) + rank

    def before(self, page: Ids, time: Floats) -> Ids:
        """How many pairs come before each of others."""
        return self._before(page, np.searchsorted(self._times, time))

    def up_to(self, page: Ids, time: Floats) -> Ids:
        """The same, those equal to it counted too."""
        return self._before(page, np.searchsorted(self._times, time, side="right"))

    def places(self, page: Ids, time: Floats) -> Ids:
        """Where others stand; -1 where they do not."""
        place = self.before(page, time)
        found: NDArray[np.bool_] = self.up_to(page, time) > place
        return np.where(found, place, -1)

    def _before(self, page: Ids, rank: Ids) -> Ids:
        return np.searchsorted(self._key, page * len(self._times) + rank)


Rows = NDArray[np.int32]

MOST_LINKS = 300_000_000
"""Links of all versions together; more would not fit in memory."""


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


def with_changes(versions: Versions, page: Ids, first: Floats, last: Floats) -> Versions:
    """The versions in order, with one more wherever a link came or went; it shows what the version before it did.

    A link was still seen at its last time: it went by the next time at which anything was seen anywhere.
    """
    grid = distinct(np.concatenate([versions.time, first, last]))
    next_place = np.searchsorted(grid, last, side="right")
    went = np.flatnonzero(next_place < len(grid))
    at_page = np.concatenate([versions.page, page, page[went]])
    at_time = np.concatenate([versions.time, first, grid[next_place[went]]])
    source = np.concatenate([np.arange(len(versions)), np.full(len(page) + len(went), -1)])
    order = np.lexsort((-source, at_time, at_page))
    at_page, at_time, source = at_page[order], at_time[order], source[order]
    again = np.zeros(len(order), np.bool_)
    again[1:] = (source[1:] < 0) & (at_page[1:] == at_page[:-1]) & (at_time[1:] == at_time[:-1])
    at_page, at_time, source = at_page[~again], at_time[~again], source[~again]
    before = np.maximum.accumulate(np.where(source >= 0, np.arange(len(source)), -1))
    shown = np.where((before >= 0) & (at_page[before] == at_page), source[before], -1)
    return Versions(
        at_page,
        at_time,
        np.append(versions.digest, np.uint64(0))[shown],
        np.append(versions.text, np.uint64(0))[shown],
        None if versions.published is None else np.append(versions.published, np.nan)[shown],
        np.append(versions.gone, False)[shown],
        np.append(versions.state, np.int32(-1))[shown],
    )


def standing(versions: Versions, page: Ids, first: Floats, last: Floats, place: str) -> tuple[Ids, Ids]:
    """Which stay stands in which version, as two columns; the versions are in order."""
    order = PageTimes(versions.page, versions.time)
    begin, end = order.before(page, first), order.up_to(page, last)
    count = np.maximum(end - begin, 0)
    if count.sum() > MOST_LINKS:
        raise InputError(
            f"{place}: its stays unfold to {count.sum():,} links, more than {MOST_LINKS:,}; cut it in parts"
        )
    stays = np.repeat(np.arange(len(page)), count)
    rows = np.arange(count.sum()) + np.repeat(begin - (np.cumsum(count) - count), count)
    return rows, stays
