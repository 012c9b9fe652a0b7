"""The versions of a tape in the making, as columns; and what a recording does not say outright about them:
which captures show nothing new, and how old an undated document is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Prints = NDArray[np.uint64]
Flags = NDArray[np.bool_]
Ids = NDArray[np.int64]
Sets = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Rows:
    """One row per version; the columns mean what those of `Tape` do."""

    owner: Ids
    """The URL's number."""
    time: Floats
    published: Floats
    digest: Prints
    text_print: Prints
    gone: Flags
    seconds: NDArray[np.float32]
    """nan if it was not noted."""
    state: Sets
    link_set: Sets

    def __len__(self) -> int:
        return len(self.owner)

    def of(self, chosen: NDArray[Any]) -> "Rows":
        """Some of the rows, by place or by flag."""
        return Rows(*(getattr(self, one.name)[chosen] for one in fields(self)))

    def in_order(self) -> "Rows":
        """By page, then by time; equal ones stay as they came."""
        return self.of(np.lexsort((self.time, self.owner)))


def joined(chunks: Sequence[Rows]) -> Rows:
    """All rows, one chunk after the other."""
    return Rows(*(np.concatenate([getattr(chunk, one.name) for chunk in chunks]) for one in fields(Rows)))


NONE = Rows(
    np.empty(0, np.int64),
    np.empty(0),
    np.empty(0),
    np.empty(0, np.uint64),
    np.empty(0, np.uint64),
    np.empty(0, np.bool_),
    np.empty(0, np.float32),
    np.empty(0, np.int32),
    np.empty(0, np.int32),
)


def repeats(rows: Rows) -> Flags:
    """Which versions show what their page showed just before; the rows are in order.

    A print of 0 says nothing: the page is taken to be as it was. Of two versions at the same moment the last counts.
    """
    dropped = np.zeros(len(rows), np.bool_)
    dropped[:-1] = (rows.owner[1:] == rows.owner[:-1]) & (rows.time[1:] == rows.time[:-1])
    place = np.flatnonzero(~dropped)
    kept = rows.of(place)
    first = np.ones(len(kept), np.bool_)
    first[1:] = kept.owner[1:] != kept.owner[:-1]
    same = ~first[1:] & (kept.gone[1:] == kept.gone[:-1])
    for values, silent in (
        (kept.digest, kept.gone | (kept.digest == 0)),
        (kept.text_print, kept.gone | (kept.text_print == 0)),
        (kept.link_set, kept.gone),
    ):
        said = values[_speaker(first, silent)]
        same &= said[1:] == said[:-1]
    dropped[place[1:]] = same
    return dropped


def _speaker(first: Flags, silent: Flags) -> Ids:
    """For each row the last one of its page that says something; the page's first row if none does."""
    return np.asarray(np.maximum.accumulate(np.where(first | ~silent, np.arange(len(first)), 0)), np.int64)


def first_seen_dates(rows: Rows, key: NDArray[Any], start: float) -> Floats:
    """The dates, where an undated version has the first sight of its document (`key`) if that came after `start`."""
    _, document = np.unique(key, return_inverse=True)
    first = np.full(int(document.max(initial=-1)) + 1, np.inf)
    np.minimum.at(first, document[~rows.gone], rows.time[~rows.gone])
    seen = first[document]
    undated = np.isnan(rows.published) & ~rows.gone & (seen > start)
    return np.where(undated, seen, rows.published)
