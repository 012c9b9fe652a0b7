"""Compiles a tape from versions in any order, singly or as columns: numbers URLs, shares link sets.

During compilation, versions are columns, and captures that show nothing new are detected.
"""

import math
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forager.arrays import BoolArray, Float32Array, FloatArray, Int32Array, IntArray, PrintArray, distinct, spans
from forager.tape.tape import KINDS, Tape
from forager.terms import Kind, UrlId

Sets = Int32Array


@dataclass(frozen=True, slots=True)
class VersionRows:
    """One row per version; the columns have the meaning of those of `Tape`."""

    owner: IntArray
    """Number of the URL."""
    time: FloatArray
    published: FloatArray
    digest: PrintArray
    text_print: PrintArray
    gone: BoolArray
    seconds: Float32Array
    """Download time; nan if unknown."""
    state: Sets
    link_set: Sets

    def __len__(self) -> int:
        return len(self.owner)

    def of(self, chosen: NDArray[Any]) -> "VersionRows":
        """Some of the rows, by index or by flag."""
        return VersionRows(*(getattr(self, one.name)[chosen] for one in fields(self)))

    def in_order(self) -> "VersionRows":
        """The rows sorted by page, then by time; equal ones keep their order."""
        return self.of(np.lexsort((self.time, self.owner)))


def joined(chunks: Sequence[VersionRows]) -> VersionRows:
    """All rows, one chunk after the other."""
    return VersionRows(*(np.concatenate([getattr(chunk, one.name) for chunk in chunks]) for one in fields(VersionRows)))


NONE = VersionRows(
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


def repeats(rows: VersionRows) -> BoolArray:
    """Which versions show the same as the previous one of their page; the rows must be in order.

    A print of 0 means unknown: the page is assumed unchanged. Of two versions at the same time the last counts.
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
        by = _speaker(first, silent)
        said = np.where(silent[by], 0, values[by])
        same &= said[1:] == said[:-1]
    dropped[place[1:]] = same
    return dropped


def _speaker(first: BoolArray, silent: BoolArray) -> IntArray:
    """For each row, the last one of its page that says something; the page's first row, which is silent, if there is none."""
    return np.asarray(np.maximum.accumulate(np.where(first | ~silent, np.arange(len(first)), 0)), np.int64)


EMPTY = 0
"""Number of the empty link set."""
_DRAIN = 1 << 16
"""Number of single versions that are converted to columns at once."""


class TapeBuilder:
    """Collects versions and makes the tape. URLs that are only linked to become pages without a version."""

    def __init__(self, origin: str, identity: str = "url") -> None:
        self.origin, self.identity = origin, identity
        self._ids: dict[str, int] = {}
        self._kinds: dict[int, int] = {}
        self._rows: list[tuple[int, float, float, int, int, bool, float, int]] = []
        self._row_links, self._row_ends = array("q"), array("q")
        self._chunks: list[VersionRows] = [NONE]
        self._sets: dict[int, int] = {0: EMPTY}
        self._links: list[Sets] = []
        self._lengths: list[IntArray] = [np.zeros(1, np.int64)]
        self._states: list[Float32Array] = []

    def __repr__(self) -> str:
        return f"<TapeBuilder {len(self._ids):,} URLs, {self.versions:,} versions>"

    @property
    def versions(self) -> int:
        """Number of versions added so far."""
        return sum(map(len, self._chunks)) + len(self._rows)

    def number(self, url: str) -> UrlId:
        """Number of a URL, new or known."""
        return UrlId(self._ids.setdefault(url, len(self._ids)))

    def numbers(self, urls: Iterable[str]) -> IntArray:
        """Numbers of many URLs."""
        ids = self._ids
        return np.fromiter((ids.setdefault(url, len(ids)) for url in urls), np.int64)

    def name_kind(self, id: int, kind: Kind) -> None:
        """Sets the kind of a page; the last call counts."""
        self._kinds[id] = KINDS.index(kind)

    def add(
        self,
        url: str,
        time: float,
        *,
        digest: int = 0,
        text_print: int = 0,
        published: float = math.nan,
        gone: bool = False,
        links: Iterable[str] = (),
        link_ids: Iterable[int] = (),
        kind: Kind = Kind.OTHER,
        seconds: float = math.nan,
        state: Float32Array | None = None,
        state_row: int = -1,
    ) -> None:
        """Adds a version that appeared at `time`, with its full link set, as URLs or as their numbers.

        Its state is given here, or as a row of the states that `finish` will get.
        """
        id = self.number(url)
        if kind is not Kind.OTHER:
            self.name_kind(id, kind)
        if state is not None:
            state_row = len(self._states)
            self._states.append(state)
        self._row_links.extend(map(self.number, links))
        self._row_links.extend(link_ids)
        self._row_ends.append(len(self._row_links))
        self._rows.append((id, time, published, digest, text_print, gone, seconds, state_row))
        if len(self._rows) >= _DRAIN:
            self._drain()

    def add_many(
        self,
        ids: IntArray,
        times: FloatArray,
        *,
        digests: PrintArray | None = None,
        text_prints: PrintArray | None = None,
        published: FloatArray | None = None,
        gone: BoolArray | None = None,
        link_sets: Sets | None = None,
        state_rows: Sets | None = None,
    ) -> None:
        """Adds versions as columns; what is not given is unknown.

        `link_sets` are numbers that the method `link_sets` returned, `state_rows` rows of the states that `finish` will
        get.
        """
        count = len(ids)
        self._chunks.append(
            VersionRows(
                ids,
                times,
                np.full(count, np.nan) if published is None else published,
                np.zeros(count, np.uint64) if digests is None else digests,
                np.zeros(count, np.uint64) if text_prints is None else text_prints,
                np.zeros(count, np.bool_) if gone is None else gone,
                np.full(count, np.nan, np.float32),
                np.full(count, -1, np.int32) if state_rows is None else state_rows,
                np.full(count, EMPTY, np.int32) if link_sets is None else link_sets,
            )
        )

    def link_sets(self, rows: IntArray, targets: IntArray | Sets, count: int) -> Sets:
        """Numbers of `count` link sets: `targets[i]` is a link of set `rows[i]`, in any order, possibly repeated."""
        pages = max(len(self._ids), 1)
        pair = distinct(rows * pages + targets)
        row, links = pair // pages, pair % pages
        start = np.searchsorted(row, np.arange(count + 1))
        prints = _set_prints(links, start)
        sets, first, which = np.unique(prints, return_index=True, return_inverse=True)
        known = self._sets
        before = len(known)
        numbers = np.fromiter((known.setdefault(one, len(known)) for one in sets.tolist()), np.int32)
        fresh = first[numbers >= before]  # `numbers` rises over the new ones, in the order of their first occurrence
        lengths = np.diff(start)[fresh]
        self._lengths.append(lengths)
        self._links.append(links[spans(start[fresh], lengths)].astype(np.int32))
        return np.asarray(numbers[which], np.int32)

    def finish(
        self,
        *,
        start: float | None = None,
        end: float | None = None,
        merge_repeats: bool = False,
        states: Float32Array | None = None,
    ) -> Tape:
        """The tape of everything added, by default from the first to the last version.

        `states` are the states that the given rows refer to. With `merge_repeats`, a version equal to the one before it
        is no new version; a digest of 0 means "as before".
        """
        self._drain()
        rows = joined(self._chunks).in_order()
        self._chunks = [rows]
        begin = (float(rows.time.min()) if len(rows) else 0.0) if start is None else start
        last = float(rows.time.max(initial=begin)) if end is None else end
        if merge_repeats:
            rows = rows.of(~repeats(rows))
        pages = len(self._ids)
        text, ends = bytearray(), array("q", [0])
        for url in self._ids:
            text += url.encode()
            ends.append(len(text))
        kinds = np.full(pages, KINDS.index(Kind.OTHER), np.uint8)
        kinds[list(self._kinds)] = list(self._kinds.values())
        took = rows.seconds
        return Tape(
            url_text=np.frombuffer(text, np.uint8),
            url_start=np.asarray(ends, np.int64),
            url_kind=kinds,
            version_start=np.searchsorted(rows.owner, np.arange(pages + 1)).astype(np.int64),
            time=rows.time,
            published=rows.published,
            digest=rows.digest,
            text_print=rows.text_print,
            gone=rows.gone,
            seconds=np.nan_to_num(took, nan=float(np.nanmean(took)) if np.isfinite(took).any() else 1.0),
            state=rows.state,
            link_set=rows.link_set,
            link_start=_starts(np.concatenate(self._lengths)),
            links=self._all_links(),
            states=self._all_states(states),
            start=begin,
            end=last,
            origin=self.origin,
            identity=self.identity,
        )

    def _all_links(self) -> Sets:
        """The links of all sets, which are held once."""
        self._links = [np.concatenate([np.empty(0, np.int32), *self._links])]
        return self._links[0]

    def _all_states(self, given: Float32Array | None) -> Float32Array:
        if given is not None and len(given):
            return given
        return np.asarray(self._states, np.float32) if self._states else np.empty((0, 0), np.float32)

    def _drain(self) -> None:
        """Converts the single versions to columns."""
        if not self._rows:
            return
        ends = np.asarray(self._row_ends, np.int64)
        rows = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
        sets = self.link_sets(rows, np.asarray(self._row_links, np.int64), len(ends))
        owner, time, published, digest, text, gone, seconds, state = zip(*self._rows, strict=True)
        self._chunks.append(
            VersionRows(
                np.asarray(owner, np.int64),
                np.asarray(time, np.float64),
                np.asarray(published, np.float64),
                np.asarray(digest, np.uint64),
                np.asarray(text, np.uint64),
                np.asarray(gone, np.bool_),
                np.asarray(seconds, np.float32),
                np.asarray(state, np.int32),
                sets,
            )
        )
        self._rows.clear()
        self._row_links, self._row_ends = array("q"), array("q")


def _set_prints(links: IntArray, start: IntArray) -> PrintArray:
    """A 64-bit hash of each set: the sum of its mixed members (splitmix64); 0 for the empty set."""
    mixed = (links.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    mixed ^= mixed >> np.uint64(31)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)])
    return np.asarray(sums[start[1:]] - sums[start[:-1]])


def _starts(lengths: IntArray) -> IntArray:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])
